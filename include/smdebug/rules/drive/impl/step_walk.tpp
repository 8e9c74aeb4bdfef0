// The bodies of <smdebug/rules/drive/step_walk.hpp> that are templates.
#pragma once

#include <smdebug/rules/drive/step_walk.hpp>
#include <smdebug/trial/refresh_guard.hpp>

#include <algorithm>

namespace smdebug {
inline namespace v1 {
namespace detail {

template <class Trial>
std::optional<step_number> step_walk<Trial>::next(step_number from) {
    for (const bool asked : {false, true}) {
        if (asked) {
            steps_ = known_steps();
            at_ = 0;
        }
        while (at_ < steps_.size() && steps_[at_] < from) {
            ++at_;
        }
        if (at_ < steps_.size()) {
            return steps_[at_];
        }
    }
    return std::nullopt;
}

template <class Trial>
void step_walk<Trial>::read_ahead(std::optional<step_number> end) {
    if constexpr (reads_steps_ahead<Trial>) {
        const std::size_t last = std::min(at_ + 1 + steps_ahead, steps_.size());
        for (std::size_t i = at_ + 1; i < last && (!end || steps_[i] < *end); ++i) {
            if (steps_[i] >= not_told_) {
                run_.read_ahead(steps_[i]);
                not_told_ = steps_[i] + 1;
            }
        }
    }
}

template <class Trial>
std::vector<step_number> step_walk<Trial>::known_steps() const {
    const steps_options all{.show_incomplete_steps = true};
    if constexpr (waits_for_steps<Trial> && refreshable_trial<Trial>) {
        const no_refresh guard{run_};
        return run_.steps(all);
    } else {
        return run_.steps(all);
    }
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
