// The built-in rule DeadRelu: too many ReLUs of a layer are (almost) never active.
// Source: the public description of SageMaker Debugger's rule DeadRelu.
#pragma once

#include <smdebug/core/step.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/judge/check_settings.hpp>
#include <smdebug/rules/judge/layer_activity.hpp>
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

/// Fires for each selected tensor, the outputs of a layer of ReLUs, in which more than threshold_layer percent are
/// dead at its last `patience` saves: above 0 in less than threshold_inactivity percent of the samples.  Each step is
/// judged separately. Axis 0 counts the samples, each position of the others is one ReLU; a tensor with one axis is one
/// sample.  NaN is not active.  Tensors without axes or values, complex numbers and strings are skipped.
/// Saved values decide: the pass over them ends as soon as enough ReLUs are known to be active, mostly after a few
/// samples.  If only reductions were saved: max <= 0 fires, min > 0 does not, anything else is noted.
struct dead_relu {
    text_list tensor_regex = ".*relu_output";
    double threshold_inactivity = 1;  ///< percent of the samples
    double threshold_layer = 50;      ///< percent of the ReLUs of a layer
    bool all_workers = false;
    std::int64_t patience = 1;
    mutable detail::lasting_findings so_far = {};  ///< state between steps, of a patience above 1

    [[nodiscard]] static constexpr std::string_view name() noexcept { return "dead_relu"; }
    [[nodiscard]] static constexpr std::string_view service_name() noexcept { return "DeadRelu"; }
    [[nodiscard]] static constexpr std::string_view summary() noexcept {
        return "too many ReLUs of a layer are (almost) never active";
    }
    template <class Rule = dead_relu>
    [[nodiscard]] static constexpr auto settings() {
        return std::tuple{setting{"tensor_regex", &Rule::tensor_regex, tensor_regex_meaning, setting_kind::regexes},
                          setting{"threshold_inactivity", &Rule::threshold_inactivity,
                                  "a ReLU that is active in less than this percentage of the samples is dead"},
                          setting{"threshold_layer", &Rule::threshold_layer,
                                  "fires if more than this percentage of the ReLUs of a layer is dead"},
                          setting{"all_workers", &Rule::all_workers, all_workers_meaning},
                          setting{"patience", &Rule::patience, patience_meaning}};
    }

    /// Errors: insufficient_information; value_error for a threshold that is not a percentage.
    void check() const;

    [[nodiscard]] std::vector<finding> operator()(const std::derived_from<trial> auto& run, step_number step) const {
        const detail::layer_judge judge{{.above = 0}, {threshold_inactivity, threshold_layer}, "dead"};
        return detail::judge_each(run, step, {.tensor_regex = tensor_regex}, all_workers, [&](const auto& tensor) {
            const auto counted = tensor.measured(judge.measure());
            if (counted) {
                return so_far.keep(tensor, patience, judge.by_count(tensor, *counted));
            }
            const auto decided = judge.by_extrema(tensor);
            return decided ? so_far.keep(tensor, patience, *decided) : tensor.note(counted.error());
        });
    }
};

inline void dead_relu::check() const {
    detail::check_range(name(), "patience", patience, {.least = 1});
    detail::require_setting(name(), !tensor_regex.empty(), "tensor_regex");
    detail::activity_thresholds{threshold_inactivity, threshold_layer}.check(name());
}

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>
