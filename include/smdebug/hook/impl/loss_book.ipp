// The bodies of <smdebug/hook/loss_book.hpp>.
#pragma once

#include <smdebug/core/first_failure.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/hook/loss_book.hpp>
#include <smdebug/index/locations.hpp>

#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE void loss_book::note(std::span<const lost_write> lost, std::string_view uncounted) {
    first_failure failure;
    for (const lost_write& file : lost) {
        // With its events or its index a step is lost, with another file none.
        if (file.key.starts_with(locations::events_folder) || file.key.starts_with(locations::index_folder)) {
            counters_.steps -= file.key == uncounted ? 0U : 1U;
            ++counters_.lost_steps;
        }
        failure.attempt(
            [&] { attempt([&] { std::rethrow_exception(file.why); }, [&] { return file.key + " is lost"; }); });
    }
    failure.rethrow();
}

SMDEBUG_INLINE void loss_book::note_abandoned(const std::string& sentence) {
    ++counters_.lost_steps;
    counters_.last_loss = sentence;
}

SMDEBUG_INLINE void loss_book::note_dropped(const std::string& sentence) {
    ++counters_.dropped_tensors;
    call(printable(sentence));
}

SMDEBUG_INLINE void loss_book::give_up(const std::string& loss) {
    tell(printable(loss));
    if (options_->on_failure == failure_policy::raise) {
        throw;
    }
}

SMDEBUG_INLINE void loss_book::tell(const std::string& loss) {
    counters_.last_loss = loss;
    if (options_->on_failure == failure_policy::drop) {
        call(loss);
    }
}

SMDEBUG_INLINE void loss_book::call(const std::string& sentence) {
    if (options_->on_drop && !std::exchange(calling_, true)) {
        try {
            options_->on_drop(sentence);
        } catch (...) {
        }
        calling_ = false;
    }
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
