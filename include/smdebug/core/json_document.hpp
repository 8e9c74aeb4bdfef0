// Reads JSON with simdjson. Only the bodies include simdjson, so files that use the compiled form do not see it.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace smdebug::inline v1 {
namespace detail::json {

/// A value in a parsed document. Borrows: the document; text lives until that document parses the next one.
/// Accessors return nothing if the value is of another kind. Nothing here throws.
class value {
public:
    [[nodiscard]] bool is_null() const noexcept;
    [[nodiscard]] bool is_object() const noexcept;
    [[nodiscard]] bool is_array() const noexcept;
    [[nodiscard]] bool is_string() const noexcept;
    [[nodiscard]] bool is_number() const noexcept;

    [[nodiscard]] std::optional<std::string_view> string() const noexcept;
    /// A whole number from -2^63 to 2^63-1; a number with a point or an exponent is not whole.
    [[nodiscard]] std::optional<std::int64_t> integer() const noexcept;
    [[nodiscard]] std::optional<std::uint64_t> unsigned_integer() const noexcept;
    /// Any number.
    [[nodiscard]] std::optional<double> number() const noexcept;
    [[nodiscard]] std::optional<bool> boolean() const noexcept;

    /// The field of that name; the last one where a name occurs twice, as in Python.
    [[nodiscard]] std::optional<value> operator[](std::string_view name) const noexcept;

    /// Calls visit(name, value) for each field of an object until it returns false. Returns whether all were visited;
    /// returns false for a value that is not an object.
    bool for_each_field(function_ref<bool(std::string_view, value)> visit) const;

    /// Calls visit(value) for each element of an array until it returns false. Returns as for_each_field().
    bool for_each_element(function_ref<bool(value)> visit) const;

private:
    friend class document;
    struct access;  // to simdjson's own

    value() = default;

    // The contents of simdjson's element, a place in a parsed document.
    const void* document_ = nullptr;
    std::size_t place_ = 0;
};

/// A reusable parser with the document that it parsed last.
class document {
public:
    document();
    document(document&& other) noexcept;
    document& operator=(document&& other) noexcept;
    ~document();

    /// The document's root, or nothing if the bytes are not a single JSON value in valid UTF-8. A byte order mark is
    /// skipped.
    /// Cost: one copy of the bytes (simdjson needs padding behind them); no allocation once it has seen the largest
    /// document.
    [[nodiscard]] std::optional<value> parse(byte_view bytes);

private:
    struct parser;
    std::unique_ptr<parser> parser_;
};

/// The version of simdjson in use, "3.0.1".
[[nodiscard]] SMDEBUG_INLINE std::string library_version();

}  // namespace detail::json

/// A sentence on the unexpected keys of `object` if some of `expected` are missing; nothing if the keys are right, or
/// if the value is not an object.
[[nodiscard]] std::optional<std::string> renamed_keys(detail::json::value object,
                                                      std::span<const std::string_view> expected);

/// A sentence on the repeated keys of `object`, of which the last counts; nothing if none is. No writer repeats one.
[[nodiscard]] std::optional<std::string> repeated_keys(detail::json::value object);

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/core/impl/json_document.ipp>
#endif
