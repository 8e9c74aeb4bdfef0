// The built-in rule VanishingGradient: a gradient whose mean absolute value is below a threshold.
// Source: the public description of SageMaker Debugger's rule VanishingGradient.
#pragma once

#include <smdebug/core/json_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/judge/check_settings.hpp>
#include <smdebug/rules/judge/saved_tensor.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/trial.hpp>

#include <concepts>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules {

/// Fires for each tensor of the collection "gradients" with mean(|g|) < threshold at its last `patience` saves.  A NaN
/// mean never fires; a gradient of zeros does.  Cost: a small read if abs_mean was saved, else one pass over the
/// tensor.
struct vanishing_gradient {
    double threshold = 1e-7;
    bool all_workers = false;
    std::int64_t patience = 1;
    text_list exclude_regex = {};
    mutable detail::lasting_findings so_far = {};  ///< state between steps, of a patience above 1

    [[nodiscard]] static constexpr std::string_view name() noexcept { return "vanishing_gradient"; }
    [[nodiscard]] static constexpr std::string_view service_name() noexcept { return "VanishingGradient"; }
    [[nodiscard]] static constexpr std::string_view summary() noexcept {
        return "the mean absolute value of a gradient is below a threshold";
    }
    template <class Rule = vanishing_gradient>
    [[nodiscard]] static constexpr auto settings() {
        return std::tuple{setting{"threshold", &Rule::threshold, "fires if the mean absolute gradient is below this"},
                          setting{"all_workers", &Rule::all_workers, all_workers_meaning},
                          setting{"patience", &Rule::patience, patience_meaning},
                          setting{"exclude_regex", &Rule::exclude_regex, exclude_regex_meaning, setting_kind::regexes}};
    }

    /// Errors: value_error.
    void check() const {
        detail::check_range(name(), "threshold", threshold, detail::any_number);
        detail::check_range(name(), "patience", patience, {.least = 1});
    }

    [[nodiscard]] std::vector<finding> operator()(const std::derived_from<trial> auto& run, step_number step) const {
        const auto is_left_out = detail::left_out(run, step, exclude_regex);
        return detail::judge_each(run, step, {.collection_names = "gradients"}, all_workers, [&](const auto& tensor) {
            if (is_left_out(tensor)) {
                return finding{};
            }
            const auto mean = tensor.reduction_value(reduction::mean, true);
            if (!mean) {
                return tensor.note(mean.error());
            }
            return so_far.keep(tensor, patience,
                               *mean < threshold ? tensor.met(*mean, threshold,
                                                              "the mean absolute gradient " + short_text(*mean) +
                                                                  " is below " + short_text(threshold))
                                                 : finding{});
        });
    }
};

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>
