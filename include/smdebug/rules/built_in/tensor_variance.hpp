// The built-in rule TensorVariance: a tensor whose variance is too large or too small.
// Source: the public description of SageMaker Debugger's rule TensorVariance.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/judge/check_settings.hpp>
#include <smdebug/rules/judge/saved_tensor.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/trial.hpp>

#include <concepts>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules {

/// The population variance of a saved_tensor: the saved one, else a computed one, else the square of a saved std.
/// A saved variance is used unchanged, although PyTorch's hook divides by n - 1: a run does not name its writer.
[[nodiscard]] lookup<double> variance_of(const auto& tensor) {
    auto variance = tensor.reduction_value(reduction::variance);
    if (!variance && variance.error().why != lookup_failure_kind::wrong_dtype) {
        if (const auto deviation = tensor.reduction_value(reduction::std)) {
            return *deviation * *deviation;
        }
    }
    return variance;
}

/// Fires for each selected tensor with variance > max_threshold or variance < min_threshold; a threshold that is not
/// set is ignored.
/// One value has variance 0.  A variance that is NaN (of NaN, infinities, no values) never fires; complex numbers and
/// strings are skipped.
/// Cost: a small read if variance was saved, else one pass over the tensor.
struct tensor_variance {
    text_list collection_names = {};  ///< with tensor_regex: the union; one of the two is mandatory
    text_list tensor_regex = {};
    std::optional<double> max_threshold = {};  ///< one of the two thresholds is mandatory
    std::optional<double> min_threshold = {};
    bool all_workers = false;

    [[nodiscard]] static constexpr std::string_view name() noexcept { return "tensor_variance"; }
    [[nodiscard]] static constexpr std::string_view service_name() noexcept { return "TensorVariance"; }
    [[nodiscard]] static constexpr std::string_view summary() noexcept {
        return "the variance of a tensor is above or below a threshold";
    }
    template <class Rule = tensor_variance>
    [[nodiscard]] static constexpr auto settings() {
        return std::tuple{setting{"collection_names", &Rule::collection_names, collection_names_meaning},
                          setting{"tensor_regex", &Rule::tensor_regex, tensor_regex_meaning, setting_kind::regexes},
                          setting{"max_threshold", &Rule::max_threshold, "fires if the variance is above this"},
                          setting{"min_threshold", &Rule::min_threshold, "fires if the variance is below this"},
                          setting{"all_workers", &Rule::all_workers, all_workers_meaning}};
    }

    /// Errors: insufficient_information; value_error for a NaN, or for thresholds with nothing
    ///         between them.
    void check() const;

    [[nodiscard]] std::vector<finding> operator()(const std::derived_from<trial> auto& run, step_number step) const {
        return detail::judge_each(run, step, {collection_names, tensor_regex}, all_workers, [&](const auto& tensor) {
            const auto variance = variance_of(tensor);
            if (!variance) {
                return tensor.note(variance.error());
            }
            const auto is = [&] { return "the variance " + short_text(*variance); };
            if (max_threshold && *variance > *max_threshold) {
                return tensor.met(*variance, *max_threshold, is() + " is above " + short_text(*max_threshold));
            }
            if (min_threshold && *variance < *min_threshold) {
                return tensor.met(*variance, *min_threshold, is() + " is below " + short_text(*min_threshold));
            }
            return finding{};
        });
    }
};

inline void tensor_variance::check() const {
    detail::require_choice(name(), collection_names, tensor_regex);
    detail::require_setting(name(), max_threshold || min_threshold, "max_threshold or min_threshold");
    detail::check_range(name(), "max_threshold", max_threshold, detail::any_number);
    detail::check_range(name(), "min_threshold", min_threshold, detail::any_number);
    if (max_threshold && min_threshold && *min_threshold > *max_threshold) {
        throw value_error("tensor_variance: min_threshold is " + short_text(*min_threshold) +
                          ", which is above max_threshold, " + short_text(*max_threshold));
    }
}

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>
