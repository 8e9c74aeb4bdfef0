// One wait for new steps of a trial: the one place that knows how a look, a feed of changes and a pause go together.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/load/wait.hpp>
#include <smdebug/trial/options.hpp>

#include <chrono>
#include <memory>
#include <optional>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// look(), and while that does not show what is waited for: given_up(), pause(), look() again.
/// `State` is the trial's trial_state, which is borrowed.  One thread uses it.
class step_wait {
public:
    /// The mode in `how` does not count.
    step_wait(const trial_state& state, const wait_options& how);

    /// The newest catalog after a look at what has changed.  Errors: what a refresh throws; nothing is lost then.
    [[nodiscard]] std::shared_ptr<const catalog> look();

    /// Whether nothing new has come for as long as was to be waited.
    [[nodiscard]] bool given_up() const;

    /// Sleeps until it is worth looking again.
    [[nodiscard]] wait_outcome pause();

private:
    const trial_state& state_;
    std::optional<std::chrono::milliseconds> give_up_after_;
    waiter pauses_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/read/impl/step_wait.ipp>
#endif
