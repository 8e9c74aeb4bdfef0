// One index file: which tensors a worker saved at a step, and where in its event file they lie.
// Split in two, because the second part repeats from step to step: meta (mode, mode step, event file) and payload.
// Used by: trial.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/json_document.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/index/index_meta.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace index_file {

/// Where one tensor's record lies.
struct location {
    std::string_view tensor_name;
    byte_range record;
};

/// A shape that was saved without, or beside, the values.
struct saved_shape {
    std::string_view tensor_name;
    std::string_view original_name;
    shape_type extents;
};

/// A file whose meta part stands as the Python package writes it, and the bytes behind that.
struct split {
    meta head;
    byte_view payload;
};

/// Splits a file as json.dumps writes it, without parsing the payload.  Nothing when it stands in any other way,
/// however legal: parse() takes those.  Two files whose payload bytes are equal hold the same locations and shapes.
/// Cost: some hundred nanoseconds; no allocation.  Borrows: the bytes.
[[nodiscard]] inline std::optional<split> split_canonical(byte_view bytes) noexcept {
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

/// Why a file could not be used.
struct damage {
    std::string what;       ///< a sentence without the file's name
    bool not_json = false;  ///< empty or no JSON: a file that is still being written looks like this
};

namespace detail {

[[nodiscard]] inline std::optional<std::string_view> trimmed(std::optional<std::string_view> text) noexcept {
    constexpr std::string_view blanks = " \t\r\n\v\f";
    if (text) {
        text->remove_prefix(std::min(text->find_first_not_of(blanks), text->size()));
        text->remove_suffix(text->size() - (text->find_last_not_of(blanks) + 1));
    }
    return text;
}

[[nodiscard]] inline std::optional<damage> read_meta(json::value root, meta& head) {
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

[[nodiscard]] inline bool read_location(json::value item, location& out) {
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

[[nodiscard]] inline bool read_shape(json::value item, saved_shape& out) {
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

/// Parses any index file.  Calls on_location(location) and on_shape(saved_shape) for each entry in the file's order;
/// both borrow from `parser` for the call only.  Returns what is wrong with the file, if anything; entries before the
/// damage have then been handed out already.  Unknown keys are skipped.
template <class OnLocation, class OnShape>
[[nodiscard]] std::optional<damage> parse(byte_view bytes, json::document& parser, meta& head, OnLocation&& on_location,
                                          OnShape&& on_shape) {
    const auto root = parser.parse(bytes);
    if (!root) {
        return damage{bytes.empty() ? "the file is empty" : "the file is no JSON, or cut", true};
    }
    if (!root->is_object()) {
        return damage{"the file holds no JSON object"};
    }
    if (auto wrong = detail::read_meta(*root, head)) {
        return wrong;
    }
    const auto tensors = (*root)["tensor_payload"];
    const auto shapes = (*root)["shape_payload"];
    if (!tensors && !shapes) {
        return damage{"the tensor_payload section is missing"};
    }
    location place;
    if (tensors && !tensors->for_each_element([&](json::value item) {
            const bool good = detail::read_location(item, place);
            if (good) {
                on_location(place);
            }
            return good;
        })) {
        return damage{"tensor_payload is no list of {tensorname, start_idx, length}"};
    }
    saved_shape shape;
    if (shapes && !shapes->for_each_element([&](json::value item) {
            const bool good = detail::read_shape(item, shape);
            if (good) {
                on_shape(shape);
            }
            return good;
        })) {
        return damage{"shape_payload is no list of {tensorname, originalname, shape}"};
    }
    return std::nullopt;
}

}  // namespace index_file
}  // namespace v1
}  // namespace smdebug
