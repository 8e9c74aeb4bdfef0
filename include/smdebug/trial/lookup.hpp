// What a look-up on a trial says when there is nothing: why, as a value.  Throwing calls are made of these.
// A scan over a million steps must not pay for exceptions.
// Used by: trial/trial_state.hpp, trial/tensor_handle.hpp, rules.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/core/step.hpp>

#include <cstdint>
#include <exception>
#include <new>
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

/// Why, and where.
struct lookup_failure {
    absence why = absence::tensor_not_saved;
    bool has_reductions = false;    ///< the values are not there, but saved reductions are
    status damage = status::ok;     ///< of a damaged record
    std::uint64_t offset = 0;       ///< of a damaged record, in `where`
    std::string where = {};         ///< the event file, or the worker that is not there
    std::string note = {};          ///< words that only the place of failure knows
    std::exception_ptr cause = {};  ///< of what is unreadable: the storage error
};

/// Whether the index promises what could not be read: the event file is gone, damaged, or the storage failed.  What was
/// not saved, or not as asked for, is not lost.
[[nodiscard]] inline bool is_lost(const lookup_failure& failure) noexcept {
    switch (failure.why) {
        case absence::event_file_missing:
        case absence::unreadable:
        case absence::damaged:
            return true;
        case absence::shape_not_saved:  // `where`: the event file whose values would tell
            return !failure.where.empty();
        case absence::tensor_not_saved:
        case absence::step_not_saved:
        case absence::step_not_yet_available:
        case absence::no_such_worker:
        case absence::wrong_dtype:
        case absence::not_computed:
            break;
    }
    return false;
}

/// The same of an error, of those that throw_failure() throws.
[[nodiscard]] inline bool is_lost(const error& failed) noexcept {
    if (dynamic_cast<const tensor_unavailable_for_step*>(&failed) != nullptr) {
        return !failed.where().empty();  // of an event file that is missing
    }
    const bool may_come = dynamic_cast<const step_not_yet_available*>(&failed) != nullptr ||
                          dynamic_cast<const timed_out*>(&failed) != nullptr ||
                          dynamic_cast<const stopped*>(&failed) != nullptr;
    return dynamic_cast<const corrupt_data*>(&failed) != nullptr ||
           dynamic_cast<const access_denied*>(&failed) != nullptr ||
           (!may_come && dynamic_cast<const unavailable*>(&failed) != nullptr);
}

/// The failure that the exception at hand stands for, which came of reading a record.  Called while it is handled.
[[nodiscard]] inline lookup_failure failure_at_hand(std::string where, std::uint64_t offset) {
    lookup_failure failure{.why = absence::unreadable, .offset = offset, .where = std::move(where)};
    try {
        throw;
    } catch (const corrupt_data& damage) {
        failure.why = absence::damaged;
        failure.note = damage.message();
    } catch (const error& failed) {
        failure.note = failed.message();
        failure.cause = std::current_exception();
    } catch (const std::bad_alloc&) {
        failure.note = "not enough memory to read it";
    } catch (const std::exception& failed) {
        failure.note = failed.what();
    }
    return failure;
}

/// A value, or why there is none.
template <class T>
class [[nodiscard]] lookup {
public:
    lookup(T value) : value_(std::move(value)) {}                     // NOLINT: implicit
    lookup(lookup_failure failure) : failure_(std::move(failure)) {}  // NOLINT: implicit
    lookup(absence why) : failure_{.why = why} {}                     // NOLINT: implicit

    [[nodiscard]] bool has_value() const noexcept { return value_.has_value(); }
    [[nodiscard]] explicit operator bool() const noexcept { return has_value(); }
    [[nodiscard]] const T& operator*() const& noexcept { return *value_; }
    [[nodiscard]] T& operator*() & noexcept { return *value_; }
    [[nodiscard]] T&& operator*() && noexcept { return *std::move(value_); }
    [[nodiscard]] const T* operator->() const noexcept { return &*value_; }
    /// Only where there is no value.
    [[nodiscard]] const lookup_failure& failure() const noexcept { return failure_; }

private:
    std::optional<T> value_;
    lookup_failure failure_;
};

/// Throws the error that a failed look-up of `tensor` at `step` of `in` stands for.
[[noreturn]] inline void throw_failure(const lookup_failure& failure, const std::string& tensor, step_number step,
                                       mode in) {
    switch (failure.why) {
        case absence::tensor_not_saved:
            throw tensor_unavailable_for_step(tensor, step, in, failure.has_reductions);
        case absence::event_file_missing:
            throw tensor_unavailable_for_step(tensor, step, in, false,
                                              "as its event file " + failure.where + " is missing.", failure.where);
        case absence::step_not_saved:
            throw step_unavailable(step, in);
        case absence::step_not_yet_available:
            throw step_not_yet_available(step, in);
        case absence::no_such_worker:
            throw invalid_worker(failure.where,
                                 {.tensor = tensor, .step = step, .step_mode = in, .worker = failure.where});
        case absence::shape_not_saved:
            throw shape_unavailable_for_step(tensor, step, in);
        case absence::unreadable:
            if (failure.cause) {
                std::rethrow_exception(failure.cause);
            }
            throw unavailable(
                failure.where + ", record at byte " + std::to_string(failure.offset) + ": " + failure.note +
                    ". Tensor " + tensor + " of step " + std::to_string(step) + " (" + std::string{name_of(in)} +
                    ") cannot be read now.",
                {.where = failure.where, .offset = failure.offset, .tensor = tensor, .step = step, .step_mode = in});
        case absence::damaged:
            throw corrupt_record(
                failure.where + ", record at byte " + std::to_string(failure.offset) + ": " +
                    (failure.note.empty() ? std::string{describe(failure.damage)} : failure.note) + ". Tensor " +
                    tensor + " of step " + std::to_string(step) + " (" + std::string{name_of(in)} +
                    ") cannot be read; everything else of the run still can.",
                {.where = failure.where, .offset = failure.offset, .tensor = tensor, .step = step, .step_mode = in});
        case absence::wrong_dtype:
            throw type_error(failure.note, {.tensor = tensor, .step = step, .step_mode = in});
        case absence::not_computed:
            throw unsupported(failure.note, {.tensor = tensor, .step = step, .step_mode = in});
    }
    throw error(error_name{"Error"}, "unknown failure");
}

}  // namespace v1
}  // namespace smdebug
