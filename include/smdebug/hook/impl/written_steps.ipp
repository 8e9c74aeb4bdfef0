// The bodies of <smdebug/hook/written_steps.hpp>.
#pragma once

#include <smdebug/hook/written_steps.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE void written_steps::add(mode which, step_number in_mode, step_number global) {
    if (global <= last_) {
        forget(global);
    }
    last_ = std::max(last_, global);
    std::vector<entry>& steps = of(which);
    const auto place = place_in(steps, in_mode);
    if (place != steps.end() && place->in_mode == in_mode) {
        place->global = global;
    } else {
        steps.insert(place, {in_mode, global});
    }
}

SMDEBUG_INLINE void written_steps::forget(step_number global) {
    for (std::vector<entry>& steps : by_mode_) {
        const auto place =
            std::find_if(steps.begin(), steps.end(), [&](const entry& one) { return one.global == global; });
        if (place != steps.end()) {
            steps.erase(place);
        }
    }
}

SMDEBUG_INLINE std::optional<step_number> written_steps::global_of(mode which, step_number in_mode) const {
    const std::vector<entry>& steps = by_mode_[place_of(which)];
    const auto place = place_in(steps, in_mode);
    return place != steps.end() && place->in_mode == in_mode ? std::optional{place->global} : std::nullopt;
}

SMDEBUG_INLINE std::optional<step_number> written_steps::last(mode which) const {
    const std::vector<entry>& steps = by_mode_[place_of(which)];
    return steps.empty() ? std::nullopt : std::optional{steps.back().in_mode};
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
