// The built-in rule SaturatedActivation: too many nodes of a tanh or sigmoid layer are (almost) always saturated.
// Source: the public description of SageMaker Debugger's rule SaturatedActivation.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/judge/check_settings.hpp>
#include <smdebug/rules/judge/layer_activity.hpp>
#include <smdebug/rules/judge/saved_tensor.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/trial.hpp>

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules {

/// Fires for each selected tensor, the inputs of a layer of tanh or sigmoid, in which more than threshold_layer percent
/// of the nodes are saturated: strictly between the layer's limits in less than threshold_inactivity percent of the
/// samples.  Each step is judged separately.
/// The name selects the limits: "tanh" those of tanh, otherwise "sigmoid" those of sigmoid; a tensor with neither in
/// its name is skipped with a note.
/// Axis 0 counts the samples, each position of the others is a node; a tensor with one axis is one sample.  NaN is not
/// active.  Tensors without axes or values, complex numbers and strings are skipped.
/// Fast path: min and max, if both lie between the limits (no value is saturated) or on one side of them (all values
/// are); else a pass over the values, which ends as soon as enough nodes are known to be active.
struct saturated_activation {
    text_list collection_names = {};  ///< with tensor_regex, which keeps its default: the union
    text_list tensor_regex = {".*tanh_input", ".*sigmoid_input"};
    double threshold_tanh_min = -9.4999;
    double threshold_tanh_max = 9.4999;
    double threshold_sigmoid_min = -23;
    double threshold_sigmoid_max = 16.99999;
    double threshold_inactivity = 1;  ///< percent of the samples
    double threshold_layer = 50;      ///< percent of the nodes of a layer
    bool all_workers = false;

    [[nodiscard]] static constexpr std::string_view name() noexcept { return "saturated_activation"; }
    [[nodiscard]] static constexpr std::string_view service_name() noexcept { return "SaturatedActivation"; }
    [[nodiscard]] static constexpr std::string_view summary() noexcept {
        return "too many nodes of a tanh or sigmoid layer are (almost) always saturated";
    }
    template <class Rule = saturated_activation>
    [[nodiscard]] static constexpr auto settings() {
        return std::tuple{
            setting{"collection_names", &Rule::collection_names, collection_names_meaning},
            setting{"tensor_regex", &Rule::tensor_regex, tensor_regex_meaning, setting_kind::regexes},
            setting{"threshold_tanh_min", &Rule::threshold_tanh_min, "an input of tanh is active strictly above this"},
            setting{"threshold_tanh_max", &Rule::threshold_tanh_max, "an input of tanh is active strictly below this"},
            setting{"threshold_sigmoid_min", &Rule::threshold_sigmoid_min,
                    "an input of sigmoid is active strictly above this"},
            setting{"threshold_sigmoid_max", &Rule::threshold_sigmoid_max,
                    "an input of sigmoid is active strictly below this"},
            setting{"threshold_inactivity", &Rule::threshold_inactivity,
                    "a node that is active in less than this percentage of the samples is saturated"},
            setting{"threshold_layer", &Rule::threshold_layer,
                    "fires if more than this percentage of the nodes of a layer is saturated"},
            setting{"all_workers", &Rule::all_workers, all_workers_meaning}};
    }

    /// Errors: insufficient_information; value_error for a threshold that is not a percentage, or
    ///         for limits with nothing between them.
    void check() const;

    [[nodiscard]] std::vector<finding> operator()(const std::derived_from<trial> auto& run, step_number step) const {
        return detail::judge_each(run, step, {collection_names, tensor_regex}, all_workers, [&](const auto& tensor) {
            const std::optional<detail::active_range> range = range_of(tensor.name());
            if (!range) {
                return tensor.note("its name contains neither tanh nor sigmoid, so its limits are not known");
            }
            const detail::layer_judge judge{*range, {threshold_inactivity, threshold_layer}, "saturated"};
            if (const auto decided = judge.by_extrema(tensor)) {
                return *decided;
            }
            const auto counted = tensor.measured(judge.measure());
            return counted ? judge.by_count(tensor, *counted) : tensor.note(counted.error());
        });
    }

private:
    [[nodiscard]] std::optional<detail::active_range> range_of(std::string_view tensor) const;

    static void check_limits(const std::string& what, double low, double high);
};

inline void saturated_activation::check() const {
    detail::require_choice(name(), collection_names, tensor_regex);
    check_limits("tanh", threshold_tanh_min, threshold_tanh_max);
    check_limits("sigmoid", threshold_sigmoid_min, threshold_sigmoid_max);
    detail::activity_thresholds{threshold_inactivity, threshold_layer}.check(name());
}

inline std::optional<detail::active_range> saturated_activation::range_of(std::string_view tensor) const {
    if (tensor.find("tanh") != std::string_view::npos) {
        return detail::active_range{threshold_tanh_min, threshold_tanh_max};
    }
    if (tensor.find("sigmoid") != std::string_view::npos) {
        return detail::active_range{threshold_sigmoid_min, threshold_sigmoid_max};
    }
    return std::nullopt;
}

inline void saturated_activation::check_limits(const std::string& what, double low, double high) {
    if (!(low < high)) {
        throw value_error(std::string{name()} + ": threshold_" + what + "_min is " + short_text(low) +
                          ", which is not below threshold_" + what + "_max, " + short_text(high));
    }
}

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>
