// The bodies of <smdebug/trial/lookup.hpp>.
#pragma once

#include <smdebug/trial/lookup.hpp>

#include <new>
#include <variant>

namespace smdebug::inline v1 {

SMDEBUG_INLINE bool is_lost(const lookup_error& failure) noexcept {
    switch (failure.why) {
        case lookup_failure_kind::event_file_missing:
        case lookup_failure_kind::unreadable:
        case lookup_failure_kind::damaged:
            return true;
        case lookup_failure_kind::shape_not_saved:  // `where`: the event file with the values
            return !failure.where.empty();
        case lookup_failure_kind::tensor_not_saved:
        case lookup_failure_kind::step_not_saved:
        case lookup_failure_kind::step_not_yet_available:
        case lookup_failure_kind::no_such_worker:
        case lookup_failure_kind::wrong_dtype:
        case lookup_failure_kind::not_computed:
            break;
    }
    return false;
}

SMDEBUG_INLINE bool detail::may_come(const error& failed) noexcept {
    switch (failed.code()) {
        case error_code::step_not_yet_available:
        case error_code::timed_out:
        case error_code::stalled:
        case error_code::stopped:
            return true;
        default:
            return false;
    }
}

SMDEBUG_INLINE bool is_lost(const error& failed) noexcept {
    if (dynamic_cast<const tensor_unavailable_for_step*>(&failed) != nullptr) {
        return !failed.where().empty();  // set if an event file is missing
    }
    return dynamic_cast<const corrupt_data*>(&failed) != nullptr ||
           dynamic_cast<const access_denied*>(&failed) != nullptr ||
           (dynamic_cast<const unavailable*>(&failed) != nullptr && !detail::may_come(failed));
}

SMDEBUG_INLINE lookup_error failure_from_current_exception(std::string where, std::uint64_t offset) {
    lookup_error failure{.why = lookup_failure_kind::unreadable, .offset = offset, .where = std::move(where)};
    try {
        throw;
    } catch (const corrupt_data& damage) {
        failure.why = lookup_failure_kind::damaged;
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

namespace detail {

// Each has its own type, by which it is caught.
using lookup_exception = std::variant<error, not_found, tensor_unavailable_for_step, step_unavailable,
                                      step_not_yet_available, invalid_worker, unavailable, corrupt_data, unsupported>;

/// The error for a failure, constructed but not thrown: throwing costs more than its text.  Throws the storage's own
/// error.
inline lookup_exception exception_of(const lookup_error& failure, const std::string& tensor, step_number step,
                                     mode in) {
    const auto of_record = [&](const std::string& note, const char* end) {
        return failure.where + ", record at byte " + std::to_string(failure.offset) + ": " + note + ". Tensor " +
               tensor + " of step " + std::to_string(step) + " (" + std::string{name_of(in)} + ") cannot be read" + end;
    };
    const error_context place{
        .where = failure.where, .offset = failure.offset, .tensor = tensor, .step = step, .step_mode = in};
    switch (failure.why) {
        case lookup_failure_kind::tensor_not_saved:
            return tensor_unavailable_for_step(tensor, step, in, failure.has_reductions);
        case lookup_failure_kind::event_file_missing:
            return tensor_unavailable_for_step(tensor, step, in, false,
                                               "as its event file " + failure.where + " is missing.", failure.where);
        case lookup_failure_kind::step_not_saved:
            return step_unavailable(step, in);
        case lookup_failure_kind::step_not_yet_available:
            return step_not_yet_available(step, in);
        case lookup_failure_kind::no_such_worker:
            return invalid_worker(failure.where + failure.note,
                                  {.tensor = tensor, .step = step, .step_mode = in, .worker = failure.where});
        case lookup_failure_kind::shape_not_saved:
            return not_found(error_code::shape_unavailable_for_step,
                             "Shape for tensor " + tensor + " is not available for step " + std::to_string(step) +
                                 " with mode " + std::string{name_of(in)} + " as it was not saved.",
                             {.tensor = tensor, .step = step, .step_mode = in});
        case lookup_failure_kind::unreadable:
            if (failure.cause) {
                std::rethrow_exception(failure.cause);
            }
            return unavailable(of_record(failure.note, " now."), place);
        case lookup_failure_kind::damaged:
            return corrupt_data(error_code::corrupt_record,
                                of_record(failure.note.empty() ? std::string{describe(failure.damage)} : failure.note,
                                          "; everything else of the run still can."),
                                place);
        case lookup_failure_kind::wrong_dtype:
            return unsupported(error_code::wrong_dtype, failure.note,
                               {.tensor = tensor, .step = step, .step_mode = in});
        case lookup_failure_kind::not_computed:
            return unsupported(failure.note, {.tensor = tensor, .step = step, .step_mode = in});
    }
    return error(error_code::other, "unknown failure");
}

SMDEBUG_INLINE std::string what_of(const lookup_error& failure, const std::string& tensor, step_number step, mode in) {
    try {
        return std::visit([](const error& made) { return std::string{made.what()}; },
                          exception_of(failure, tensor, step, in));
    } catch (const std::exception& described) {  // the storage's error
        return described.what();
    }
}

}  // namespace detail

SMDEBUG_INLINE std::string lookup_error::message() const {
    try {
        return std::visit([](const error& made) { return std::string{made.message()}; },
                          detail::exception_of(*this, tensor, step, step_mode));
    } catch (const error& described) {  // the storage's error
        return std::string{described.message()};
    } catch (const std::exception& described) {
        return described.what();
    }
}

SMDEBUG_INLINE void throw_failure(const lookup_error& failure) {
    throw_failure(failure, failure.tensor, failure.step, failure.step_mode);
}

SMDEBUG_INLINE void throw_failure(const lookup_error& failure, const std::string& tensor, step_number step, mode in) {
    std::visit([](const auto& made) { throw made; }, detail::exception_of(failure, tensor, step, in));
    std::terminate();  // not reached
}

}  // namespace smdebug::inline v1
