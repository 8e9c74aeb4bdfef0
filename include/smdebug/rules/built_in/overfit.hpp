// The built-in rule Overfit: a validation loss that stays above the training loss.
// Source: the public description of SageMaker Debugger's rule Overfit.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/judge/check_settings.hpp>
#include <smdebug/rules/judge/loss_values.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/trial.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
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
/// Edge cases: without a training loss it is silent.  If T is 0, the ratio is infinite if V > 0, else 0.  NaN is not
/// overfit, and patience restarts.  A loss that cannot be read is a note, and the others count.
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

    [[nodiscard]] std::vector<finding> operator()(const std::derived_from<trial> auto& run, step_number step) {
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

inline void overfit::check() const {
    detail::check_range(name(), "start_step", start_step);
    detail::check_range(name(), "patience", patience, {.least = 1});
    detail::check_range(name(), "rise", rise, {.infinite = true});
    detail::check_range(name(), "ratio_threshold", ratio_threshold, detail::any_number);
}

inline std::optional<finding> overfit::judge_phases(const detail::step_losses& now) {
    const bool training = now.train.count > 0;
    if (!training && now.validation.count == 0) {
        return std::nullopt;
    }
    const smdebug::mode in = training ? mode::train : mode::eval;
    detail::mean_loss& mean = training ? so_far.train_ : so_far.validation_;
    if (so_far.phase_ != in && window == loss_window::phase) {
        mean = {};
    }
    so_far.phase_ = in;
    const detail::mean_loss& loss = training ? now.train : now.validation;
    mean.add(loss.mean(), loss.tensor, loss.worker);
    if (training) {
        return std::nullopt;
    }
    detail::mean_loss validation = so_far.validation_;
    validation.tensor = loss.tensor;
    validation.worker = loss.worker;
    return judge_both(so_far.train_, validation);
}

inline std::optional<finding> overfit::judge_both(const detail::mean_loss& train, const detail::mean_loss& validation) {
    if (train.count == 0 || validation.count == 0) {
        return std::nullopt;
    }
    const double t = train.mean();
    const double v = validation.mean();
    const double ratio = t == 0 ? (v > 0 ? std::numeric_limits<double>::infinity() : 0) : (v - t) / std::abs(t);
    so_far.least_ = std::min(so_far.least_, v);
    const bool rose = !rise || v > so_far.least_ + *rise * std::abs(so_far.least_);
    so_far.count_ = ratio > ratio_threshold && rose ? so_far.count_ + 1 : 0;
    if (so_far.count_ < patience) {
        return std::nullopt;
    }
    std::string message = "the validation loss " + short_text(v) + " is " + short_text(100 * ratio) +
                          "% above the training loss " + short_text(t);
    if (so_far.count_ > 1) {
        message += ", for " + std::to_string(so_far.count_) + " validation steps in a row";
    }
    return finding{.met = true,
                   .tensor = validation.tensor,
                   .worker = validation.worker,
                   .value = ratio,
                   .threshold = ratio_threshold,
                   .message = std::move(message)};
}

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>
