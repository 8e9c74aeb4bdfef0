// The built-in rule StalledTrainingRule: a job that has not ended has saved no new step for too long.
// Source: the public description of SageMaker Debugger's rule StalledTrainingRule.
#pragma once

#include <smdebug/core/json_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/rules/concepts.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/judge/check_settings.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/trial/trial.hpp>

#include <algorithm>
#include <chrono>
#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules {

/// Fires while the next step is waited for (see polled_rule), if the run has not ended and its last new step, or the
/// start if there was none, is more than `threshold` seconds ago; once for each stall, with the last step or -1.
/// A step that was saved before the rule was called with it counts from that call.  A job that saves less often than
/// every `threshold` seconds fires, too.
/// The rule stops no job: after it has fired, stop_request() returns the jobs that its host is to stop.
/// Cost: none; it reads no tensor.
struct stalled_training {
    double threshold = 1800;
    bool stop_training_on_fire = false;
    std::string training_job_name_prefix = {};
    /// The clock.
    std::function<std::chrono::steady_clock::time_point()> clock = [] { return std::chrono::steady_clock::now(); };

    /// The last new step, and when the rule was called with it.
    struct history {
    private:
        friend struct stalled_training;
        std::optional<std::chrono::steady_clock::time_point> last_time;
        step_number last_step = -1;
        bool reported = false;  ///< whether the current stall was
    };
    history so_far = {};  ///< state between steps, kept by the rule

    [[nodiscard]] static constexpr std::string_view name() noexcept { return "stalled_training"; }
    [[nodiscard]] static constexpr std::string_view service_name() noexcept { return "StalledTrainingRule"; }
    [[nodiscard]] static constexpr std::string_view summary() noexcept {
        return "a job that has not ended has saved nothing new for too long";
    }
    template <class Rule = stalled_training>
    [[nodiscard]] static constexpr auto settings() {
        return std::tuple{
            setting{"threshold", &Rule::threshold, "fires if there was no new step for more than this many seconds"},
            setting{"stop_training_on_fire", &Rule::stop_training_on_fire,
                    "ask for the job to be stopped; needs training_job_name_prefix"},
            setting{"training_job_name_prefix", &Rule::training_job_name_prefix,
                    "what the name of the job to stop begins with"}};
    }

    /// Errors: value_error, insufficient_information.
    void check() const;

    /// The jobs to be stopped after it has fired, as a prefix of their names.  None is stopped if it is unset.
    [[nodiscard]] std::optional<std::string> stop_request() const;

    /// Time counts from here.
    void start();

    /// Notes a new step.  Never a finding: a job with a new step is not stalled.
    [[nodiscard]] std::vector<finding> operator()(const std::derived_from<trial> auto& /*run*/, step_number step) {
        so_far.last_time = clock();
        so_far.last_step = step;
        so_far.reported = false;
        return {};
    }

    /// The finding, once for each stall.  Without start() time counts from the first call of any kind.
    [[nodiscard]] std::optional<finding> while_waiting(const std::derived_from<trial> auto& run) {
        const auto now = clock();
        if (!so_far.last_time) {
            so_far.last_time = now;
        }
        const auto since_last = now - *so_far.last_time;
        using unit = typename decltype(since_last)::period;  // not by duration<double>, which -ffast-math rounds
        const double quiet = static_cast<double>(since_last.count()) * unit::num / unit::den;
        if (so_far.reported || !(quiet > threshold) || run.loaded_all_steps()) {
            return std::nullopt;
        }
        so_far.reported = true;
        const std::string since =
            so_far.last_step < 0 ? std::string{}
                                 : ", since step " + std::to_string(smdebug::detail::shown_step(run, so_far.last_step));
        return finding{.met = true,
                       .step = so_far.last_step,
                       .value = quiet,
                       .threshold = threshold,
                       .message = "nothing new was saved for " + short_text(quiet) + " seconds" + since +
                                  "; more than " + short_text(threshold) + " count as a stall"};
    }

    /// A sensible interval of while_waiting: ten times in `threshold`, within limits.
    [[nodiscard]] std::chrono::milliseconds poll_interval() const;
};

inline void stalled_training::check() const {
    detail::check_range(name(), "threshold", threshold, {.infinite = true});
    detail::require_setting(name(), !stop_training_on_fire || !training_job_name_prefix.empty(),
                            "a training_job_name_prefix, without which any job fits,");
}

inline std::optional<std::string> stalled_training::stop_request() const {
    return stop_training_on_fire && !training_job_name_prefix.empty() ? std::optional{training_job_name_prefix}
                                                                      : std::nullopt;
}

inline void stalled_training::start() {
    so_far = {};
    so_far.last_time = clock();
}

inline std::chrono::milliseconds stalled_training::poll_interval() const {
    constexpr double shortest = 10;
    constexpr double longest = 5000;
    const double wanted = threshold * 1000 / 10;
    return std::chrono::milliseconds{
        std::lround(wanted > shortest ? std::min(wanted, longest) : shortest)};  // NaN: the shortest
}

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>
