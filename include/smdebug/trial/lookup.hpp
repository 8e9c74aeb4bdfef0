// A failed look-up as a value: why there is no result.  The throwing calls are built on these.
// A scan over a million steps must not pay for exceptions.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/core/step.hpp>

#include <concepts>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <version>

#ifdef __cpp_lib_expected
#include <expected>
#endif

namespace smdebug::inline v1 {

/// Why a look-up found nothing.
enum class lookup_failure_kind : std::uint8_t {
    tensor_not_saved,        ///< the step exists, but this tensor (or its values, or what the reduction needs) does not
    step_not_saved,          ///< the step was not saved and will not be
    step_not_yet_available,  ///< the step may still come
    no_such_worker,          ///< the tensor exists, but not from this worker
    event_file_missing,      ///< the index names an event file that is not there
    shape_not_saved,         ///< neither a shape nor values
    unreadable,              ///< the storage failed to read the event file: see `cause`
    damaged,                 ///< the record cannot be trusted: see `damage`, `where`, `offset`
    wrong_dtype,             ///< the values have another dtype than requested, or one without this reduction
    not_computed,            ///< the kernel lacks a reduction that the dtype has
};

/// The error of a look-up as a value: what the call without find_ would throw.
///
///     if (const auto value = tensor.find_value(step); !value) std::puts(value.error().message().c_str());
struct lookup_error {
    lookup_failure_kind why = lookup_failure_kind::tensor_not_saved;
    bool has_reductions = false;    ///< there are no values, but saved reductions
    status damage = status::ok;     ///< of a damaged record
    std::uint64_t offset = 0;       ///< of a damaged record: its first byte in `where`
    std::string where = {};         ///< the event file, or the worker that does not exist
    std::string note = {};          ///< further details; part of message()
    std::exception_ptr cause = {};  ///< of an unreadable file: the storage's error
    std::string tensor = {};        ///< what was looked up: the tensor, ...
    step_number step = 0;           ///< ... the step, ...
    mode step_mode = mode::global;  ///< ... and the mode in which that counts

    /// The sentence that error::message() of the thrown error has.  Cost: constructs that error without throwing it.
    [[nodiscard]] std::string message() const;
};

/// Whether the index promises data that could not be read: the event file is missing or damaged, or the storage
/// failed.  Data that were never saved, or not in the requested form, are not lost.
[[nodiscard]] bool is_lost(const lookup_error& failure) noexcept;

/// Whether that is so of an error thrown by throw_failure().
[[nodiscard]] bool is_lost(const error& failed) noexcept;

namespace detail {

/// Whether a wait ended before what it waited for was there, which may still come.
[[nodiscard]] bool may_come(const error& failed) noexcept;

}  // namespace detail

/// Converts the exception that is being handled, which reading a record threw, to a failure.  Call it inside a catch
/// block.
[[nodiscard]] lookup_error failure_from_current_exception(std::string where, std::uint64_t offset);

/// Throws the error for a failed look-up.
[[noreturn]] void throw_failure(const lookup_error& failure);

/// Throws the error for a failure that does not name what was looked up: `tensor` at `step` of `in`.
[[noreturn]] void throw_failure(const lookup_error& failure, const std::string& tensor, step_number step, mode in);

/// A value, or why there is none: the result of a tensor's find_value(), find_reduction() and so on.  It is used as a
/// std::expected<Value, lookup_error>, and converts to one where the standard library has it (C++23).
template <class Value>
class [[nodiscard]] lookup {
public:
    using value_type = Value;
    using error_type = lookup_error;

    lookup(Value value) : value_(std::move(value)) {}                      // NOLINT: implicit
    lookup(lookup_error failure) : error_(std::move(failure)) {}           // NOLINT: implicit
    lookup(lookup_failure_kind why) : error_(lookup_error{.why = why}) {}  // NOLINT: implicit

    [[nodiscard]] bool has_value() const noexcept { return value_.has_value(); }
    [[nodiscard]] explicit operator bool() const noexcept { return has_value(); }
    // References live as long as this, so a temporary gives none, but a number: keep it in a variable first, from which
    // `std::move(*found)` takes the value.
    [[nodiscard]] const Value& operator*() const& noexcept { return *value_; }
    [[nodiscard]] Value& operator*() & noexcept { return *value_; }
    [[nodiscard]] Value operator*() && noexcept
        requires std::is_arithmetic_v<Value>
    {
        return *value_;
    }
    const Value& operator*() const&& = delete;  // keep the lookup in a variable first
    [[nodiscard]] const Value* operator->() const& noexcept { return &*value_; }
    [[nodiscard]] Value* operator->() & noexcept { return &*value_; }
    const Value* operator->() const&& = delete;  // keep the lookup in a variable first

    /// The value.  Errors: where there is none, that of throw_failure(error()), as of the call without find_.
    [[nodiscard]] const Value& value() const& { return checked(*this); }
    [[nodiscard]] Value& value() & { return checked(*this); }
    [[nodiscard]] Value value() && { return std::move(checked(*this)); }
    /// The value, else `other`.
    template <std::convertible_to<Value> Other>
    [[nodiscard]] Value value_or(Other&& other) const& {
        return value_.value_or(std::forward<Other>(other));
    }
    template <std::convertible_to<Value> Other>
    [[nodiscard]] Value value_or(Other&& other) && {
        return std::move(value_).value_or(std::forward<Other>(other));
    }
    /// Why there is no value; call it only where there is none.
    [[nodiscard]] const lookup_error& error() const& noexcept { return *error_; }
    const lookup_error& error() const&& = delete;  // keep the lookup in a variable first

#ifdef __cpp_lib_expected
    [[nodiscard]] operator std::expected<Value, lookup_error>() const& {  // NOLINT: implicit
        return has_value() ? std::expected<Value, lookup_error>{*value_} : std::unexpected{*error_};
    }
    [[nodiscard]] operator std::expected<Value, lookup_error>() && {  // NOLINT: implicit
        return has_value() ? std::expected<Value, lookup_error>{*std::move(value_)}
                           : std::unexpected{*std::move(error_)};
    }
#endif

private:
    [[nodiscard]] static auto& checked(auto& self) {
        if (!self.has_value()) {
            throw_failure(*self.error_);
        }
        return *self.value_;
    }

    std::optional<Value> value_;
    std::optional<lookup_error> error_;
};

namespace detail {

/// The what() of the error that throw_failure() would throw.
[[nodiscard]] std::string what_of(const lookup_error& failure, const std::string& tensor, step_number step, mode in);

}  // namespace detail
}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/impl/lookup.ipp>
#endif
