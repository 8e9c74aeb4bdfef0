// The environment variables of the Python package, as fall-backs of options.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/trial/options.hpp>

#include <chrono>
#include <optional>

namespace smdebug {
inline namespace v1 {

namespace environment {

inline constexpr const char* incomplete_step_wait_window = "SMDEBUG_INCOMPLETE_STEP_WAIT_WINDOW";
inline constexpr const char* training_end_delay_refresh = "SMDEBUG_TRAINING_END_DELAY_REFRESH";
inline constexpr const char* missing_event_file_retry_limit = "SMDEBUG_MISSING_EVENT_FILE_RETRY_LIMIT";

/// The option, else the environment variable of that name, else `otherwise`; never below `least`.
/// Errors: value_error, naming the variable and what it holds.
[[nodiscard]] int number(const std::optional<int>& option, const char* name, int otherwise, int least);

/// The option, else the environment variable of that name, which counts in seconds and may have a fraction; else 0.
/// Errors: value_error, naming the variable and what it holds.
[[nodiscard]] std::chrono::milliseconds delay(const std::optional<std::chrono::milliseconds>& option, const char* name);

}  // namespace environment

namespace detail {

/// trial_options after the environment has had its say, checked.
struct settled_options {
    int incomplete_step_wait_window = 0;
    int missing_event_file_retry_limit = 0;
    std::chrono::milliseconds training_end_delay_refresh{0};

    /// Errors: value_error for a range or a number that cannot be right.
    explicit settled_options(const trial_options& options);
};

}  // namespace detail

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/impl/environment.ipp>
#endif
