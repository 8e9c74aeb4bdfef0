// What a look-up on a trial says when there is nothing: why, as a value.  Throwing calls are made of these.
// A scan over a million steps must not pay for exceptions.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/core/step.hpp>

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <utility>

namespace smdebug {
inline namespace v1 {

/// Why a look-up found nothing.
enum class absence : std::uint8_t {
    tensor_not_saved,        ///< the step is there, this tensor (or its values, or what the reduction needs) is not
    step_not_saved,          ///< the step was not saved and will not be
    step_not_yet_available,  ///< the step may still come
    no_such_worker,          ///< the tensor is there, but not from this worker
    event_file_missing,      ///< the index names an event file that is not there
    shape_not_saved,         ///< neither a shape nor values
    unreadable,              ///< the storage failed to read the event file: see `cause`
    damaged,                 ///< the record cannot be trusted: see `damage`, `where`, `offset`
    wrong_dtype,             ///< the dtype does not have what was asked for
    not_computed,            ///< the kernel gives no such reduction, though the dtype has it
};

/// The error of a look-up as a value: what the call without find_ would throw.
///
///     if (const auto value = tensor.find_value(step); !value) std::puts(value.failure().message().c_str());
struct lookup_error {
    absence why = absence::tensor_not_saved;
    bool has_reductions = false;    ///< the values are not there, but saved reductions are
    status damage = status::ok;     ///< of a damaged record
    std::uint64_t offset = 0;       ///< of a damaged record: the byte in `where` at which it begins
    std::string where = {};         ///< the event file, or the worker that is not there
    std::string note = {};          ///< what else is known; a part of message()
    std::exception_ptr cause = {};  ///< of what is unreadable: the storage's error
    std::string tensor = {};        ///< what was looked up: the tensor, ...
    step_number step = 0;           ///< ... the step, ...
    mode step_mode = mode::global;  ///< ... and the mode in which that counts

    /// The sentence that error::message() of the thrown error has.  Cost: makes that error, but does not throw it.
    [[nodiscard]] std::string message() const;
};

/// Whether the index promises what could not be read: the event file is gone, damaged, or the storage failed.  What was
/// not saved, or not as asked for, is not lost.
[[nodiscard]] bool is_lost(const lookup_error& failure) noexcept;

/// The same of an error, of those that throw_failure() throws.
[[nodiscard]] bool is_lost(const error& failed) noexcept;

/// The failure that the exception at hand stands for, which came of reading a record.  Called while it is handled.
[[nodiscard]] lookup_error failure_at_hand(std::string where, std::uint64_t offset);

/// A value, or why there is none: what find_value(), find_reduction() and so on of a tensor answer.
template <class T>
class [[nodiscard]] lookup {
public:
    lookup(T value) : value_(std::move(value)) {}                   // NOLINT: implicit
    lookup(lookup_error failure) : failure_(std::move(failure)) {}  // NOLINT: implicit
    lookup(absence why) : failure_(lookup_error{.why = why}) {}     // NOLINT: implicit

    [[nodiscard]] bool has_value() const noexcept { return value_.has_value(); }
    [[nodiscard]] explicit operator bool() const noexcept { return has_value(); }
    [[nodiscard]] const T& operator*() const& noexcept { return *value_; }
    [[nodiscard]] T& operator*() & noexcept { return *value_; }
    [[nodiscard]] T&& operator*() && noexcept { return *std::move(value_); }
    [[nodiscard]] const T* operator->() const& noexcept { return &*value_; }
    const T* operator->() const&& = delete;  // what it points at would be gone: keep the lookup in a variable first
    /// Why there is no value: only where there is none.  Lives as long as this.
    [[nodiscard]] const lookup_error& failure() const noexcept { return *failure_; }

private:
    std::optional<T> value_;
    std::optional<lookup_error> failure_;  // made only where it is needed: most look-ups find something
};

namespace detail {

/// What throw_failure() would throw, in its words.
[[nodiscard]] std::string words_of(const lookup_error& failure, const std::string& tensor, step_number step, mode in);

}  // namespace detail

/// Throws the error that a failed look-up stands for.
[[noreturn]] void throw_failure(const lookup_error& failure);

namespace detail {

/// The value, or the error that the failure stands for.
template <class T>
[[nodiscard]] T or_throw(lookup<T> found) {
    if (!found) {
        throw_failure(found.failure());
    }
    return *std::move(found);
}

}  // namespace detail

/// The same of a failure that does not say what was looked up: `tensor` at `step` of `in`.
[[noreturn]] void throw_failure(const lookup_error& failure, const std::string& tensor, step_number step, mode in);

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/impl/lookup.ipp>
#endif
