#include <smdebug/wire/tensorboard_summary.hpp>

#include "messages.hpp"

#include "support/test.hpp"

namespace wire = smdebug::detail::wire;
using namespace std::literals;
using wire::tensorboard_tag;
using wire::tensorboard_value;

namespace {

messages::bytes encoded(const wire::tensorboard_event& event) {
    return messages::written([&](wire::field_writer& writer) { wire::encode(writer, event); });
}

/// The name of a tensor, and its tag.
struct tagged {
    std::string_view name;
    std::string_view tag;
};

void check(std::initializer_list<tagged> all) {
    for (const tagged& each : all) {
        CAPTURE(each.name);
        CHECK(tensorboard_tag(each.name) == each.tag);
    }
}

}  // namespace

TEST_CASE("tensorboard_event: scalars, as protoc encodes them") {
    const std::array values{tensorboard_value{"loss", 0.25F}, tensorboard_value{"zero", 0.0F}};
    CHECK(encoded({1.5, 300, values}) == messages::of("\x09\x00\x00\x00\x00\x00\x00\xf8\x3f\x10\xac\x02\x2a\x1a"
                                                      "\x0a\x0b\x0a\x04loss\x15\x00\x00\x80\x3e"
                                                      "\x0a\x0b\x0a\x04zero\x15\x00\x00\x00\x00"sv));
}

TEST_CASE("tensorboard_event: a histogram, as protoc encodes it") {
    const std::array limits{-1.0, 0.0, 2.5};
    const std::array buckets{0.0, 1.0, 2.0};
    const wire::histogram_fields histogram{
        .min = -1, .max = 2, .num = 3, .sum = 0, .sum_squares = 5, .bucket_limits = limits, .buckets = buckets};
    const std::array values{tensorboard_value{"weights/w", histogram}};
    CHECK(encoded({2, 7, values}) ==
          messages::of("\x09\x00\x00\x00\x00\x00\x00\x00\x40\x10\x07\x2a\x67\x0a\x65"
                       "\x0a\x09weights/w\x2a\x58"
                       "\x09\x00\x00\x00\x00\x00\x00\xf0\xbf"
                       "\x11\x00\x00\x00\x00\x00\x00\x00\x40"
                       "\x19\x00\x00\x00\x00\x00\x00\x08\x40"
                       "\x29\x00\x00\x00\x00\x00\x00\x14\x40"
                       "\x32\x18\x00\x00\x00\x00\x00\x00\xf0\xbf"
                       "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x04\x40"
                       "\x3a\x18\x00\x00\x00\x00\x00\x00\x00\x00"
                       "\x00\x00\x00\x00\x00\x00\xf0\x3f\x00\x00\x00\x00\x00\x00\x00\x40"sv));
}

TEST_CASE("tensorboard_event: defaults are left out, as protobuf does; a scalar that is 0 is not") {
    const std::array values{tensorboard_value{"", 0.0F}};
    CHECK(encoded({0, 0, values}) == messages::of("\x2a\x09\x0a\x07\x0a\x00\x15\x00\x00\x00\x00"sv));
    const std::array empty{tensorboard_value{"h", wire::histogram_fields{}}};
    CHECK(encoded({0, 0, empty}) == messages::of("\x2a\x07\x0a\x05\x0a\x01h\x2a\x00"sv));
    const std::array minus_zero{tensorboard_value{"", wire::histogram_fields{.min = -0.0}}};
    CHECK(encoded({0, 0, minus_zero}).size() == encoded({0, 0, empty}).size() - 1 + 9);
}

TEST_CASE("tensorboard_event: what our own reader of events makes of it") {
    const std::array values{tensorboard_value{"nan", std::numeric_limits<float>::quiet_NaN()},
                            tensorboard_value{"histogram", wire::histogram_fields{}}};
    const auto bytes = encoded({12.5, -3, values});
    const auto event = wire::decode_event(bytes);
    REQUIRE(event.ok());
    CHECK(event->wall_time == 12.5);
    CHECK(event->step == -3);
    wire::summary_reader reader{event->summary.value()};
    wire::summary_value value;
    REQUIRE(reader.next(value));
    CHECK(value.tag == "nan");
    CHECK(value.kind == wire::value_kind::simple_value);
    CHECK(value.simple_value != value.simple_value);
    REQUIRE(reader.next(value));
    CHECK(value.tag == "histogram");
    CHECK(value.kind == wire::value_kind::other);
    CHECK_FALSE(reader.next(value));
    CHECK(reader.code() == smdebug::status::ok);
}

TEST_CASE("tensorboard_tag: keeps letters, digits and four signs, and puts '_' for the rest") {
    check({{"gradients/fc1.weight", "gradients/fc1.weight"},
           {"a-b_c.D/9", "a-b_c.D/9"},
           {"dense/kernel:0", "dense/kernel_0"},
           {"loss (train) [%]\n", "loss__train______"},
           {"a\\b\"c'd\0e\x7f"sv, "a_b_c_d_e_"},
           {"", ""}});
}

TEST_CASE("tensorboard_tag: takes leading slashes away, and only these") {
    check({{"/job/worker", "job/worker"}, {"///a//b/", "a//b/"}, {"///", ""}, {" /a", "_/a"}});
}

TEST_CASE("tensorboard_tag: keeps what is beyond ASCII, where it is UTF-8") {
    check({{"größe/重み 😀", "größe/重み_😀"},
           {"\xff"
            "a\xc3",
            "_a_"},
           {"\xc3(", "__"},
           {"\xed\xa0\x80", "___"},      // half of a pair of UTF-16
           {"\xf0\x9f\x98 x", "____x"},  // a character cut short
           {"\xc0\xaf"
            "a",
            "__a"}});  // '/' in a longer form than needed
}
