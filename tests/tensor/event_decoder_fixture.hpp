// Records with tensors, and what holds for every tensor that is decoded: for the tests of event_decoder.
#pragma once

#include <smdebug/tensor/event_decoder.hpp>

#include <smdebug/record/framing.hpp>
#include <smdebug/tensor/element.hpp>
#include <smdebug/wire/event.hpp>

#include "../record/event_files.hpp"
#include "../wire/messages.hpp"

#include "support/standard.hpp"

namespace smdebug_test::event_records {

namespace record = smdebug::record;
namespace wire = smdebug::detail::wire;
using smdebug::decoded_tensor;
using smdebug::dtype;
using wire::field_writer;

inline messages::bytes framed(const messages::bytes& payload,
                              record::footer_kind kind = record::footer_kind::checksum) {
    messages::bytes bytes;
    record::append_record(bytes, payload, kind);
    return bytes;
}

/// A record with an event whose summary has the values that `write` writes.
template <class F>
messages::bytes record_of(F&& write) {
    return framed(messages::written([&](field_writer& w) { w.write_bytes(5, messages::written(write)); }));
}

/// A record with one value: its fields as given.
inline messages::bytes record_with_value(std::string_view value) {
    return record_of([&](field_writer& w) { w.write_text(1, value); });
}

/// A record as the Python package writes it: a 2x3 tensor of float32 with metadata.
inline messages::bytes small_record() {
    static constexpr std::array<float, 6> values{1, 2, 3, 4, 5, 6};
    static constexpr std::array<std::size_t, 2> extents{2, 3};
    const std::array plugins{wire::plugin_data{"mode_step", "7"}, wire::plugin_data{"mode", "1"}};
    const std::array fields{
        wire::value_fields{"w", {dtype::float32, {extents, "w"}, std::as_bytes(std::span{values}), {}}, plugins}};
    return framed(wire::to_bytes({1.5, 7, {}, fields}));
}

template <class T>
std::vector<T> elements(const decoded_tensor& tensor) {
    std::vector<T> values(tensor.bytes.size() / sizeof(T));
    if (!values.empty()) {
        std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
    }
    return values;
}

/// Checks what tensor_view promises for a decoded tensor, and reads every byte of it.
inline bool keeps_promises(const decoded_tensor& tensor) {
    const auto count = smdebug::element_count(tensor.shape);
    if (!count || tensor.type == dtype::invalid || tensor.view().count() != *count) {
        return false;
    }
    if (tensor.type == dtype::string) {
        std::size_t sum = 0;
        for (const std::string_view text : tensor.strings) {
            sum += static_cast<std::size_t>(std::count(text.begin(), text.end(), 'x'));
        }
        return tensor.bytes.empty() && sum < SIZE_MAX;
    }
    unsigned highest = 0;
    for (const std::byte byte : tensor.bytes) {
        highest = std::max(highest, static_cast<unsigned>(byte));
    }
    return tensor.strings.empty() && tensor.bytes.size() == *count * size_of(tensor.type) &&
           (tensor.type != dtype::boolean || highest <= 1);
}

/// The records of some runs, each in a block of its own.
inline std::vector<messages::bytes> records_of(std::string_view run) {
    std::vector<messages::bytes> records;
    for (const auto& file : event_files::of(run)) {
        const auto bytes = event_files::read(file);
        record::detail::reader reader{bytes};
        for (auto at = reader.position(); reader.next().ok(); at = reader.position()) {
            records.emplace_back(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                                 bytes.begin() + static_cast<std::ptrdiff_t>(reader.position()));
        }
    }
    return records;
}

/// A record of `count` float32 in tensor_content.
inline messages::bytes record_of_floats(std::size_t count, record::footer_kind kind) {
    const std::vector<float> numbers(count, 1.5F);
    const std::vector<std::size_t> extents{count};
    wire::value_fields value;
    value.tag = "big";
    value.tensor = wire::tensor_fields{.type = dtype::float32,
                                       .shape = {.extents = extents, .dim_name = "big"},
                                       .content = std::as_bytes(std::span{numbers}),
                                       .strings = {}};
    return framed(wire::to_bytes({.wall_time = 1, .step = 2, .file_version = {}, .values = std::span{&value, 1}}),
                  kind);
}

}  // namespace smdebug_test::event_records
