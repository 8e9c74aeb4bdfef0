// Reading JSON: the only header that includes simdjson, behind a few words.
// Used by: index, s3, cli, tests.
#pragma once

#include <smdebug/core/bytes.hpp>

#include <simdjson.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace json {

/// A value in a parsed document.  Borrows: the document; text lives until it parses the next one.
/// Every look returns nothing where the value is of another kind: nothing here throws.
class value {
public:
    explicit value(simdjson::dom::element element) noexcept : element_(element) {}

    [[nodiscard]] bool is_null() const noexcept { return element_.is_null(); }
    [[nodiscard]] bool is_object() const noexcept { return element_.is_object(); }
    [[nodiscard]] bool is_array() const noexcept { return element_.is_array(); }
    [[nodiscard]] bool is_string() const noexcept { return element_.is_string(); }
    [[nodiscard]] bool is_number() const noexcept { return element_.is_number(); }

    [[nodiscard]] std::optional<std::string_view> string() const noexcept {
        std::string_view text;
        return element_.get_string().get(text) == simdjson::SUCCESS ? std::optional{text} : std::nullopt;
    }
    /// A whole number from -2^63 to 2^63-1; one with a point or an exponent is not whole.
    [[nodiscard]] std::optional<std::int64_t> integer() const noexcept {
        std::int64_t number = 0;
        return element_.get_int64().get(number) == simdjson::SUCCESS ? std::optional{number} : std::nullopt;
    }
    [[nodiscard]] std::optional<std::uint64_t> unsigned_integer() const noexcept {
        std::uint64_t number = 0;
        return element_.get_uint64().get(number) == simdjson::SUCCESS ? std::optional{number} : std::nullopt;
    }
    /// Any number.
    [[nodiscard]] std::optional<double> number() const noexcept {
        double number = 0;
        return element_.get_double().get(number) == simdjson::SUCCESS ? std::optional{number} : std::nullopt;
    }
    [[nodiscard]] std::optional<bool> boolean() const noexcept {
        bool truth = false;
        return element_.get_bool().get(truth) == simdjson::SUCCESS ? std::optional{truth} : std::nullopt;
    }

    /// The field of that name; the last one where a name stands twice, as in Python.
    [[nodiscard]] std::optional<value> operator[](std::string_view name) const noexcept {
        std::optional<value> found;
        for_each_field([&](std::string_view field, value held) {
            if (field == name) {
                found = held;
            }
            return true;
        });
        return found;
    }

    /// Calls visit(name, value) for each field of an object until it returns false.  Returns whether all were visited;
    /// a value that is no object has none and gives false.
    template <class Visit>
    bool for_each_field(Visit&& visit) const {
        simdjson::dom::object object;
        if (element_.get_object().get(object) != simdjson::SUCCESS) {
            return false;
        }
        for (const auto field : object) {
            if (!visit(field.key, value{field.value})) {
                return false;
            }
        }
        return true;
    }

    /// The same for the elements of an array: visit(value).
    template <class Visit>
    bool for_each_element(Visit&& visit) const {
        simdjson::dom::array array;
        if (element_.get_array().get(array) != simdjson::SUCCESS) {
            return false;
        }
        for (const simdjson::dom::element element : array) {
            if (!visit(value{element})) {
                return false;
            }
        }
        return true;
    }

private:
    simdjson::dom::element element_;
};

/// A parser that is used again and again, and the document that it parsed last.
class document {
public:
    /// The document's root, nothing when the bytes are not one JSON value in valid UTF-8.  A byte order mark is
    /// skipped. Cost: one copy of the bytes (simdjson wants room behind them), no allocation once it has seen the
    /// largest.
    [[nodiscard]] std::optional<value> parse(byte_view bytes) {
        std::string_view text = as_text(bytes);
        if (text.starts_with("\xEF\xBB\xBF")) {
            text.remove_prefix(3);
        }
        if (text.empty()) {  // simdjson copies it, with memcpy, from a pointer that may be null
            return std::nullopt;
        }
        simdjson::dom::element root;
        if (parser_->parse(text.data(), text.size(), true).get(root) != simdjson::SUCCESS) {
            return std::nullopt;
        }
        return value{root};
    }

private:
    std::unique_ptr<simdjson::dom::parser> parser_ = std::make_unique<simdjson::dom::parser>();
};

}  // namespace json
}  // namespace v1
}  // namespace smdebug
