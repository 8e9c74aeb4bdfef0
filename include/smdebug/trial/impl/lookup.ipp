// The bodies of <smdebug/trial/lookup.hpp>.
#pragma once

#include <smdebug/trial/lookup.hpp>

#include <new>

namespace smdebug {
inline namespace v1 {

SMDEBUG_INLINE bool is_lost(const lookup_error& failure) noexcept {
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

SMDEBUG_INLINE bool is_lost(const error& failed) noexcept {
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

SMDEBUG_INLINE lookup_error failure_at_hand(std::string where, std::uint64_t offset) {
    lookup_error failure{.why = absence::unreadable, .offset = offset, .where = std::move(where)};
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

namespace detail {

/// Gives the error that a failure stands for to take(), which does not return to here; throwing is dear where words are
/// all that is wanted.
template <class Take>
auto with_error(const lookup_error& failure, const std::string& tensor, step_number step, mode in, Take&& take) {
    switch (failure.why) {
        case absence::tensor_not_saved:
            return take(tensor_unavailable_for_step(tensor, step, in, failure.has_reductions));
        case absence::event_file_missing:
            return take(tensor_unavailable_for_step(
                tensor, step, in, false, "as its event file " + failure.where + " is missing.", failure.where));
        case absence::step_not_saved:
            return take(step_unavailable(step, in));
        case absence::step_not_yet_available:
            return take(step_not_yet_available(step, in));
        case absence::no_such_worker:
            return take(invalid_worker(failure.where + failure.note,
                                       {.tensor = tensor, .step = step, .step_mode = in, .worker = failure.where}));
        case absence::shape_not_saved:
            return take(shape_unavailable_for_step(tensor, step, in));
        case absence::unreadable:
            if (failure.cause) {
                std::rethrow_exception(failure.cause);
            }
            return take(unavailable(
                failure.where + ", record at byte " + std::to_string(failure.offset) + ": " + failure.note +
                    ". Tensor " + tensor + " of step " + std::to_string(step) + " (" + std::string{name_of(in)} +
                    ") cannot be read now.",
                {.where = failure.where, .offset = failure.offset, .tensor = tensor, .step = step, .step_mode = in}));
        case absence::damaged:
            return take(corrupt_record(
                failure.where + ", record at byte " + std::to_string(failure.offset) + ": " +
                    (failure.note.empty() ? std::string{describe(failure.damage)} : failure.note) + ". Tensor " +
                    tensor + " of step " + std::to_string(step) + " (" + std::string{name_of(in)} +
                    ") cannot be read; everything else of the run still can.",
                {.where = failure.where, .offset = failure.offset, .tensor = tensor, .step = step, .step_mode = in}));
        case absence::wrong_dtype:
            return take(type_error(failure.note, {.tensor = tensor, .step = step, .step_mode = in}));
        case absence::not_computed:
            return take(unsupported(failure.note, {.tensor = tensor, .step = step, .step_mode = in}));
    }
    return take(error(error_name{"Error"}, "unknown failure"));
}

SMDEBUG_INLINE std::string words_of(const lookup_error& failure, const std::string& tensor, step_number step, mode in) {
    try {
        return with_error(failure, tensor, step, in, [](const error& made) { return std::string{made.what()}; });
    } catch (const std::exception& described) {  // the storage's error
        return described.what();
    }
}

}  // namespace detail

SMDEBUG_INLINE std::string lookup_error::message() const {
    try {
        return detail::with_error(*this, tensor, step, step_mode,
                                  [](const error& made) { return std::string{made.message()}; });
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
    detail::with_error(failure, tensor, step, in, [](const auto& made) { throw made; });
    std::terminate();  // not reached
}

}  // namespace v1
}  // namespace smdebug
