// The bodies of <smdebug/trial/environment.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/trial/environment.hpp>

#include <charconv>
#include <cstdlib>
#include <string>
#include <system_error>

namespace smdebug {
inline namespace v1 {
namespace environment {

SMDEBUG_INLINE int number(const std::optional<int>& option, const char* name, int otherwise, int least) {
    int value = option.value_or(otherwise);
    std::string seen = std::to_string(value);
    bool good = true;
    // Read once, at opening; nobody else in this library writes the environment.
    if (const char* text = option ? nullptr : std::getenv(name)) {  // NOLINT(concurrency-mt-unsafe)
        seen = text;
        const auto [end, code] = std::from_chars(seen.data(), seen.data() + seen.size(), value);
        good = code == std::errc{} && end == seen.data() + seen.size();
    }
    if (!good || value < least) {
        throw value_error(std::string{name} + " must be a whole number, " + std::to_string(least) +
                          " or more; it is \"" + seen + "\"");
    }
    return value;
}

SMDEBUG_INLINE std::chrono::milliseconds delay(const std::optional<std::chrono::milliseconds>& option,
                                               const char* name) {
    constexpr double longest = 1e9;  // seconds: beyond it nobody waits
    double seconds = 0;
    std::string seen;
    bool good = true;
    if (option) {
        seconds = std::chrono::duration<double>(*option).count();
        seen = std::to_string(seconds);
    } else if (const char* text = std::getenv(name)) {  // NOLINT(concurrency-mt-unsafe)
        seen = text;
        const auto [end, code] = std::from_chars(seen.data(), seen.data() + seen.size(), seconds);
        good = code == std::errc{} && end == seen.data() + seen.size();
    }
    if (!good || !(seconds >= 0 && seconds <= longest)) {
        throw value_error(std::string{name} + " must be a number of seconds, 0 or more; it is \"" + seen + "\"");
    }
    return std::chrono::round<std::chrono::milliseconds>(std::chrono::duration<double>(seconds));
}

}  // namespace environment

SMDEBUG_INLINE detail::settled_options::settled_options(const trial_options& options)
    : incomplete_step_wait_window(
          environment::number(options.incomplete_step_wait_window, environment::incomplete_step_wait_window, 1000, 2)),
      missing_event_file_retry_limit(environment::number(options.missing_event_file_retry_limit,
                                                         environment::missing_event_file_retry_limit, 10, 0)),
      training_end_delay_refresh(
          environment::delay(options.training_end_delay_refresh, environment::training_end_delay_refresh)) {
    if (!options.range.valid()) {
        throw value_error(
            "range_steps should be of the form (begin, end) where begin is less than end, and neither is negative");
    }
}

}  // namespace v1
}  // namespace smdebug
