// The bodies of <smdebug/hook/json_section.hpp>.
#pragma once

#include <smdebug/core/near_names.hpp>
#include <smdebug/hook/json_section.hpp>
#include <smdebug/index/key_check.hpp>

#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE json_section::json_section(const std::string& file, std::string name, std::optional<json::value> object)
    : file_(file), name_(std::move(name)) {
    if (object && !object->is_null()) {
        if (!object->is_object()) {
            throw value_error(file_ + ": " + name_ + " is no JSON object", {.where = file_});
        }
        if (const auto twice = repeated_keys(*object)) {
            throw value_error(file_ + ": " + (name_.empty() ? "" : name_ + ": ") + *twice, {.where = file_});
        }
        object_ = object;
    }
}

SMDEBUG_INLINE std::optional<json::value> json_section::find(std::string_view key) const {
    const auto value = object_ ? (*object_)[key] : std::nullopt;
    return value && !value->is_null() ? value : std::nullopt;
}

SMDEBUG_INLINE std::optional<std::string> json_section::text(std::string_view key) const {
    const auto value = find(key);
    if (value && !value->is_string()) {
        refuse(key, "is no text");
    }
    return value ? std::optional{std::string{*value->string()}} : std::nullopt;
}

SMDEBUG_INLINE std::optional<std::int64_t> json_section::number(std::string_view key) const {
    const auto value = find(key);
    return value ? std::optional{whole(key, *value)} : std::nullopt;
}

SMDEBUG_INLINE std::optional<bool> json_section::truth(std::string_view key) const {
    const auto value = find(key);
    if (!value) {
        return std::nullopt;
    }
    if (const auto truth = value->boolean()) {
        return truth;
    }
    const auto text = value->string();
    const auto number = value->number();
    if (text == "true" || text == "True" || number == 1.0) {
        return true;
    }
    if (text == "false" || text == "False" || number == 0.0) {
        return false;
    }
    refuse(key, "is neither true nor false");
}

SMDEBUG_INLINE std::optional<std::vector<std::int64_t>> json_section::numbers(std::string_view key) const {
    return list<std::int64_t>(
        key, empty_pieces::skip, [&](std::string_view piece) { return whole(key, piece); },
        [&](json::value item) { return whole(key, item); });
}

SMDEBUG_INLINE std::vector<std::string> json_section::unknown_keys(std::span<const std::string> known) const {
    std::vector<std::string> notes;
    if (object_) {
        object_->for_each_field([&](std::string_view key, json::value) {
            if (std::find(known.begin(), known.end(), key) == known.end()) {
                if (const std::string meant = did_you_mean(key, known, 3); !meant.empty()) {
                    refuse(key, "is not known." + meant);
                }
                notes.push_back(file_ + ": " + path_of(key) + " is not known, and has no effect");
            }
            return true;
        });
    }
    return notes;
}

SMDEBUG_INLINE std::string_view json_section::trimmed(std::string_view text) noexcept {
    constexpr std::string_view blanks = " \t\r\n\v\f";
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    return text.substr(0, text.find_last_not_of(blanks) + 1);
}

SMDEBUG_INLINE std::int64_t json_section::whole(std::string_view key, std::string_view text) const {
    std::string_view digits = trimmed(text);
    if (digits.starts_with('+') && !digits.starts_with("+-")) {
        digits.remove_prefix(1);
    }
    std::int64_t number = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (code != std::errc{} || end != digits.data() + digits.size()) {
        refuse(key, "holds \"" + std::string{text} + "\", which is no whole number");
    }
    return number;
}

SMDEBUG_INLINE std::int64_t json_section::whole(std::string_view key, json::value value) const {
    if (const auto text = value.string()) {
        return whole(key, *text);
    }
    if (const auto truth = value.boolean()) {
        return *truth ? 1 : 0;
    }
    if (const auto number = value.integer()) {
        return *number;
    }
    constexpr double limit = 9223372036854775808.0;  // 2^63: the first that an int64 cannot hold
    const double number = value.number().value_or(limit);
    if (!(number >= -limit && number < limit) || std::trunc(number) != number) {
        refuse(key, "is no whole number");
    }
    return static_cast<std::int64_t>(number);
}

SMDEBUG_INLINE std::optional<std::vector<std::string>> json_section::text_list(std::string_view key,
                                                                               empty_pieces empty) const {
    return list<std::string>(
        key, empty, [](std::string_view piece) { return std::string{piece}; },
        [&](json::value item) {
            if (!item.is_string()) {
                refuse(key, "holds something that is no text");
            }
            return std::string{*item.string()};
        });
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
