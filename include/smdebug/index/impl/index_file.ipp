// The bodies of <smdebug/index/index_file.hpp>.
#pragma once

#include <smdebug/core/step.hpp>
#include <smdebug/index/index_file.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>

namespace smdebug {
inline namespace v1 {
namespace detail::index_file {

SMDEBUG_INLINE std::optional<split> split_canonical(byte_view bytes) noexcept {
    std::string_view text = as_text(bytes);
    const auto skip = [&](std::string_view literal) {
        const bool there = text.starts_with(literal);
        text.remove_prefix(there ? literal.size() : 0);
        return there;
    };
    // A plain piece up to the next quote: printable ASCII without escapes, so that it needs no decoding.
    const auto quoted = [&]() -> std::optional<std::string_view> {
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (text[i] == '"') {
                const std::string_view piece = text.substr(0, i);
                text.remove_prefix(i + 1);
                return piece;
            }
            if (text[i] < ' ' || text[i] > '~' || text[i] == '\\') {
                break;
            }
        }
        return std::nullopt;
    };
    split parts;
    if (!skip(R"({"meta": {"mode": ")")) {
        return std::nullopt;
    }
    const auto mode_name = quoted();
    const auto which = mode_name ? mode_named(*mode_name) : std::nullopt;
    if (!which || !skip(R"(, "mode_step": )")) {
        return std::nullopt;
    }
    parts.head.mode = *which;
    std::size_t digits = 0;
    for (; digits < text.size() && digits < 18 && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
        parts.head.mode_step = parts.head.mode_step * 10 + (text[digits] - '0');
    }
    if (digits == 0 || (digits > 1 && text[0] == '0')) {
        return std::nullopt;
    }
    text.remove_prefix(digits);
    if (!skip(R"(, "event_file_name": ")")) {
        return std::nullopt;
    }
    const auto event_file = quoted();
    if (!event_file || !skip("}, ")) {
        return std::nullopt;
    }
    parts.head.event_file_name = *event_file;
    parts.payload = as_bytes(text);
    return parts;
}

namespace detail {

SMDEBUG_INLINE bool canonical_text::take_plain(std::string_view& text) noexcept {
    constexpr std::uint64_t ones = 0x0101010101010101;
    constexpr std::uint64_t tops = 0x80 * ones;
    const char* const begin = next_;
    // Eight bytes at once.  A byte's top bit is set where it is zero; in those above one that is, perhaps wrongly: the
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

SMDEBUG_INLINE std::optional<std::string_view> trimmed(std::optional<std::string_view> text) noexcept {
    constexpr std::string_view blanks = " \t\r\n\v\f";
    if (text) {
        text->remove_prefix(std::min(text->find_first_not_of(blanks), text->size()));
        text->remove_suffix(text->size() - (text->find_last_not_of(blanks) + 1));
    }
    return text;
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
    const auto mode_text = mode_field ? trimmed(mode_field->string()) : std::nullopt;
    if (!mode_text) {
        return damage{"meta.mode is missing or no text"};
    }
    const auto which = mode_named(*mode_text);
    if (!which) {
        return damage{"meta.mode is \"" + std::string{*mode_text} + "\", not TRAIN, EVAL, PREDICT or GLOBAL"};
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
}  // namespace detail::index_file
}  // namespace v1
}  // namespace smdebug
