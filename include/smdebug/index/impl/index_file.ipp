// The bodies of <smdebug/index/index_file.hpp>.
#pragma once

#include <smdebug/core/json_text.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/index/index_file.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>

namespace smdebug::inline v1 {
namespace detail::index_file {

namespace detail {

SMDEBUG_INLINE bool canonical_text::take_plain(std::string_view& text) noexcept {
    constexpr std::uint64_t ones = 0x0101010101010101;
    constexpr std::uint64_t tops = 0x80 * ones;
    const char* const begin = next_;
    // Eight bytes at once.  The top bit of a zero byte is set; bits above the lowest such byte may be wrong, but the
    // lowest is right.
    const auto zeros_of = [](std::uint64_t eight) { return (eight - ones) & ~eight & tops; };
    while (left() >= sizeof(std::uint64_t)) {
        std::uint64_t eight = 0;
        std::memcpy(&eight, next_, sizeof(eight));
        const std::uint64_t controls = (eight - 0x20 * ones) & ~eight & tops;
        const std::uint64_t odd = (eight & tops) | controls | zeros_of(eight ^ ('"' * ones)) |
                                  zeros_of(eight ^ ('\\' * ones)) | zeros_of(eight ^ (0x7f * ones));
        if (odd != 0) {
            next_ += std::countr_zero(odd) / 8;
            break;
        }
        next_ += sizeof(eight);
    }
    while (next_ != end_ && *next_ >= ' ' && *next_ <= '~' && *next_ != '"' && *next_ != '\\') {
        ++next_;
    }
    if (next_ == end_ || *next_ != '"') {
        return false;
    }
    text = {begin, static_cast<std::size_t>(next_ - begin)};
    ++next_;
    return true;
}

SMDEBUG_INLINE std::optional<damage> read_meta(json::value root, meta& head) {
    const auto section = root["meta"];
    if (!section || !section->is_object()) {
        return damage{"the meta section is missing"};
    }
    const auto mode_field = (*section)["mode"];
    const auto step_field = (*section)["mode_step"];
    const auto event_field = (*section)["event_file_name"];
    if (!mode_field && !step_field && !event_field) {
        return damage{"the meta section is empty"};
    }
    const auto mode_text = mode_field ? mode_field->string() : std::nullopt;
    if (!mode_text) {
        return damage{"meta.mode is missing or no text"};
    }
    const std::string_view mode_name = trimmed(*mode_text);
    const auto which = mode_named(mode_name);
    if (!which) {
        return damage{"meta.mode is \"" + std::string{mode_name} + "\", not TRAIN, EVAL, PREDICT or GLOBAL"};
    }
    const auto step = step_field ? step_field->integer() : std::nullopt;
    if (!step || *step < 0) {
        return damage{"meta.mode_step is missing, negative or no whole number"};
    }
    const auto event_file = event_field ? event_field->string() : std::nullopt;
    if (!event_file) {
        return damage{"meta.event_file_name is missing or no text"};
    }
    head = {*which, *step, *event_file};
    return std::nullopt;
}

SMDEBUG_INLINE bool read_location(json::value item, location& out) {
    const auto name = item["tensorname"];
    const auto start = item["start_idx"];
    const auto length = item["length"];
    const auto name_text = name ? name->string() : std::nullopt;
    const auto start_number = start ? start->unsigned_integer() : std::nullopt;
    const auto length_number = length ? length->unsigned_integer() : std::nullopt;
    if (!name_text || !start_number || !length_number) {
        return false;
    }
    out = {*name_text, {*start_number, *length_number}};
    return true;
}

SMDEBUG_INLINE bool read_shape(json::value item, saved_shape& out) {
    const auto name = item["tensorname"];
    const auto original = item["originalname"];
    const auto extents = item["shape"];
    const auto name_text = name ? name->string() : std::nullopt;
    const auto original_text = original ? original->string() : std::nullopt;
    if (!name_text || !original_text || !extents || !extents->is_array()) {
        return false;
    }
    out.tensor_name = *name_text;
    out.original_name = *original_text;
    out.extents.clear();
    return extents->for_each_element([&](json::value extent) {
        const auto number = extent.unsigned_integer();
        out.extents.push_back(number.value_or(0));
        return number.has_value();
    });
}

}  // namespace detail

SMDEBUG_INLINE std::optional<split> split_canonical(byte_view bytes) noexcept {
    detail::canonical_text text{bytes};
    split parts;
    std::string_view mode_name;
    std::uint64_t mode_step = 0;
    if (!text.skip("{\"meta\": {\"mode\": \"") || !text.take_plain(mode_name) || !text.skip(", \"mode_step\": ") ||
        !text.take_number(mode_step) || !text.skip(", \"event_file_name\": \"") ||
        !text.take_plain(parts.head.event_file_name) || !text.skip("}, ")) {
        return std::nullopt;
    }
    const auto which = mode_named(mode_name);
    parts.head.mode = which.value_or(mode::global);
    parts.head.mode_step = static_cast<step_number>(mode_step);
    parts.payload = text.rest();
    return which ? std::optional{parts} : std::nullopt;
}

}  // namespace detail::index_file

namespace detail {

SMDEBUG_INLINE void index_writer::add_tensor(std::string_view name, byte_range record) {
    if (as_before_ && count_ < entries_.size() && entries_[count_].record == record && entries_[count_].name == name) {
        ++count_;
        return;
    }
    cut();
    begin_entry(tensors_, name);
    tensors_ += R"(, "start_idx": )";
    append_json_integer(tensors_, record.offset);
    tensors_ += R"(, "length": )";
    append_json_integer(tensors_, record.length);
    tensors_ += '}';
    entries_.push_back({std::string{name}, record, tensors_.size()});
    ++count_;
}

SMDEBUG_INLINE void index_writer::add_shape(std::string_view name, std::string_view original_name,
                                            std::span<const std::size_t> extents) {
    begin_entry(shapes_, name);
    shapes_ += R"(, "originalname": )";
    append_json_ascii(shapes_, original_name);
    shapes_ += R"(, "shape": [)";
    for (std::size_t i = 0; i < extents.size(); ++i) {
        shapes_ += i == 0 ? "" : ", ";
        append_json_integer(shapes_, extents[i]);
    }
    shapes_ += "]}";
}

SMDEBUG_INLINE std::string_view index_writer::text(const detail::index_file::meta& head) {
    cut();
    text_ = R"({"meta": {"mode": ")";
    text_ += name_of(head.mode);
    text_ += R"(", "mode_step": )";
    append_json_integer(text_, head.mode_step);
    text_ += R"(, "event_file_name": )";
    append_json_ascii(text_, head.event_file_name);
    text_ += R"(}, "tensor_payload": [)";
    text_ += tensors_;
    text_ += R"(], "shape_payload": [)";
    text_ += shapes_;
    text_ += "]}";
    return text_;
}

SMDEBUG_INLINE void index_writer::clear() noexcept {
    count_ = 0;
    as_before_ = true;
    shapes_.clear();
}

SMDEBUG_INLINE void index_writer::cut() {
    if (as_before_ && count_ < entries_.size()) {
        entries_.resize(count_);
        tensors_.resize(count_ == 0 ? 0 : entries_.back().end);
    }
    as_before_ = false;
}

SMDEBUG_INLINE void index_writer::begin_entry(std::string& list, std::string_view name) {
    list += list.empty() ? R"({"tensorname": )" : R"(, {"tensorname": )";
    append_json_ascii(list, name);
}

}  // namespace detail
}  // namespace smdebug::inline v1
