// The bodies of <smdebug/rules/built_in/stalled_training.hpp>.
#pragma once

#include <smdebug/rules/built_in/stalled_training.hpp>

#include <algorithm>
#include <cmath>

namespace smdebug {
inline namespace v1 {
namespace rules {

SMDEBUG_INLINE void stalled_training::check() const {
    if (!(threshold >= 0)) {
        throw value_error("stalled_training: threshold is " + short_text(threshold) +
                          "; it must be a number of seconds that is not below 0");
    }
    if (stop_training_on_fire && training_job_name_prefix.empty()) {
        throw insufficient_information_for_rule_invocation{
            "stalled_training", "stop_training_on_fire needs a training_job_name_prefix: without one any job fits"};
    }
}

SMDEBUG_INLINE std::optional<std::string> stalled_training::stop_request() const {
    return stop_training_on_fire && !training_job_name_prefix.empty() ? std::optional{training_job_name_prefix}
                                                                      : std::nullopt;
}

SMDEBUG_INLINE void stalled_training::start() {
    so_far = {};
    so_far.last_time = clock();
}

SMDEBUG_INLINE std::chrono::milliseconds stalled_training::poll_interval() const {
    constexpr double shortest = 10;
    constexpr double longest = 5000;
    const double wanted = threshold * 1000 / 10;
    return std::chrono::milliseconds{
        std::lround(wanted > shortest ? std::min(wanted, longest) : shortest)};  // NaN: the shortest
}

}  // namespace rules
}  // namespace v1
}  // namespace smdebug
