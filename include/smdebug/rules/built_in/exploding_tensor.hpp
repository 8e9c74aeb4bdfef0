// The built-in rule ExplodingTensor: a tensor that holds NaN or an infinity.
// Source: the public description of SageMaker Debugger's rule ExplodingTensor.
#pragma once

#include <smdebug/core/float_kinds.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/judge/saved_tensor.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/trial.hpp>

#include <cmath>
#include <concepts>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules {

/// Fires for each selected tensor with a value that is NaN or infinite; with only_nan, NaN alone.
/// Saved values decide.  If only reductions were saved: a non-finite one among min, max and their abs forms proves it,
/// and any finite sum, mean or norm disproves it; else the tensor is noted and skipped.
struct exploding_tensor {
    text_list collection_names = {};  ///< with tensor_regex the union; without either all tensors
    text_list tensor_regex = {};
    bool only_nan = false;
    bool all_workers = false;  ///< look at every worker, not only at the first by name
    text_list exclude_regex = {};

    [[nodiscard]] static constexpr std::string_view name() noexcept { return "exploding_tensor"; }
    [[nodiscard]] static constexpr std::string_view service_name() noexcept { return "ExplodingTensor"; }
    [[nodiscard]] static constexpr std::string_view summary() noexcept { return "a tensor holds NaN or an infinity"; }
    template <class Rule = exploding_tensor>
    [[nodiscard]] static constexpr auto settings() {
        return std::tuple{setting{"collection_names", &Rule::collection_names,
                                  "collections to look at; with tensor_regex: both; neither: all tensors"},
                          setting{"tensor_regex", &Rule::tensor_regex, tensor_regex_meaning, setting_kind::regexes},
                          setting{"only_nan", &Rule::only_nan, "look for NaN only, not for infinities"},
                          setting{"all_workers", &Rule::all_workers, all_workers_meaning},
                          setting{"exclude_regex", &Rule::exclude_regex, exclude_regex_meaning, setting_kind::regexes}};
    }

    [[nodiscard]] std::vector<finding> operator()(const std::derived_from<trial> auto& run, step_number step) const {
        const auto is_left_out = detail::left_out(run, step, exclude_regex);
        return detail::judge_each(run, step, {collection_names, tensor_regex}, all_workers, [&](const auto& tensor) {
            if (is_left_out(tensor)) {
                return finding{};
            }
            const auto counts = tensor.counts();
            if (counts) {
                return by_counts(*counts, tensor);
            }
            return counts.error().why == lookup_failure_kind::tensor_not_saved ? by_reductions(tensor)
                                                                               : tensor.note(counts.error());
        });
    }

private:
    [[nodiscard]] finding by_counts(const reduction_values& counts, const auto& tensor) const {
        const auto infinite = counts.pos_inf + counts.neg_inf;
        if (counts.nan == 0 && (only_nan || infinite == 0)) {
            return {};
        }
        constexpr double nan = std::numeric_limits<double>::quiet_NaN();
        constexpr double inf = std::numeric_limits<double>::infinity();
        return tensor.met(counts.nan > 0 ? nan : (counts.pos_inf > 0 ? inf : -inf), nan,
                          std::to_string(counts.nan) + " NaN and " + std::to_string(infinite) + " infinite of " +
                              std::to_string(counts.count) + " values");
    }

    [[nodiscard]] finding by_reductions(const auto& tensor) const {
        lookup_error missing;
        std::size_t finite_extrema = 0;
        for (const reduction_key key : {reduction_key{reduction::max, true}, reduction_key{reduction::max, false},
                                        reduction_key{reduction::min, false}}) {
            const auto extremum = tensor.reduction_value(key.what, key.abs);
            if (!extremum) {
                missing = extremum.error();
            } else if (is_nan(*extremum) || (is_infinite(*extremum) && !only_nan)) {
                return tensor.met(*extremum, std::numeric_limits<double>::quiet_NaN(),
                                  "the saved " + key.name() + " is not finite");
            } else {
                finite_extrema += key.abs ? 2 : 1;
            }
        }
        if (finite_extrema >= 2) {
            return {};
        }
        for (const reduction what : {reduction::mean, reduction::sum, reduction::l1, reduction::l2}) {
            for (const bool abs : {false, true}) {
                if (const auto total = tensor.reduction_value(what, abs); total && is_finite(*total)) {
                    return {};
                }
            }
        }
        return tensor.note(missing);
    }
};

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>
