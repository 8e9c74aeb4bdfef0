// The built-in rule Overfit: a validation loss that stays above the training loss.
// Source: the public description of SageMaker Debugger's rule Overfit.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/judge/loss_values.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/trial/concepts.hpp>
#include <smdebug/trial/options.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace smdebug::inline v1::rules {

namespace detail {

/// The steps over which Overfit averages each loss.
enum class loss_window : std::uint8_t {
    phase,       ///< the steps of the mode since the last one of the other mode
    cumulative,  ///< all steps of the mode that the rule was called with
};

}  // namespace detail
/// Decision: the public description mentions means, but not over which steps.
inline constexpr detail::loss_window default_loss_window = detail::loss_window::phase;

/// Fires where (V - T) / |T| > ratio_threshold at the last `patience` EVAL steps that had a loss.
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
    detail::loss_window window = default_loss_window;

    /// The phases so far, and the number of consecutive overfit steps.
    class history {
        friend overfit;
        std::optional<smdebug::mode> phase_;
        detail::mean_loss train_;
        detail::mean_loss validation_;
        std::int64_t count_ = 0;
    };
    history so_far = {};  ///< state between steps, kept by the rule

    [[nodiscard]] static constexpr std::string_view name() noexcept { return "overfit"; }
    [[nodiscard]] static constexpr std::string_view service_name() noexcept { return "Overfit"; }
    [[nodiscard]] static constexpr std::string_view summary() noexcept {
        return "the validation loss stays above the training loss";
    }
    template <class R = overfit>
    [[nodiscard]] static constexpr auto settings() {
        return std::tuple{
            setting{"tensor_regex", &R::tensor_regex,
                    "regular expressions for names of losses; none: the collection \"losses\"", setting_kind::regexes},
            setting{"start_step", &R::start_step, "steps before this one do not count"},
            setting{"patience", &R::patience, "at how many validation steps in a row it must be so"},
            setting{"ratio_threshold", &R::ratio_threshold,
                    "how far validation may be above training, as a part of training's loss"}};
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

inline void overfit::check() const {
    if (start_step < 0) {
        throw value_error("overfit: start_step is " + std::to_string(start_step) + "; it must not be negative");
    }
    if (patience < 1) {
        throw value_error("overfit: patience is " + std::to_string(patience) + "; it must be at least 1");
    }
    if (std::isnan(ratio_threshold)) {
        throw value_error("overfit: ratio_threshold is NaN; it must be a number");
    }
}

inline std::optional<finding> overfit::judge_phases(const detail::step_losses& now) {
    const bool training = now.train.count > 0;
    if (!training && now.validation.count == 0) {
        return std::nullopt;
    }
    const smdebug::mode in = training ? mode::train : mode::eval;
    detail::mean_loss& mean = training ? so_far.train_ : so_far.validation_;
    if (so_far.phase_ != in && window == detail::loss_window::phase) {
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
    so_far.count_ = ratio > ratio_threshold ? so_far.count_ + 1 : 0;
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
