// The bodies of <smdebug/trial/load/step_wait.hpp> that are templates.
#pragma once

#include <smdebug/storage/concepts.hpp>
#include <smdebug/trial/load/step_wait.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {

template <class State>
step_wait<State>::step_wait(const State& state, const wait_options& how)
    : state_(state),
      give_up_after_(how.give_up_after),
      pauses_(look_interval(state.store(), state.options().poll_interval), how.timeout, how.stop, state.options().stop,
              state.step_signals(), &state.step_feeds()) {}

template <class State>
std::shared_ptr<const catalog> step_wait<State>::look() {
    auto newest = state_.refreshed(pauses_.begin_look());
    pauses_.end_look();
    return newest;
}

template <class State>
bool step_wait<State>::given_up() const {
    return give_up_after_ && state_.quiet_time() >= *give_up_after_;
}

template <class State>
wait_outcome step_wait<State>::pause() {
    return pauses_.pause(state_.look_by(give_up_after_));
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
