#include <smdebug/wire/event.hpp>

#include "support/test.hpp"

#include "messages.hpp"

namespace wire = smdebug::detail::wire;
using namespace std::literals;
using smdebug::as_text;
using smdebug::status;
using wire::field_writer;
using wire::value_kind;

namespace {

std::vector<std::string> tags_of(const messages::bytes& summary, status& code) {
    std::vector<std::string> tags;
    wire::summary_reader reader{summary};
    for (wire::summary_value value; reader.next(value);) {
        tags.emplace_back(value.tag);
    }
    code = reader.code();
    return tags;
}

}  // namespace

TEST_CASE("summary_value: finds the tag, the tensor and the metadata") {
    const auto bytes = messages::of("\x0a\x01t\x3a\x04node\x42\x01T\x4a\x01M"sv);
    const auto value = wire::decode_summary_value(bytes);
    REQUIRE(value.ok());
    CHECK(value->tag == "t");
    CHECK(value->node_name == "node");
    CHECK(value->kind == value_kind::tensor);
    CHECK(as_text(value->tensor) == "T");
    CHECK(as_text(value->metadata) == "M");
}

TEST_CASE("summary_value: distinguishes the kinds") {
    struct row {
        const char* what;
        std::string_view value;
        value_kind kind;
    };
    for (const row& each : {row{"a tag alone", "\x0a\x01t"sv, value_kind::none},
                            {"simple_value", "\x15\x00\x00\xc0\x3f"sv, value_kind::simple_value},
                            {"tensor", "\x42\x00"sv, value_kind::tensor},
                            {"obsolete_old_style_histogram", "\x1a\x00"sv, value_kind::other},
                            {"image", "\x22\x00"sv, value_kind::other},
                            {"histo", "\x2a\x00"sv, value_kind::other},
                            {"audio", "\x32\x00"sv, value_kind::other},
                            {"histo's number in another layout", "\x28\x01"sv, value_kind::none}}) {
        CAPTURE(each.what);
        CHECK(wire::decode_summary_value(messages::of(each.value))->kind == each.kind);
    }
}

TEST_CASE("summary_value: of several alternatives and tags the last one counts") {
    const auto bytes = messages::of(
        "\x0a\x01"
        "a\x42\x01T\x15\x00\x00\xc0\x3f\x0a\x01"
        "b"sv);
    const auto value = wire::decode_summary_value(bytes);
    REQUIRE(value.ok());
    CHECK(value->tag == "b");
    CHECK(value->kind == value_kind::simple_value);
    CHECK(value->simple_value == 1.5F);
}

TEST_CASE("summary_reader: walks the values and skips the rest") {
    status code = status::malformed;
    const auto summary = messages::of("\x0a\x03\x0a\x01x\x10\x05\x0a\x03\x0a\x01y\x08\x01"sv);
    CHECK(tags_of(summary, code) == std::vector<std::string>{"x", "y"});
    CHECK(code == status::ok);
}

TEST_CASE("summary_reader: stops at a damaged value, and says so") {
    status code = status::ok;
    const auto damaged_inside = messages::of("\x0a\x03\x0a\x01x\x0a\x03\x0a\x02y\x0a\x03\x0a\x01z"sv);
    CHECK(tags_of(damaged_inside, code) == std::vector<std::string>{"x"});
    CHECK(code == status::truncated);
    const auto damaged_outside = messages::of("\x0a\x03\x0a\x01x\x00"sv);
    CHECK(tags_of(damaged_outside, code) == std::vector<std::string>{"x"});
    CHECK(code == status::malformed);
}

TEST_CASE("find_plugin: reads the package's metadata: several entries where TensorFlow has one") {
    const auto metadata = messages::of(
        "\x0a\x0e\x0a\x09mode_step\x12\x01"
        "0\x0a\x09\x0a\x04mode\x12\x01"
        "1"sv);
    CHECK(wire::find_plugin(metadata, "mode_step") == "0"sv);
    CHECK(wire::find_plugin(metadata, "mode") == "1"sv);
    CHECK_FALSE(wire::find_plugin(metadata, "histograms"));
    CHECK_FALSE(wire::find_plugin({}, "mode"));
    for (std::size_t size = 0; size < metadata.size(); ++size) {
        const auto cut = messages::prefix(metadata, size);
        CHECK_FALSE(wire::find_plugin(cut, "mode"));
    }
}

TEST_CASE("find_plugin: steps over the other fields of metadata, and of its entries") {
    // display_name 2, summary_description 3, data_class 4, and a plugin_data with a field 3.
    const auto metadata =
        messages::of("\x12\x04mode\x1a\x02{}\x20\x02\x0a\x0b\x18\x07\x0a\x04mode\x12\x01\x32\x20\x00"sv);
    CHECK(wire::find_plugin(metadata, "mode") == "2"sv);
    CHECK_FALSE(wire::find_plugin(metadata, "mode_step"));
    const auto in_another_layout = messages::of("\x08\x01\x0a\x05\x0a\x01m\x12\x00"sv);
    CHECK(wire::find_plugin(in_another_layout, "m") == ""sv);
}

TEST_CASE("summary: what is written is read back") {
    const std::array plugins{wire::plugin_data{"mode_step", "12"}, wire::plugin_data{"mode", "4"}};
    const auto content = messages::of("\x01\x02"sv);
    const std::array values{wire::value_fields{"first", {smdebug::dtype::uint8, {}, content, {}}, plugins},
                            wire::value_fields{"second", {}, {}}};
    const std::span<const wire::value_fields> summary{values};
    const auto bytes = messages::written([&](field_writer& w) { encode(w, summary); });
    CHECK(bytes.size() == encoded_size(summary));

    wire::summary_reader reader{bytes};
    wire::summary_value value;
    REQUIRE(reader.next(value));
    CHECK(value.tag == "first");
    CHECK(wire::find_plugin(value.metadata, "mode_step") == "12"sv);
    CHECK(wire::find_plugin(value.metadata, "mode") == "4"sv);
    CHECK(as_text(wire::decode_tensor_proto(value.tensor)->content) == "\x01\x02");
    REQUIRE(reader.next(value));
    CHECK(value.tag == "second");
    CHECK(value.metadata.empty());
    CHECK_FALSE(reader.next(value));
    CHECK(reader.code() == status::ok);
}
