// The built-in rule WeightUpdateRatio: weights that change too much, or too little, from save to save.
// Source: the public description of SageMaker Debugger's rule WeightUpdateRatio.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/float_kinds.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/allclose.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/judge/check_settings.hpp>
#include <smdebug/rules/judge/saved_tensor.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/trial.hpp>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules {

/// Readings of "ratio of update to weight"; w are the weights, d their update, both flattened.
enum class update_norm : std::uint8_t {
    l2,              ///< ||d|| / (||w|| + epsilon)
    mean_abs,        ///< mean|d| / (mean|w| + epsilon)
    mean_of_ratios,  ///< mean(|d| / (|w| + epsilon))
};
/// Decision: the public description names no norm.
inline constexpr update_norm default_update_norm = update_norm::l2;

/// ||now - before|| / (||before|| + epsilon), or another reading.  Both consist of reals, have equal sizes, and are not
/// empty.
/// IEEE: NaN in gives NaN; an infinite update over a finite norm gives infinity; over 0 + 0, infinity or NaN.
/// Cost: one pass over both; for doubles one or two more where squares leave their range.
[[nodiscard]] inline double update_ratio(const tensor_view& before, const tensor_view& now, double epsilon,
                                         update_norm norm = default_update_norm) {
    if (norm == update_norm::mean_of_ratios) {
        return reduce::detail::mean_relative_difference(before, now, epsilon);
    }
    const auto norms = norm == update_norm::l2 ? reduce::detail::l2_of_difference(before, now)
                                               : reduce::detail::mean_abs_of_difference(before, now);
    return norms.difference / (norms.first + epsilon);
}

namespace detail {

/// The comparison behind it.
struct update_comparison {
    double epsilon = 0;
    update_norm norm = default_update_norm;

    struct answer {
        double ratio = std::numeric_limits<double>::quiet_NaN();
        bool comparable = false;  ///< both consist of reals, and are not empty
        bool same_shape = false;
    };
    [[nodiscard]] answer operator()(const tensor_view& before, const tensor_view& now) const;
    [[nodiscard]] friend bool operator==(const update_comparison&, const update_comparison&) = default;
};

}  // namespace detail

/// Fires for each tensor of the collection "weights" with a relatively large or small update:
///     r = ||w_s - w_p|| / (||w_p|| + epsilon);   r > large_threshold or r < small_threshold,   at its last `patience` saves
/// p is the previous save or, with num_steps, the oldest one at most that many steps back.  If the run has TRAIN steps,
/// only these are judged and counted (mode steps); else all of them, by their global numbers.
/// Edge cases: it is silent without such a p, and where r is NaN.  It fires where nothing changed (r = 0), where the
/// previous weights are 0 (r is huge), and for an infinite update.  Another shape is a note, unless norms decide. Text,
/// complex numbers and empty tensors are skipped.
/// Fast path: |a - b| <= ||w_s - w_p|| <= a + b for the norms a, b: l2 reductions can prove that r is within its
/// limits.  If the values were not saved, they may also prove the contrary; else the tensor is noted.
/// Cost: two small reads if l2 was saved and proves it; else two tensors read and one pass over both.
struct weight_update_ratio {
    std::optional<std::int64_t> num_steps = {};  ///< the previous save if unset
    double large_threshold = 10.0;
    double small_threshold = 1e-8;
    double epsilon = 1e-9;  ///< prevents a division by 0
    bool all_workers = false;
    std::int64_t patience = 1;
    update_norm norm = default_update_norm;
    mutable detail::lasting_findings so_far = {};  ///< state between steps, of a patience above 1

    [[nodiscard]] static constexpr std::string_view name() noexcept { return "weight_update_ratio"; }
    [[nodiscard]] static constexpr std::string_view service_name() noexcept { return "WeightUpdateRatio"; }
    [[nodiscard]] static constexpr std::string_view summary() noexcept {
        return "the update of a weight is too large or too small beside the weight";
    }
    template <class Rule = weight_update_ratio>
    [[nodiscard]] static constexpr auto settings() {
        return std::tuple{
            setting{"num_steps", &Rule::num_steps,
                    "compare with the oldest save at most this many steps back; unset: with the previous save"},
            setting{"large_threshold", &Rule::large_threshold, "fires if the ratio is above this"},
            setting{"small_threshold", &Rule::small_threshold, "fires if the ratio is below this"},
            setting{"epsilon", &Rule::epsilon, "added to the norm of the weights, against division by 0"},
            setting{"all_workers", &Rule::all_workers, all_workers_meaning},
            setting{"patience", &Rule::patience, patience_meaning}};
    }

    void check() const;

    [[nodiscard]] std::vector<finding> operator()(const std::derived_from<trial> auto& run, step_number step) const {
        const bool training = run.mode(step) == mode::train;
        if (!training && detail::has_steps_of(run, mode::train)) {
            return {};
        }
        return detail::judge_each(run, step, {.collection_names = "weights"}, all_workers, [&](const auto& tensor) {
            return so_far.keep(tensor, patience, judge(run, tensor, training));
        });
    }

private:
    [[nodiscard]] finding judge(const auto& run, const auto& now, bool training) const {
        using save_type = std::remove_cvref_t<decltype(now)>;
        const auto number = [&](step_number step) { return training ? run.mode_step(step).value_or(step) : step; };
        std::optional<step_number> before;
        std::string worker;
        detail::visit_earlier_saves(now, all_workers, [&](const auto& save) {
            if (training && run.mode(save.step()) != mode::train) {
                return true;
            }
            if (num_steps && number(save.step()) < number(now.step()) - *num_steps) {
                return false;
            }
            before = save.step();
            worker = save.worker();
            return num_steps.has_value();
        });
        return before ? compare(save_type{now.handle(), now.name(), *before, worker}, now) : finding{};
    }

    /// The bounds of the ratio by l2 norms; NaN if there are none.
    struct bounds {
        double least = std::numeric_limits<double>::quiet_NaN();
        double most = std::numeric_limits<double>::quiet_NaN();
    };
    /// How far saved norms, of float32, may move a bound.
    static constexpr double saved_norm_error = 1e-5;

    [[nodiscard]] bounds bounds_of(const auto& before, const auto& now) const {
        const auto was =
            norm == update_norm::l2 ? before.reduction_value(reduction::l2) : lookup_failure_kind::tensor_not_saved;
        const auto is = was ? now.reduction_value(reduction::l2) : lookup_failure_kind::tensor_not_saved;
        if (!is || !is_finite(*was) || !is_finite(*is)) {
            return {};
        }
        const double least = std::abs(*is - *was) / (*was + epsilon);
        const double most = (*is + *was) / (*was + epsilon);
        return {least - saved_norm_error * (1 + least), most * (1 + saved_norm_error)};
    }

    [[nodiscard]] finding compare(const auto& before, const auto& now) const {
        const bounds ratio = bounds_of(before, now);
        if (ratio.least >= small_threshold && ratio.most <= large_threshold) {
            return {};
        }
        const auto compared = now.compared(before, detail::update_comparison{epsilon, norm});
        if (!compared) {
            const auto shape = now.shape();
            const auto old_shape = before.shape();
            if (shape && element_count(*shape) == 0U) {
                return {};
            }
            if (shape && old_shape && *shape != *old_shape) {
                return reshaped(before, *old_shape, now, *shape);
            }
            if (ratio.least > large_threshold) {
                return met(before, now, ratio.least, "at least ");
            }
            if (ratio.most < small_threshold) {
                return met(before, now, ratio.most, "at most ");
            }
            const auto was = before.values();
            return was ? now.note(compared.error()) : before.note(was.error());
        }
        if (!compared->comparable) {
            return {};
        }
        if (!compared->same_shape) {
            const auto shape = now.shape();
            const auto old_shape = before.shape();
            return shape && old_shape ? reshaped(before, *old_shape, now, *shape) : finding{};
        }
        const double exact = compared->ratio;
        return exact > large_threshold || exact < small_threshold ? met(before, now, exact, "") : finding{};
    }

    [[nodiscard]] static finding reshaped(const auto& before, const shape_type& was, const auto& now,
                                          const shape_type& is) {
        return now.note("the shape is (" + shape_text(is) + "), and was (" + shape_text(was) + ") at " +
                        before.step_words() + ": no update to judge");
    }

    [[nodiscard]] finding met(const auto& before, const auto& now, double ratio, const std::string& how) const {
        const bool large = ratio > large_threshold;
        const double threshold = large ? large_threshold : small_threshold;
        return now.met(ratio, threshold,
                       "the update since " + before.step_words() + " is " + how + short_text(ratio) +
                           " of the weights, " + (large ? "above " : "below ") + short_text(threshold));
    }
};

inline detail::update_comparison::answer detail::update_comparison::operator()(const tensor_view& before,
                                                                               const tensor_view& now) const {
    const auto is_comparable = [](const tensor_view& each) { return has_reals(each.type) && each.count() > 0; };
    if (!is_comparable(before) || !is_comparable(now)) {
        return {};
    }
    if (!std::ranges::equal(before.shape, now.shape)) {
        return {.comparable = true};
    }
    return {update_ratio(before, now, epsilon, norm), true, true};
}

inline void weight_update_ratio::check() const {
    detail::check_range(name(), "patience", patience, {.least = 1});
    detail::check_range(name(), "num_steps", num_steps, {.least = 1});
    detail::check_range(name(), "epsilon", epsilon);
    detail::check_range(name(), "large_threshold", large_threshold, detail::any_number);
    if (!(small_threshold <= large_threshold)) {
        throw value_error("weight_update_ratio: small_threshold is " + short_text(small_threshold) +
                          "; it must be at most large_threshold, " + short_text(large_threshold));
    }
}

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>
