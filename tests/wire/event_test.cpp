#include <smdebug/wire/event.hpp>

#include "support/test.hpp"

#include <smdebug/record/framing.hpp>
#include "../record/event_files.hpp"
#include "messages.hpp"

namespace wire = smdebug::detail::wire;
using namespace std::literals;
using smdebug::byte_view;
using smdebug::status;
using wire::field_writer;

namespace {

/// Reads an event of the Python package down to its parts and writes it again from those.
messages::bytes written_again(byte_view payload) {
    const auto event = wire::decode_event(payload);
    REQUIRE(event.ok());
    wire::summary_reader values{event->summary.value()};
    wire::summary_value value;
    REQUIRE(values.next(value));
    const auto tensor = wire::decode_tensor_proto(value.tensor);
    REQUIRE(tensor.ok());
    smdebug::shape_type extents;
    REQUIRE(wire::decode_tensor_shape(tensor->shape.value(), extents) == status::ok);
    std::vector<std::string_view> strings;
    wire::field_reader fields{tensor->message};
    for (wire::field f; fields.next(f);) {
        if (f.number == wire::tensor_field::string_val) {
            strings.push_back(f.as_text());
        }
    }
    const std::array plugins{
        wire::plugin_data{"mode_step", wire::find_plugin(value.metadata, "mode_step").value()},
        wire::plugin_data{"mode", wire::find_plugin(value.metadata, "mode").value()},
    };
    const std::array one_value{wire::value_fields{
        value.tag,
        {smdebug::dtype_from_code(tensor->dtype_code), {extents, value.tag}, tensor->content, strings},
        plugins}};
    return wire::to_bytes({event->wall_time, event->step, {}, one_value});
}

}  // namespace

TEST_CASE("event: a file's version, as TensorFlow writes it") {
    const auto bytes = wire::to_bytes({1.5, 0, "brain.Event:2", {}});
    CHECK(bytes == messages::of("\x09\x00\x00\x00\x00\x00\x00\xf8\x3f\x1a\x0d"
                                "brain.Event:2"sv));
    const auto event = wire::decode_event(bytes);
    REQUIRE(event.ok());
    CHECK(event->wall_time == 1.5);
    CHECK(event->step == 0);
    CHECK(event->file_version == "brain.Event:2");
    CHECK_FALSE(event->summary.has_value());
}

TEST_CASE("event: negative and large steps round-trip") {
    for (const std::int64_t step : {std::int64_t{-1}, std::int64_t{1}, INT64_MAX, INT64_MIN}) {
        const auto bytes = wire::to_bytes({0, step, {}, {}});
        CHECK(bytes.size() == wire::encoded_size(wire::event_fields{0, step, {}, {}}));
        CHECK(wire::decode_event(bytes)->step == step);
    }
}

TEST_CASE("event: unknown fields are skipped, the last of a kind counts") {
    const auto bytes = messages::of("\x10\x01\x10\x02\x22\x01g\x48\x05\x2a\x01x\x2a\x01y"sv);
    const auto event = wire::decode_event(bytes);
    REQUIRE(event.ok());
    CHECK(event->step == 2);
    CHECK(smdebug::as_text(*event->summary) == "y");
}

TEST_CASE("event: prefixes are truncated or shorter events") {
    const auto whole = messages::of("\x09\x00\x00\x00\x00\x00\x00\xf8\x3f\x10\x05\x2a\x02xy"sv);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const auto cut = messages::prefix(whole, size);
        REQUIRE(wire::decode_event(cut).code() ==
                (size == 0 || size == 9 || size == 11 ? status::ok : status::truncated));
    }
}

TEST_CASE("event: writing the events of all golden runs again gives their bytes") {
    std::size_t events = 0;
    for (const auto& file : event_files::of_all_runs()) {
        const auto bytes = event_files::read(file);
        smdebug::record::detail::reader reader{bytes};
        for (auto record = reader.next(); record.ok(); record = reader.next()) {
            const messages::bytes original(record->payload.begin(), record->payload.end());
            REQUIRE_MESSAGE(written_again(record->payload) == original, file.string());
            ++events;
        }
    }
    CHECK(events == 2105);
}
