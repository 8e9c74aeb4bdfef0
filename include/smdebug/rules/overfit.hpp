// The built-in rule Overfit: a validation loss that stays above the training loss.
// Used by: users, cli.
// Source: the public description of SageMaker Debugger's rule Overfit.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/loss_values.hpp>
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

namespace smdebug {
inline namespace v1 {
namespace rules {

/// Over which steps Overfit takes the mean of each loss.
enum class loss_window : std::uint8_t {
    phase,       ///< the steps of the mode since the other one
    cumulative,  ///< all steps of the mode that the rule has seen
};
/// Decision: the public description speaks of means, and not of what.
inline constexpr loss_window default_loss_window = loss_window::phase;

/// Fires where (V - T) / |T| > ratio_threshold at the last `patience` EVAL steps that had a loss.
/// V is the mean loss of this EVAL phase up to the step, T that of the TRAIN phase before.  A phase is a run of steps
/// with a loss in one mode; steps of other modes, or without a loss, do not end it.  Without a regex the losses are the
/// collection "losses"; of several at a step the mean counts.
/// XGBoost's form, for a run with neither TRAIN nor EVAL steps: T and V are the means of the scalars named train... and
/// validation... in the collection "metrics", at each step that has both.
/// Edge cases: no training loss yet: silent.  T = 0: the ratio is infinite where V > 0, else 0.  NaN: not overfit, and
/// patience begins anew.  A loss that cannot be read: a note, and the others count.
/// It accumulates from the first step that it is called with: a new walk takes a new rule.  Cost: a few small reads.
struct overfit {
    text_list tensor_regex = {};
    std::int64_t start_step = 0;  ///< a global step
    std::int64_t patience = 1;
    double ratio_threshold = 0.1;
    loss_window window = default_loss_window;

    /// The phases so far, and for how many steps in a row it was overfit.
    class history {
        friend overfit;
        std::optional<smdebug::mode> phase_;
        mean_loss train_;
        mean_loss validation_;
        std::int64_t count_ = 0;
    };
    history so_far = {};  ///< what it has seen; leave it to the rule

    [[nodiscard]] static constexpr std::string_view name() noexcept { return "overfit"; }
    [[nodiscard]] static constexpr std::string_view service_name() noexcept { return "Overfit"; }
    [[nodiscard]] static constexpr std::string_view summary() noexcept {
        return "the validation loss stays above the training loss";
    }
    [[nodiscard]] static constexpr auto settings() {
        return std::tuple{
            setting{"tensor_regex", &overfit::tensor_regex,
                    "regular expressions for names of losses; none: the collection \"losses\"", setting_kind::regexes},
            setting{"start_step", &overfit::start_step, "steps before this one do not count"},
            setting{"patience", &overfit::patience, "at how many validation steps in a row it must be so"},
            setting{"ratio_threshold", &overfit::ratio_threshold,
                    "how far validation may be above training, as a part of training's loss"}};
    }

    void check() const {
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

    [[nodiscard]] std::vector<finding> operator()(const readable_trial auto& run, step_number step) {
        if (step < start_step) {
            return {};
        }
        step_losses now = losses_at(run, step, tensor_regex);
        std::vector<finding> found = std::move(now.notes);
        const std::optional<finding> verdict = now.by_mode ? judge_phases(now) : judge_both(now.train, now.validation);
        if (verdict) {
            found.push_back(*verdict);
        }
        return found;
    }

private:
    [[nodiscard]] std::optional<finding> judge_phases(const step_losses& now) {
        const bool training = now.train.count > 0;
        if (!training && now.validation.count == 0) {
            return std::nullopt;
        }
        const smdebug::mode in = training ? mode::train : mode::eval;
        mean_loss& mean = training ? so_far.train_ : so_far.validation_;
        if (so_far.phase_ != in && window == loss_window::phase) {
            mean = {};
        }
        so_far.phase_ = in;
        const mean_loss& loss = training ? now.train : now.validation;
        mean.add(loss.mean(), loss.tensor, loss.worker);
        if (training) {
            return std::nullopt;
        }
        mean_loss validation = so_far.validation_;
        validation.tensor = loss.tensor;
        validation.worker = loss.worker;
        return judge_both(so_far.train_, validation);
    }

    [[nodiscard]] std::optional<finding> judge_both(const mean_loss& train, const mean_loss& validation) {
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
                              " % above the training loss " + short_text(t);
        if (so_far.count_ > 1) {
            message += ", for the " + std::to_string(so_far.count_) + ". time in a row";
        }
        return finding{.met = true,
                       .tensor = validation.tensor,
                       .worker = validation.worker,
                       .value = ratio,
                       .threshold = ratio_threshold,
                       .message = std::move(message)};
    }
};

}  // namespace rules
}  // namespace v1
}  // namespace smdebug
