// The built-in rule AllZero: at least a given percentage of a tensor's values is zero.
// Source: the public description of SageMaker Debugger's rule AllZero.
#pragma once

#include <smdebug/core/float_kinds.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/judge/check_settings.hpp>
#include <smdebug/rules/judge/saved_tensor.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/trial.hpp>

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules {

/// Fires for each selected tensor with 100 * zeros / values >= threshold at its last `patience` saves.  -0.0 is a zero,
/// NaN is not; empty tensors, complex numbers and strings are skipped.
/// Fast path: with a threshold of 100, abs_max, or min and max, decide: both 0, or not.  Without these, any finite
/// reduction that is not 0 disproves it.  Below 100, abs_min > 0, min > 0 or max < 0 disproves it; else the zeros are
/// counted.  A sum or norm of 0 proves nothing: it may have cancelled or underflowed.
/// Cost: a small read or two if these were saved, else one pass over the tensor, two below 100.
struct all_zero {
    text_list collection_names = {};  ///< with tensor_regex: the union; one of the two is mandatory
    text_list tensor_regex = {};
    double threshold = 100;  ///< percent
    bool all_workers = false;
    std::int64_t patience = 1;
    mutable detail::lasting_findings so_far = {};  ///< state between steps, of a patience above 1

    [[nodiscard]] static constexpr std::string_view name() noexcept { return "all_zero"; }
    [[nodiscard]] static constexpr std::string_view service_name() noexcept { return "AllZero"; }
    [[nodiscard]] static constexpr std::string_view summary() noexcept {
        return "at least a given percentage of a tensor is zero";
    }
    template <class Rule = all_zero>
    [[nodiscard]] static constexpr auto settings() {
        return std::tuple{
            setting{"collection_names", &Rule::collection_names, collection_names_meaning},
            setting{"tensor_regex", &Rule::tensor_regex, tensor_regex_meaning, setting_kind::regexes},
            setting{"threshold", &Rule::threshold, "fires if at least this percentage of the values is zero"},
            setting{"all_workers", &Rule::all_workers, all_workers_meaning},
            setting{"patience", &Rule::patience, patience_meaning}};
    }

    /// Errors: insufficient_information, value_error for a threshold that is not a percentage.
    void check() const;

    [[nodiscard]] std::vector<finding> operator()(const std::derived_from<trial> auto& run, step_number step) const {
        return detail::judge_each(run, step, {collection_names, tensor_regex}, all_workers, [&](const auto& tensor) {
            return so_far.keep(tensor, patience,
                               threshold == 100        ? judge_whole(tensor)
                               : shows_no_zero(tensor) ? finding{}
                                                       : judge_share(tensor));
        });
    }

private:
    /// Whether every value is zero.
    [[nodiscard]] finding judge_whole(const auto& tensor) const {
        const auto largest = tensor.reduction_value(reduction::max, true);
        if (largest) {
            return *largest == 0 ? met_by_all(tensor) : finding{};
        }
        if (largest.error().why == lookup_failure_kind::wrong_dtype) {
            return tensor.note(largest.error());
        }
        const auto low = tensor.reduction_value(reduction::min);
        const auto high = tensor.reduction_value(reduction::max);
        if (low && high) {
            return *low == 0 && *high == 0 ? met_by_all(tensor) : finding{};
        }
        const auto disproves = [](const lookup<double>& value) { return value && is_finite(*value) && *value != 0; };
        bool disproved = disproves(low) || disproves(high);
        for (const reduction what : {reduction::mean, reduction::sum, reduction::l1, reduction::l2}) {
            disproved =
                disproved || disproves(tensor.reduction_value(what)) || disproves(tensor.reduction_value(what, true));
        }
        return disproved ? finding{} : tensor.note(largest.error());
    }

    /// Whether the extrema prove that no value is zero, and the threshold requires one.
    [[nodiscard]] bool shows_no_zero(const auto& tensor) const {
        if (const auto smallest = tensor.reduction_value(reduction::min, true)) {
            return threshold > 0 && *smallest > 0;
        }
        const auto low = tensor.reduction_value(reduction::min);
        const auto high = tensor.reduction_value(reduction::max);
        return threshold > 0 && ((low && *low > 0) || (high && *high < 0));
    }

    /// Whether enough values are zero.
    [[nodiscard]] finding judge_share(const auto& tensor) const {
        const auto counts = tensor.counts();
        if (!counts) {
            return judge_share_by_extrema(tensor, counts.error());
        }
        if (counts->count == 0) {
            return {};
        }
        const double percent = detail::percent_of(counts->zeros, counts->count);
        if (!(percent >= threshold) || !tensor.is_ordered()) {
            return {};
        }
        return tensor.met(percent, threshold,
                          std::to_string(counts->zeros) + " of " + std::to_string(counts->count) + " values (" +
                              short_text(percent) + "%) are zero, which is at least " + short_text(threshold) + "%");
    }

    /// If zeros cannot be counted: a tensor of zeros meets any threshold that is a percentage.
    [[nodiscard]] finding judge_share_by_extrema(const auto& tensor, const lookup_error& why) const {
        const auto is_zero = [](const lookup<double>& value) { return value && *value == 0; };
        const bool zero = is_zero(tensor.reduction_value(reduction::max, true)) ||
                          (is_zero(tensor.reduction_value(reduction::min)) &&  //
                           is_zero(tensor.reduction_value(reduction::max)));
        return zero && threshold <= 100 ? met_by_all(tensor) : tensor.note(why);
    }

    /// Complex numbers have an abs_max, too, but no max.
    [[nodiscard]] finding met_by_all(const auto& tensor) const {
        return tensor.is_ordered() ? tensor.met(100, threshold, "all values are zero") : finding{};
    }
};

inline void all_zero::check() const {
    detail::check_range(name(), "patience", patience, {.least = 1});
    detail::require_choice(name(), collection_names, tensor_regex);
    detail::check_range(name(), "threshold", threshold, {.most = 100});
}

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>
