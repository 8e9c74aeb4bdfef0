// The built-in rule Overtraining: neither the training loss nor the validation loss gets better any more.
// Source: the public description of SageMaker Debugger's rule Overtraining.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/judge/loss_values.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/trial/concepts.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace rules {

namespace detail {

/// How Overtraining puts its two patiences together.
enum class patience_rule : std::uint8_t {
    both,    ///< training and validation must have stopped getting better
    either,  ///< one of them is enough
};

}  // namespace detail
/// Decision: the public description does not say; what it describes is a model that has converged.
inline constexpr detail::patience_rule default_patience_rule = detail::patience_rule::both;

/// Fires where the training loss has not got better for patience_train of its steps, and the validation loss for
/// patience_validation of its own.
/// Better is a loss < best - delta, the best so far; the first one is the best.  A step's loss is the mean of the
/// scalars in "losses", of TRAIN and EVAL steps; in a run that has neither, XGBoost's form: train... and validation...
/// in "metrics".  Steps without a loss are passed over: no counting, no firing.
/// Edge cases: no validation loss yet: silent.  NaN: not better; as the first one, no best.  A loss that cannot be
/// read: a note, and the others count.
/// It accumulates from the first step that it is called with: a new walk takes a new rule.  Cost: a few small reads.
struct overtraining {
    std::int64_t patience_train = 5;
    std::int64_t patience_validation = 10;
    double delta = 0.01;  ///< absolute
    detail::patience_rule when = default_patience_rule;

    /// The best losses so far, and for how many steps they have been that.
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
    template <class R = overtraining>
    [[nodiscard]] static constexpr auto settings() {
        return std::tuple{
            setting{"patience_train", &R::patience_train, "for how many steps the training loss may get no better"},
            setting{"patience_validation", &R::patience_validation,
                    "for how many steps the validation loss may get no better"},
            setting{"delta", &R::delta, "by how much a loss must fall below the best one"}};
    }

    void check() const;

    [[nodiscard]] std::vector<finding> operator()(const readable_trial auto& run, step_number step) {
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

}  // namespace rules
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/rules/built_in/impl/overtraining.ipp>
#endif
