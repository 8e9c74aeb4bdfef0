// The bodies of <smdebug/rules/drive/step_walk.hpp> that are templates.
#pragma once

#include <smdebug/rules/drive/step_walk.hpp>
#include <smdebug/trial/refresh_guard.hpp>

#include <algorithm>
#include <span>

namespace smdebug {
inline namespace v1 {
namespace detail {

template <class Trial>
std::optional<step_number> step_walk<Trial>::next(step_number from) {
    for (const bool asked : {false, true}) {
        if (asked) {
            steps_ = known_steps();
            place_ = 0;
        }
        while (place_ < steps_.size() && steps_[place_] < from) {
            ++place_;
        }
        if (place_ < steps_.size()) {
            return steps_[place_];
        }
    }
    return std::nullopt;
}

template <class Trial>
void step_walk<Trial>::read_ahead(std::optional<step_number> end) {
    if constexpr (reads_steps_ahead<Trial>) {
        const std::span coming{std::span{steps_}.subspan(std::min(place_ + 1, steps_.size()))};
        ahead_.advance(coming, [&](step_number next) {
            const bool is_wanted = !end || next < *end;
            if (is_wanted) {
                run_.read_ahead(next);
            }
            return is_wanted;
        });
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
