// The bodies of <smdebug/trial/read/step_wait.hpp>.
#pragma once

#include <smdebug/storage/concepts.hpp>
#include <smdebug/trial/read/step_wait.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE step_wait::step_wait(const trial_state& state, const wait_options& how)
    : state_(state),
      give_up_after_(how.give_up_after),
      pauses_(look_interval(state.store(), state.options().poll_interval), how.timeout, how.stop, state.options().stop,
              state.step_signals(), &state.step_feeds()) {}

SMDEBUG_INLINE std::shared_ptr<const catalog> step_wait::look() {
    auto newest = state_.refreshed(pauses_.begin_look());
    pauses_.end_look();
    return newest;
}

SMDEBUG_INLINE bool step_wait::given_up() const { return give_up_after_ && state_.quiet_time() >= *give_up_after_; }

SMDEBUG_INLINE wait_outcome step_wait::pause() { return pauses_.pause(state_.look_by(give_up_after_)); }

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
