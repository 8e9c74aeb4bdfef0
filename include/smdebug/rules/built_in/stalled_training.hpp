// The built-in rule StalledTrainingRule: a job that has not ended has saved nothing new for too long.
// Source: the public description of SageMaker Debugger's rule StalledTrainingRule.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/rules/concepts.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/trial/concepts.hpp>

#include <chrono>
#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace rules {

/// Fires while the next step is waited for (see polled_rule), once the last new one is longer than `threshold` seconds
/// ago, or the start where there was none, and the run has not ended; once for each stall, with the last step or -1.
/// A step that was saved before the rule saw it counts from when it is seen.  A job that saves less often than every
/// `threshold` seconds fires, too.
/// The rule stops no job: stop_request() says which jobs its host is to stop when it has fired.
/// Cost: none; it looks at no tensor.  A trial that does not say whether it has ended (loaded_all_steps) never has.
struct stalled_training {
    double threshold = 1800;
    bool stop_training_on_fire = false;
    std::string training_job_name_prefix = {};
    /// The clock.
    std::function<std::chrono::steady_clock::time_point()> clock = [] { return std::chrono::steady_clock::now(); };

    /// The last new step, and when it was seen.
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
    template <class R = stalled_training>
    [[nodiscard]] static constexpr auto settings() {
        return std::tuple{setting{"threshold", &R::threshold, "seconds without a new step after which it fires"},
                          setting{"stop_training_on_fire", &R::stop_training_on_fire,
                                  "ask for the job to be stopped; needs training_job_name_prefix"},
                          setting{"training_job_name_prefix", &R::training_job_name_prefix,
                                  "what the name of the job to stop begins with"}};
    }

    /// Errors: value_error, insufficient_information_for_rule_invocation.
    void check() const;

    /// Which jobs are to be stopped where it has fired: those whose names begin so.  Nothing if none is.
    [[nodiscard]] std::optional<std::string> stop_request() const;

    /// Time counts from here.
    void start();

    /// Notes that a new step was seen.  Never a finding: a job with a new step is not stalled.
    [[nodiscard]] std::vector<finding> operator()(const readable_trial auto& /*run*/, step_number step) {
        so_far.last_time = clock();
        so_far.last_step = step;
        so_far.reported = false;
        return {};
    }

    /// The finding, once for each stall.  Without start() time counts from the first call of any kind.
    [[nodiscard]] std::optional<finding> while_waiting(const readable_trial auto& run) {
        const auto now = clock();
        if (!so_far.last_time) {
            so_far.last_time = now;
        }
        const double quiet = std::chrono::duration<double>(now - *so_far.last_time).count();
        if (so_far.reported || !(quiet > threshold) || has_ended(run)) {
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

    /// How often while_waiting is worth a call: ten times in `threshold`, within reason.
    [[nodiscard]] std::chrono::milliseconds poll_interval() const;

private:
    [[nodiscard]] static bool has_ended(const auto& run) {
        if constexpr (requires {
                          { run.loaded_all_steps() } -> std::convertible_to<bool>;
                      }) {
            return run.loaded_all_steps();
        } else {
            return false;
        }
    }
};

}  // namespace rules
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/rules/built_in/impl/stalled_training.ipp>
#endif
