// The built-in rule Overtraining: neither the training loss nor the validation loss improves any more.
// Source: the public description of SageMaker Debugger's rule Overtraining.
#pragma once

#include <smdebug/core/float_kinds.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/judge/check_settings.hpp>
#include <smdebug/rules/judge/loss_values.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/trial/trial.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules {

/// How Overtraining combines its two patiences.
enum class patience_rule : std::uint8_t {
    both,    ///< training and validation must both have stopped improving
    either,  ///< one of them is enough
};
/// Decision: the public description leaves this open; it describes a model that has converged.
inline constexpr patience_rule default_patience_rule = patience_rule::both;

/// Fires if the training loss has not improved for patience_train of its steps, and the validation loss for
/// patience_validation of its own.
/// An improvement is a loss < best - delta, the best so far; the first loss is the first best.  A step's loss is the
/// mean of the scalars in "losses", of TRAIN and EVAL steps; in a run that has neither, XGBoost's form: train... and
/// validation... in "metrics".  Steps without a loss neither count nor fire.
/// Edge cases: without a validation loss it is silent.  A NaN is no improvement; as the first loss it is no best one. A
/// loss that cannot be read is a note, and the others count.
/// It accumulates from the first step that it is called with: use a new rule for a new walk.  Cost: a few small reads.
struct overtraining {
    std::int64_t patience_train = 5;
    std::int64_t patience_validation = 10;
    double delta = 0.01;  ///< absolute
    patience_rule when = default_patience_rule;

    /// The best losses so far, and the number of steps since then.
    class history {
        friend overtraining;
        struct course {
            bool seen = false;
            std::optional<double> best = {};
            std::int64_t count = 0;

            void add(double loss, double better_by);
        };
        course train_;
        course validation_;
    };
    history so_far = {};  ///< state between steps, kept by the rule

    [[nodiscard]] static constexpr std::string_view name() noexcept { return "overtraining"; }
    [[nodiscard]] static constexpr std::string_view service_name() noexcept { return "Overtraining"; }
    [[nodiscard]] static constexpr std::string_view summary() noexcept {
        return "neither the training loss nor the validation loss gets better";
    }
    template <class Rule = overtraining>
    [[nodiscard]] static constexpr auto settings() {
        return std::tuple{
            setting{"patience_train", &Rule::patience_train, "for how many steps the training loss may get no better"},
            setting{"patience_validation", &Rule::patience_validation,
                    "for how many steps the validation loss may get no better"},
            setting{"delta", &Rule::delta, "by how much a loss must fall below the best one"}};
    }

    void check() const;

    [[nodiscard]] std::vector<finding> operator()(const std::derived_from<trial> auto& run, step_number step) {
        detail::step_losses now = detail::losses_at(run, step);
        std::vector<finding> findings = std::move(now.notes);
        if (now.train.count > 0) {
            so_far.train_.add(now.train.mean(), delta);
        }
        if (now.validation.count > 0) {
            so_far.validation_.add(now.validation.mean(), delta);
        }
        if (now.train.count + now.validation.count > 0 && is_over()) {
            findings.push_back(met(now.train.count > 0 ? now.train : now.validation));
        }
        return findings;
    }

private:
    [[nodiscard]] bool is_over() const noexcept;

    [[nodiscard]] finding met(const detail::mean_loss& now) const;
};

inline void overtraining::history::course::add(double loss, double better_by) {
    seen = true;
    if (best ? loss < *best - better_by : !is_nan(loss)) {
        best = loss;
        count = 0;
    } else {
        ++count;
    }
}

inline void overtraining::check() const {
    detail::check_range(name(), "patience_train", patience_train, {.least = 1});
    detail::check_range(name(), "patience_validation", patience_validation, {.least = 1});
    detail::check_range(name(), "delta", delta);
}

inline bool overtraining::is_over() const noexcept {
    const bool train = so_far.train_.count >= patience_train;
    const bool validation = so_far.validation_.count >= patience_validation;
    return so_far.train_.seen && so_far.validation_.seen &&
           (when == patience_rule::both ? train && validation : train || validation);
}

inline finding overtraining::met(const detail::mean_loss& now) const {
    const auto course_of = [](const auto& course) {
        return std::to_string(course.count) + " steps" +
               (course.best ? " (the best was " + short_text(*course.best) + ")" : std::string{});
    };
    const bool by_train = when == patience_rule::both || so_far.train_.count >= patience_train;
    return {.met = true,
            .tensor = now.tensor,
            .worker = now.worker,
            .value = static_cast<double>(by_train ? so_far.train_.count : so_far.validation_.count),
            .threshold = static_cast<double>(by_train ? patience_train : patience_validation),
            .message = "the training loss has not got better for " + course_of(so_far.train_) +
                       ", the validation loss not for " + course_of(so_far.validation_)};
}

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>
