// The bodies of <smdebug/core/json_document.hpp>.
#pragma once

#include <smdebug/core/json_document.hpp>

#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <string>
#include <type_traits>
#include <vector>

namespace smdebug::inline v1 {
namespace detail::json {

struct value::access {
    using element_type = simdjson::dom::element;
    // The two words in which a value keeps an element, so that its header needs no simdjson.
    struct words {
        const void* document;
        std::size_t place;
    };
    static_assert(std::is_trivially_copyable_v<element_type> && sizeof(element_type) == sizeof(words));

    [[nodiscard]] static element_type element(const value& of) noexcept {
        return std::bit_cast<element_type>(words{of.document_, of.place_});
    }
    [[nodiscard]] static value of(element_type element) noexcept {
        const auto kept = std::bit_cast<words>(element);
        value made;
        made.document_ = kept.document;
        made.place_ = kept.place;
        return made;
    }
};

SMDEBUG_INLINE bool value::is_null() const noexcept { return access::element(*this).is_null(); }
SMDEBUG_INLINE bool value::is_object() const noexcept { return access::element(*this).is_object(); }
SMDEBUG_INLINE bool value::is_array() const noexcept { return access::element(*this).is_array(); }
SMDEBUG_INLINE bool value::is_string() const noexcept { return access::element(*this).is_string(); }
SMDEBUG_INLINE bool value::is_number() const noexcept { return access::element(*this).is_number(); }

SMDEBUG_INLINE std::optional<std::string_view> value::string() const noexcept {
    std::string_view text;
    return access::element(*this).get_string().get(text) == simdjson::SUCCESS ? std::optional{text} : std::nullopt;
}

SMDEBUG_INLINE std::optional<std::int64_t> value::integer() const noexcept {
    std::int64_t number = 0;
    return access::element(*this).get_int64().get(number) == simdjson::SUCCESS ? std::optional{number} : std::nullopt;
}

SMDEBUG_INLINE std::optional<std::uint64_t> value::unsigned_integer() const noexcept {
    std::uint64_t number = 0;
    return access::element(*this).get_uint64().get(number) == simdjson::SUCCESS ? std::optional{number} : std::nullopt;
}

SMDEBUG_INLINE std::optional<double> value::number() const noexcept {
    double number = 0;
    return access::element(*this).get_double().get(number) == simdjson::SUCCESS ? std::optional{number} : std::nullopt;
}

SMDEBUG_INLINE std::optional<bool> value::boolean() const noexcept {
    bool truth = false;
    return access::element(*this).get_bool().get(truth) == simdjson::SUCCESS ? std::optional{truth} : std::nullopt;
}

SMDEBUG_INLINE bool value::for_each_field(function_ref<bool(std::string_view, value)> visit) const {
    simdjson::dom::object object;
    if (access::element(*this).get_object().get(object) != simdjson::SUCCESS) {
        return false;
    }
    for (const auto field : object) {
        if (!visit(field.key, access::of(field.value))) {
            return false;
        }
    }
    return true;
}

SMDEBUG_INLINE bool value::for_each_element(function_ref<bool(value)> visit) const {
    simdjson::dom::array array;
    if (access::element(*this).get_array().get(array) != simdjson::SUCCESS) {
        return false;
    }
    for (const simdjson::dom::element element : array) {
        if (!visit(access::of(element))) {
            return false;
        }
    }
    return true;
}

SMDEBUG_INLINE std::optional<value> value::operator[](std::string_view name) const noexcept {
    std::optional<value> last;
    for_each_field([&](std::string_view field, value content) {
        if (field == name) {
            last = content;
        }
        return true;
    });
    return last;
}

struct document::parser {
    simdjson::dom::parser own;
};

SMDEBUG_INLINE document::document() : parser_(std::make_unique<parser>()) {}
SMDEBUG_INLINE document::document(document&& other) noexcept = default;
SMDEBUG_INLINE document& document::operator=(document&& other) noexcept = default;
SMDEBUG_INLINE document::~document() = default;

SMDEBUG_INLINE std::optional<value> document::parse(byte_view bytes) {
    std::string_view text = as_text(bytes);
    if (text.starts_with("\xEF\xBB\xBF")) {
        text.remove_prefix(3);
    }
    if (text.empty()) {  // simdjson copies it, with memcpy, from a pointer that may be null
        return std::nullopt;
    }
    simdjson::dom::element root;
    if (parser_->own.parse(text.data(), text.size(), true).get(root) != simdjson::SUCCESS) {
        return std::nullopt;
    }
    return value::access::of(root);
}

SMDEBUG_INLINE std::string library_version() {
    return std::to_string(simdjson::SIMDJSON_VERSION_MAJOR) + "." + std::to_string(simdjson::SIMDJSON_VERSION_MINOR) +
           "." + std::to_string(simdjson::SIMDJSON_VERSION_REVISION);
}

}  // namespace detail::json

SMDEBUG_INLINE std::optional<std::string> renamed_keys(detail::json::value object,
                                                       std::span<const std::string_view> expected) {
    std::vector<std::string_view> seen;
    std::string strange;
    const bool is_object = object.for_each_field([&](std::string_view key, detail::json::value) {
        seen.push_back(key);
        if (std::find(expected.begin(), expected.end(), key) == expected.end()) {
            strange.append(strange.empty() ? "\"" : ", \"").append(key).append("\"");
        }
        return true;
    });
    std::string missing;
    for (const std::string_view key : expected) {
        if (std::find(seen.begin(), seen.end(), key) == seen.end()) {
            missing.append(missing.empty() ? "\"" : ", \"").append(key).append("\"");
        }
    }
    if (!is_object || strange.empty() || missing.empty()) {
        return std::nullopt;
    }
    return "unknown key " + strange + " where " + missing + " is missing";
}

SMDEBUG_INLINE std::optional<std::string> repeated_keys(detail::json::value object) {
    std::vector<std::string_view> seen;
    static_cast<void>(object.for_each_field([&](std::string_view key, detail::json::value) {
        seen.push_back(key);
        return true;
    }));
    std::sort(seen.begin(), seen.end());
    const auto twice = std::adjacent_find(seen.begin(), seen.end());
    return twice != seen.end() ? std::optional{"the key \"" + std::string{*twice} + "\" stands twice"} : std::nullopt;
}

}  // namespace smdebug::inline v1
