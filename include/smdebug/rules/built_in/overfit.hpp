// The built-in rule Overfit: a validation loss that stays above the training loss.
// Source: the public description of SageMaker Debugger's rule Overfit.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/judge/loss_values.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/trial/concepts.hpp>
#include <smdebug/trial/options.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules {

/// The steps over which Overfit averages each loss.
enum class loss_window : std::uint8_t {
    phase,       ///< the steps of the mode since the last one of the other mode
    cumulative,  ///< all steps of the mode that the rule was called with
};
/// Decision: the public description mentions means, but not over which steps.
inline constexpr loss_window default_loss_window = loss_window::phase;

/// Fires where (V - T) / |T| > ratio_threshold at the last `patience` EVAL steps that had a loss.
/// With `rise` V must also be above the least V so far by this part of it: a validation loss that still falls, or stays
/// where it is, is none of an overfit model.
/// V is the mean loss of this EVAL phase up to the step, T that of the previous TRAIN phase.  A phase is a run of steps
/// with a loss in one mode; steps of other modes, or without a loss, do not end it.  Without a regex the losses are the
/// collection "losses"; several at one step are averaged.
/// XGBoost's form, for a run with neither TRAIN nor EVAL steps: T and V are the means of the scalars named train... and
/// validation... in the collection "metrics", at each step that has both.
/// Edge cases: no training loss yet: silent.  T = 0: the ratio is infinite if V > 0, else 0.  NaN: not overfit, and
/// patience restarts.  A loss that cannot be read: a note, and the others count.
/// It accumulates from the first step that it is called with: use a new rule for a new walk.  Cost: a few small reads.
struct overfit {
    text_list tensor_regex = {};
    std::int64_t start_step = 0;  ///< a global step; for a log its own step
    std::int64_t patience = 1;
    double ratio_threshold = 0.1;
    loss_window window = default_loss_window;
    std::optional<double> rise = {};

    /// The phases so far, and the number of consecutive overfit steps.
    class history {
        friend overfit;
        std::optional<smdebug::mode> phase_;
        detail::mean_loss train_;
        detail::mean_loss validation_;
        std::int64_t count_ = 0;
        double least_ = std::numeric_limits<double>::infinity();  // validation loss
    };
    history so_far = {};  ///< state between steps, kept by the rule

    [[nodiscard]] static constexpr std::string_view name() noexcept { return "overfit"; }
    [[nodiscard]] static constexpr std::string_view service_name() noexcept { return "Overfit"; }
    [[nodiscard]] static constexpr std::string_view summary() noexcept {
        return "the validation loss stays above the training loss";
    }
    template <class Rule = overfit>
    [[nodiscard]] static constexpr auto settings() {
        return std::tuple{
            setting{"tensor_regex", &Rule::tensor_regex,
                    "regular expressions for names of losses; none: the collection \"losses\"", setting_kind::regexes},
            setting{"start_step", &Rule::start_step, "steps before this one do not count"},
            setting{"patience", &Rule::patience, "at how many validation steps in a row it must be so"},
            setting{"ratio_threshold", &Rule::ratio_threshold,
                    "how far validation may be above training, as a part of training's loss"},
            setting{"rise", &Rule::rise, "how far validation must be above its least loss, too, as a part of that"}};
    }

    void check() const;

    [[nodiscard]] std::vector<finding> operator()(const readable_trial auto& run, step_number step) {
        if (smdebug::detail::shown_step(run, step) < start_step) {
            return {};
        }
        detail::step_losses now = detail::losses_at(run, step, tensor_regex);
        std::vector<finding> findings = std::move(now.notes);
        const std::optional<finding> verdict = now.by_mode ? judge_phases(now) : judge_both(now.train, now.validation);
        if (verdict) {
            findings.push_back(*verdict);
        }
        return findings;
    }

private:
    [[nodiscard]] std::optional<finding> judge_phases(const detail::step_losses& now);

    [[nodiscard]] std::optional<finding> judge_both(const detail::mean_loss& train,
                                                    const detail::mean_loss& validation);
};

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>

#ifndef SMDEBUG_COMPILED
#include <smdebug/rules/built_in/impl/overfit.ipp>
#endif
