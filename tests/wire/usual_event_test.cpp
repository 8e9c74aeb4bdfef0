#include <smdebug/wire/usual_event.hpp>

#include <smdebug/core/dtype.hpp>
#include <smdebug/wire/event.hpp>

#include "support/test.hpp"

namespace wire = smdebug::detail::wire;
using smdebug::byte_view;
using smdebug::dtype;
using smdebug::status;

namespace {

constexpr std::array<std::byte, 300> zeros{};

std::vector<std::byte> message_of(std::string_view tag, std::size_t size, std::int64_t step, bool with_metadata = true,
                                  std::vector<std::size_t> shape = {}) {
    const std::vector<wire::plugin_data> plugins{{"mode_step", "12"}, {"mode", "1"}};
    wire::value_fields value;
    value.tag = tag;
    value.tensor = {.type = dtype::uint8,
                    .shape = {.extents = shape, .dim_name = tag},
                    .content = byte_view{zeros}.first(size),
                    .strings = {}};
    if (with_metadata) {
        value.plugins = plugins;
    }
    return wire::to_bytes({.wall_time = 1.5, .step = step, .file_version = {}, .values = std::span{&value, 1}});
}

bool same(byte_view a, byte_view b) { return a.data() == b.data() && a.size() == b.size(); }

// Whether it is matched; where it is, the general decoders have to find the same.
bool matched(byte_view message) {
    wire::usual_event found;
    if (!wire::match_usual_event(message, found)) {
        return false;
    }
    const auto event = wire::decode_event(message);
    REQUIRE(event.ok());
    REQUIRE(event->summary.has_value());
    wire::summary_reader values{*event->summary};
    wire::summary_value value;
    REQUIRE(values.next(value));
    CHECK(value.kind == wire::value_kind::tensor);
    CHECK(value.tag == found.tag);
    CHECK(value.tag.data() == found.tag.data());
    const auto tensor = wire::decode_tensor_proto(value.tensor);
    REQUIRE(tensor.ok());
    CHECK(tensor->dtype_code == found.tensor.dtype_code);
    CHECK(tensor->fields == found.tensor.fields);
    CHECK(same(tensor->message, found.tensor.message));
    CHECK(same(tensor->content, found.tensor.content));
    REQUIRE(tensor->shape.has_value());
    REQUIRE(found.tensor.shape.has_value());
    CHECK(same(*tensor->shape, *found.tensor.shape));
    CHECK_FALSE(values.next(value));
    CHECK(values.code() == status::ok);
    return true;
}

}  // namespace

TEST_CASE("usual_event: what the hook writes is one, whatever its sizes") {
    for (const std::int64_t step : {std::int64_t{0}, std::int64_t{1}, std::int64_t{300}, std::int64_t{-1}}) {
        for (const std::size_t size : {std::size_t{1}, std::size_t{127}, std::size_t{128}, std::size_t{300}}) {
            for (const std::string& tag : {std::string{}, std::string{"w"}, std::string(200, 'n')}) {
                CHECK(matched(message_of(tag, size, step)));
                CHECK(matched(message_of(tag, size, step, false, {1, 0, 300})));
            }
        }
    }
}

TEST_CASE("usual_event: a tensor without content, or without a dtype, is left to the general decoders") {
    CHECK_FALSE(matched(message_of("w", 0, 1)));
    CHECK_FALSE(matched({}));
    const std::string_view text = "text";
    wire::value_fields value;
    value.tag = "w";
    value.tensor.strings = std::span{&text, 1};
    const auto message =
        wire::to_bytes({.wall_time = 1.5, .step = 1, .file_version = {}, .values = std::span{&value, 1}});
    CHECK_FALSE(matched(message));
}

TEST_CASE("usual_event: no message that is cut or continued is one") {
    const auto whole = message_of("weight", 20, 7, true, {4, 5});
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
        CHECK_FALSE(matched(cut));
    }
    for (const std::byte more : {std::byte{0x00}, std::byte{0x0a}, std::byte{0x2a}, std::byte{0x4a}}) {
        auto longer = whole;
        longer.push_back(more);
        CHECK_FALSE(matched(longer));
        longer.push_back(std::byte{0});
        CHECK_FALSE(matched(longer));
    }
    auto two = whole;  // two summaries: the last one counts, which is for others to know
    two.insert(two.end(), whole.begin() + 9, whole.end());
    CHECK_FALSE(matched(two));
}

TEST_CASE("usual_event: of whatever is matched the general decoders find the same") {
    std::mt19937 random{11};
    const auto any = [&](std::size_t below) { return static_cast<std::size_t>(random() % below); };
    std::size_t changed_and_matched = 0;
    for (int round = 0; round < 20'000; ++round) {
        auto message = message_of(std::string(any(3) == 0 ? any(200) : any(9), 'n'), 1 + any(any(2) == 0 ? 9 : 290),
                                  static_cast<std::int64_t>(any(400)), any(4) != 0, {any(300), 3});
        for (std::size_t changes = 1 + any(2); changes-- > 0;) {
            const std::size_t place = any(2) == 0 ? any(message.size()) : any(40 < message.size() ? 40 : 1);
            const auto at = message.begin() + static_cast<std::ptrdiff_t>(place);
            const auto value = static_cast<std::byte>(random() & 0xffU);
            switch (any(4)) {
                case 0:
                    message.erase(at);
                    break;
                case 1:
                    message.insert(at, value);
                    break;
                case 2:
                    *at ^= std::byte{1} << any(8);
                    break;
                default:
                    *at = value;
            }
        }
        const std::vector<std::byte> exact(message);  // so that a sanitizer sees every read beyond it
        changed_and_matched += matched(exact) ? 1U : 0U;
    }
    CHECK(changed_and_matched > 1000);
}

TEST_CASE("usual_event: its head is known by what stands before the elements, and its tail by what may follow them") {
    for (const bool with_metadata : {true, false}) {
        const std::vector<std::byte> message = message_of("layer/weight", 300, 7, with_metadata, {3, 100});
        const byte_view bytes{message};
        wire::usual_event whole;
        REQUIRE(wire::match_usual_event(bytes, whole));
        const auto content = static_cast<std::size_t>(whole.tensor.content.data() - bytes.data());
        for (std::size_t size = 0; size <= bytes.size(); ++size) {
            wire::usual_head head;
            const bool is_there = wire::match_usual_head(bytes.first(size), bytes.size(), head);
            CHECK(is_there == (size >= content));
            if (is_there) {
                CHECK(head.tag == whole.tag);
                CHECK(head.dtype_code == whole.tensor.dtype_code);
                CHECK(same(head.shape, *whole.tensor.shape));
                CHECK(head.content == content);
                CHECK(head.content_size == 300);
            }
            CHECK_FALSE(wire::match_usual_head(bytes.first(size), bytes.size() - 1, head));
            CHECK_FALSE(wire::match_usual_head(bytes.first(size), bytes.size() + 1, head));
        }
        const byte_view tail = bytes.subspan(content + 300);
        CHECK(tail.empty() != with_metadata);
        CHECK(wire::is_usual_tail(tail));
        for (std::size_t size = 1; size < tail.size(); ++size) {
            CHECK_FALSE(wire::is_usual_tail(tail.first(size)));
        }
        // What is matched by its head and its tail is matched as a whole, whatever is damaged.
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            for (const int change : {1, 0x80, 0x10}) {
                std::vector<std::byte> damaged = message;
                damaged[i] ^= static_cast<std::byte>(change);
                wire::usual_head head;
                wire::usual_event event;
                const byte_view now{damaged};
                const bool by_parts =
                    wire::match_usual_head(now, now.size(), head) &&
                    wire::is_usual_tail(now.subspan(static_cast<std::size_t>(head.content + head.content_size)));
                CHECK(by_parts == wire::match_usual_event(now, event));
                CHECK((!by_parts || event.tensor.content.size() == head.content_size));
            }
        }
    }
}
