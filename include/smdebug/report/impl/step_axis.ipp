// The bodies of <smdebug/report/step_axis.hpp>.
#pragma once

#include <smdebug/report/step_axis.hpp>

#include <algorithm>

namespace smdebug {
inline namespace v1 {
namespace report {
namespace detail {

SMDEBUG_INLINE step_axes::step_axes(const std::vector<axis_step>& steps, std::size_t most_buckets) {
    places_.resize(steps.size());
    for (const mode each : {mode::train, mode::eval, mode::predict, mode::global}) {
        const auto count = static_cast<std::size_t>(
            std::count_if(steps.begin(), steps.end(), [&](const axis_step& one) { return one.mode == each; }));
        if (count == 0) {
            continue;
        }
        step_axis& axis = axes_.emplace_back(step_axis{.mode = each, .steps = count});
        const std::size_t buckets = std::min(count, std::max<std::size_t>(most_buckets, 1));
        std::size_t seen = 0;
        for (std::size_t i = 0; i < steps.size(); ++i) {
            if (steps[i].mode != each) {
                continue;
            }
            const std::size_t bucket = seen++ * buckets / count;
            if (bucket == axis.buckets.size()) {
                axis.buckets.push_back(
                    {.first = steps[i].shown.value_or(steps[i].step), .mode_step = steps[i].mode_step});
            }
            axis.buckets.back().last = steps[i].shown.value_or(steps[i].step);
            ++axis.buckets.back().count;
            places_[i] = {steps[i].step,
                          {static_cast<std::uint32_t>(axes_.size() - 1), static_cast<std::uint32_t>(bucket)}};
        }
    }
}

SMDEBUG_INLINE std::optional<axis_place> step_axes::place_of(step_number step) {
    if (last_ >= places_.size() || places_[last_].step != step) {
        const auto found = std::lower_bound(places_.begin(), places_.end(), step,
                                            [](const place& each, step_number wanted) { return each.step < wanted; });
        if (found == places_.end() || found->step != step) {
            return std::nullopt;
        }
        last_ = static_cast<std::size_t>(found - places_.begin());
    }
    return places_[last_].where;
}

SMDEBUG_INLINE std::vector<step_number> step_axes::some(std::size_t count) const {
    std::vector<step_number> chosen;
    for (std::uint32_t axis = 0; axis < axes_.size(); ++axis) {
        const std::size_t steps = axes_[axis].steps;
        // A mode of few steps has some all the same.
        const std::size_t wanted = std::min(steps, std::max<std::size_t>(count * steps / places_.size(), 8));
        std::size_t seen = 0;
        std::size_t taken = 0;
        for (const place& each : places_) {
            if (each.where.axis != axis) {
                continue;
            }
            const std::size_t next = wanted > 1 ? taken * (steps - 1) / (wanted - 1) : steps - 1;
            if (taken < wanted && seen++ == next) {
                chosen.push_back(each.step);
                ++taken;
            }
        }
    }
    std::sort(chosen.begin(), chosen.end());
    return chosen;
}

}  // namespace detail
}  // namespace report
}  // namespace v1
}  // namespace smdebug
