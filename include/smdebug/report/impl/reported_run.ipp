// The bodies of <smdebug/report/reported_run.hpp>.
#pragma once

#include <smdebug/report/reported_run.hpp>

#include <algorithm>

namespace smdebug {
inline namespace v1 {
namespace report {
namespace detail {

SMDEBUG_INLINE room_of_run room_for(std::size_t steps, std::size_t tensors_of_modes, std::size_t tensors,
                                    std::size_t workers, std::size_t bytes) {
    constexpr std::size_t row = 44;             // bytes of a bucket of a series, most often
    constexpr std::size_t spread = 54;          // of a distribution
    constexpr std::size_t most_buckets = 2048;  // no screen has more to show
    constexpr std::size_t most_distributions = 64;
    constexpr std::size_t least_buckets = 24;
    room_of_run room{.buckets = std::max<std::size_t>(std::min(steps, most_buckets), 1), .tensors = tensors};
    const std::size_t for_rows = bytes - bytes / 5;
    std::size_t series = std::max<std::size_t>(tensors_of_modes, 1) * workers;
    const std::size_t least = std::min(least_buckets, room.buckets) * row;
    if (workers > 1 && series * least > for_rows) {
        room.merge_workers = true;
        series /= workers;
    }
    if (series * least > for_rows) {
        room.tensors = std::max<std::size_t>(tensors * (for_rows / least) / series, 1);
        series = for_rows / least;
    }
    room.buckets = std::clamp<std::size_t>(for_rows / (series * row), 1, room.buckets);
    room.distributions = std::clamp<std::size_t>(bytes / 5 / (series * spread), 2, most_distributions);
    return room;
}

SMDEBUG_INLINE std::vector<axis_step> steps_of(const smdebug::detail::catalog& from, const tensor_selection& which) {
    std::vector<axis_step> steps;
    for (const auto& entry : from.steps) {
        if (which.range.contains(entry.step) && (which.mode == mode::global || which.mode == entry.mode)) {
            steps.push_back({.step = entry.step,
                             .mode_step = entry.mode_step,
                             .mode = entry.mode,
                             .shown = from.shown_step(entry)});
        }
    }
    return steps;
}

}  // namespace detail
}  // namespace report
}  // namespace v1
}  // namespace smdebug
