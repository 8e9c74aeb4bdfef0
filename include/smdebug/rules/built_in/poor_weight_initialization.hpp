// The built-in rule PoorWeightInitialization: the first steps show badly initialised weights.
// Source: the public description of SageMaker Debugger's rule PoorWeightInitialization.
#pragma once

#include <smdebug/core/float_kinds.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/rules/built_in/tensor_variance.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/judge/loss_values.hpp>
#include <smdebug/rules/judge/saved_tensor.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/trial.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules {

namespace detail {

/// The measure of the distance between two quantiles of a tensor; NaN if it has none, or fewer than two elements.
/// Cost: for a float32 tensor that is much wider than `enough`, a look at a part of it, mostly a fifth; else as
///       quantiles().
struct quantile_width {
    std::array<double, 2> between = {};  ///< the quantiles, the lower one first
    double enough = 0;                   ///< for a wider tensor the result may be infinity

    template <class Lazy = void>  // a template: see quantiles()
    [[nodiscard]] double operator()(const tensor_view& values) const;
    [[nodiscard]] friend bool operator==(const quantile_width&, const quantile_width&) = default;

private:
    /// Whether enough elements lie on both sides of a gap of twice `enough` that the quantiles do, too.
    [[nodiscard]] bool is_surely_enough(const tensor_view& values) const;
};

}  // namespace detail

/// Judges the first saved steps, those of TRAIN if there are any, else all, and fires at one that meets any of three
/// conditions:
///  - the largest variance of an activation input is more than `threshold` times the smallest (two inputs at least; 0
///    and another variance have an infinite ratio, all 0 have none; a NaN variance is left out);
///  - a gradient is narrower than `distribution_range`, from its 5th to its 95th percentile (gradients with NaN are
///    left out, and so are those of a single element, such as that of the bias of one output, which have no width);
///  - the mean of the scalar losses has not been below its minimum so far for `patience` saves in a row (NaN is not
///    below; a step without losses does not count, and does not fire).
/// Decision: each condition is enough (the description says of each that it makes the rule true).
/// Decision: `steps` counts saves, not step numbers: with a save each 500 steps only one would be judged.
/// Gradients with only min and max saved fire if these are that close (whatever the number of elements); else they are
/// noted.
/// Judges the first worker by name.  Complex numbers, strings and empty tensors are skipped.
/// Cost: at the first steps one pass over activation inputs, about three over narrow gradients; then none.
struct poor_weight_initialization {
    /// Decision: the percentiles between which a gradient's width is measured.
    static constexpr std::array<double, 2> width_between = {0.05, 0.95};

    /// State from earlier steps.
    struct history {
    private:
        friend struct poor_weight_initialization;

        bool only_train = false;  // a step of TRAIN was seen, or is known to exist
        step_number last = -1;
        std::uint64_t saves = 0;
        double best_loss = std::numeric_limits<double>::infinity();
        std::int64_t not_better = 0;  // saves with losses since the minimum
    };

    text_list activation_inputs_regex = ".*relu_input";  ///< if empty, variances are not compared
    double threshold = 10;
    double distribution_range = 0.001;
    std::int64_t patience = 5;
    double steps = 10;
    history so_far = {};  ///< state between steps, kept by the rule

    [[nodiscard]] static constexpr std::string_view name() noexcept { return "poor_weight_initialization"; }
    [[nodiscard]] static constexpr std::string_view service_name() noexcept { return "PoorWeightInitialization"; }
    [[nodiscard]] static constexpr std::string_view summary() noexcept {
        return "unequal activation variances, narrow gradients or a flat loss in the first steps";
    }
    template <class Rule = poor_weight_initialization>
    [[nodiscard]] static constexpr auto settings() {
        return std::tuple{
            setting{"activation_inputs_regex", &Rule::activation_inputs_regex,
                    "regular expressions for names of activation inputs", setting_kind::regexes},
            setting{"threshold", &Rule::threshold,
                    "fires if the largest variance of activation inputs is more than this many times the smallest"},
            setting{"distribution_range", &Rule::distribution_range,
                    "fires if the 5th and 95th percentiles of a gradient are closer than this"},
            setting{"patience", &Rule::patience,
                    "fires if the loss has not reached a new minimum for this many saves in a row"},
            setting{"steps", &Rule::steps, "how many saved steps are judged, from the first on"}};
    }

    /// Errors: value_error.
    void check() const;

    [[nodiscard]] std::vector<finding> operator()(const std::derived_from<trial> auto& run, step_number step) {
        const bool again = step == so_far.last;  // the same step again: it counts once
        if (!is_looked_at(run, step)) {
            return {};
        }
        std::vector<finding> found;
        std::vector<finding> met;
        for (const auto& condition :
             {by_variances(run, step, found), by_widths(run, step, found), by_losses(run, step, again, found)}) {
            if (condition) {
                met.push_back(*condition);
            }
        }
        append(found, std::move(met));
        return found;
    }

private:
    /// A tensor, and its compared quantity.
    struct measured {
        std::string tensor;
        std::string worker;
        double value = 0;
    };

    [[nodiscard]] bool within_steps(std::uint64_t saves_before) const {
        return static_cast<double>(saves_before) < steps;
    }

    /// Whether the step is one of the first; counts it.  Steps before the first step of TRAIN are discarded.
    [[nodiscard]] bool is_looked_at(const std::derived_from<trial> auto& run, step_number step) {
        const bool again = step == so_far.last;
        const bool train = run.mode(step) == smdebug::mode::train;
        if (!so_far.only_train && !again &&
            (train || (within_steps(so_far.saves) && detail::has_steps_of(run, smdebug::mode::train)))) {
            so_far = {};
            so_far.only_train = true;
        }
        if (so_far.only_train && !train) {
            return false;
        }
        const std::uint64_t before = so_far.saves - (again ? 1 : 0);
        if (!within_steps(before)) {
            return false;
        }
        so_far.last = step;
        so_far.saves = before + 1;
        return true;
    }

    /// The variances of activation inputs.  Appends notes to `found`, as the two below do.
    [[nodiscard]] std::optional<finding> by_variances(const std::derived_from<trial> auto& run, step_number step,
                                                      std::vector<finding>& found) const {
        std::vector<measured> all;
        if (!activation_inputs_regex.empty()) {
            append(found, detail::judge_each(run, step, {.tensor_regex = activation_inputs_regex}, false,
                                             [&](const auto& tensor) {
                                                 const auto variance = variance_of(tensor);
                                                 if (variance && !is_nan(*variance)) {
                                                     all.push_back({tensor.name(), tensor.worker(), *variance});
                                                 }
                                                 return variance ? finding{} : tensor.note(variance.error());
                                             }));
        }
        if (all.size() < 2) {
            return std::nullopt;
        }
        const auto [least, most] = std::minmax_element(all.begin(), all.end(), smaller);
        const double ratio = most->value / least->value;  // infinite if least is 0, NaN if both are
        if (!(ratio > threshold)) {
            return std::nullopt;
        }
        return met(*most, ratio, threshold,
                   "its variance " + short_text(most->value) + " is " + short_text(ratio) + " times that of " +
                       least->tensor + ", " + short_text(least->value) + ": more than " + short_text(threshold));
    }

    /// The widths of gradients.
    [[nodiscard]] std::optional<finding> by_widths(const std::derived_from<trial> auto& run, step_number step,
                                                   std::vector<finding>& found) const {
        std::vector<measured> all;
        append(found, detail::judge_each(run, step, {.collection_names = "gradients"}, false,
                                         [&](const auto& tensor) -> finding {
                                             const auto width = width_of(tensor);
                                             if (!width) {
                                                 return tensor.note(width.error());
                                             }
                                             if (!is_nan(*width)) {
                                                 all.push_back({tensor.name(), tensor.worker(), *width});
                                             }
                                             return {};
                                         }));
        const auto least = std::min_element(all.begin(), all.end(), smaller);
        if (least == all.end() || !(least->value < distribution_range)) {
            return std::nullopt;
        }
        return met(*least, least->value, distribution_range,
                   "nearly all of the gradient lies within " + short_text(least->value) + ", less than " +
                       short_text(distribution_range));
    }

    /// The distance of the percentiles, or infinity if they are far enough apart; NaN if there is nothing to compare.
    [[nodiscard]] lookup<double> width_of(const auto& tensor) const {
        const auto width = tensor.measured(detail::quantile_width{width_between, distribution_range});
        if (width) {
            return *width;
        }
        const auto low = tensor.reduction_value(reduction::min);
        const auto high = tensor.reduction_value(reduction::max);
        if (low && high && *high - *low < distribution_range) {  // percentiles are no further apart
            return *high - *low;
        }
        return width.error();
    }

    /// The losses.
    [[nodiscard]] std::optional<finding> by_losses(const std::derived_from<trial> auto& run, step_number step,
                                                   bool again, std::vector<finding>& found) {
        detail::mean_loss loss;
        append(found, detail::judge_each(run, step, {.collection_names = "losses"}, false, [&](const auto& tensor) {
                   const auto value = detail::scalar_at(tensor.handle(), step, read_options{.worker = tensor.worker()});
                   if (value && value->has_value()) {
                       loss.add(**value, tensor.name(), tensor.worker());
                   }
                   return value ? finding{} : tensor.note(value.error());
               }));
        if (loss.count == 0) {
            return std::nullopt;
        }
        if (!again) {
            const bool better = loss.mean() < so_far.best_loss;
            so_far.best_loss = better ? loss.mean() : so_far.best_loss;
            so_far.not_better = better ? 0 : so_far.not_better + 1;
        }
        if (so_far.not_better < patience) {
            return std::nullopt;
        }
        return met({loss.tensor, loss.worker}, static_cast<double>(so_far.not_better), static_cast<double>(patience),
                   "for " + std::to_string(so_far.not_better) + " saves in a row the loss has not been below " +
                       short_text(so_far.best_loss));
    }

    [[nodiscard]] static bool smaller(const measured& a, const measured& b) noexcept { return a.value < b.value; }
    static void append(std::vector<finding>& found, std::vector<finding> more) {
        found.insert(found.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    }
    [[nodiscard]] static finding met(const measured& what, double value, double limit, std::string message);
};

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>

#ifndef SMDEBUG_COMPILED
#include <smdebug/rules/built_in/impl/poor_weight_initialization.ipp>
#endif
