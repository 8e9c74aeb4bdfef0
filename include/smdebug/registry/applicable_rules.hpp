// Which of the built-in rules have something to look at in a run, and why the others have not: what `smdebug scan`
// evaluates.
#pragma once

#include <smdebug/core/step.hpp>
#include <smdebug/registry/built_in_rules.hpp>
#include <smdebug/registry/configure.hpp>
#include <smdebug/registry/rule_registry.hpp>
#include <smdebug/registry/rule_request.hpp>
#include <smdebug/rules/any_rule.hpp>
#include <smdebug/rules/setting_text.hpp>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// What a built-in rule needs of a run to have something to look at: any of the collections, or a tensor that matches
/// the regexes in one of its parameters.
struct scanned_rule {
    std::string_view name;
    std::string_view collections = {};       ///< with commas between them
    std::string_view regex_parameters = {};  ///< names of parameters that hold regexes, with commas between them
    /// Parameter collection_names, where a rule cannot do without it, or tensor_regex.
    std::string_view collection_setting = {};
    bool train_and_eval = false;  ///< of both modes (or metrics, which XGBoost saves)
    std::string_view never = {};  ///< why it cannot be chosen by itself
};

inline constexpr scanned_rule scanned_rules[] = {
    {.name = "vanishing_gradient", .collections = "gradients"},
    {.name = "exploding_tensor"},
    {.name = "poor_weight_initialization",
     .collections = "gradients,losses",
     .regex_parameters = "activation_inputs_regex"},
    {.name = "saturated_activation", .regex_parameters = "tensor_regex"},
    {.name = "dead_relu", .regex_parameters = "tensor_regex"},
    {.name = "all_zero", .collections = "weights,gradients", .collection_setting = "weights,gradients"},
    {.name = "tensor_variance",
     .never = "it needs to know what is too much or too little: --rule tensor_variance,max_threshold=..."},
    {.name = "unchanged_tensor", .collections = "weights", .collection_setting = "weights"},
    {.name = "similar_across_runs", .never = "it needs runs to compare with: --other-trials"},
    {.name = "weight_update_ratio", .collections = "weights"},
    {.name = "loss_not_decreasing", .collections = "losses"},
    {.name = "overfit", .collections = "losses,metrics", .train_and_eval = true},
    {.name = "overtraining", .collections = "losses,metrics", .train_and_eval = true},
    {.name = "class_imbalance", .regex_parameters = "labels_regex"},
    {.name = "confusion", .collections = "labels,predictions", .regex_parameters = "labels,predictions"},
    {.name = "stalled_training", .never = "it watches jobs that run: check --follow"},
    {.name = "check_input_images", .regex_parameters = "regex"},
    {.name = "nlp_sequence_ratio", .regex_parameters = "tensor_regex"},
    {.name = "tree_depth", .collections = "trees"},
    {.name = "feature_importance_overweight", .regex_parameters = "tensor_regex"},
};

/// A rule that a scan evaluates, or why not.
struct planned_rule {
    rule_request request;
    std::string why_not = {};
};

/// What a scan knows of a rule, by whichever of its names; null: it is none of the built-in ones.
[[nodiscard]] inline const scanned_rule* scanned_rule_named(std::string_view name) {
    const auto usual = std::find_if(std::begin(scanned_rules), std::end(scanned_rules),
                                    [&](const scanned_rule& each) { return each.name == name; });
    if (usual != std::end(scanned_rules)) {
        return usual;
    }
    const std::string plain = plain_rule_name(name);
    const auto rule = std::find_if(std::begin(scanned_rules), std::end(scanned_rules),
                                   [&](const scanned_rule& each) { return plain_rule_name(each.name) == plain; });
    return rule != std::end(scanned_rules) ? rule : nullptr;
}

/// Gives a rule that cannot do without collections, or names, those that a scan chooses for it; returns whether it had
/// none.
inline bool supply_collections(rule_request& request) {
    const scanned_rule* what = scanned_rule_named(request.rule);
    if (what == nullptr || what->collection_setting.empty() || request.parameters.contains("collection_names") ||
        request.parameters.contains("tensor_regex")) {
        return false;
    }
    request.parameters.emplace("collection_names", std::string{what->collection_setting});
    return true;
}

[[nodiscard]] inline std::string default_of(const rule_info& info, std::string_view parameter) {
    const auto setting = std::find_if(info.parameters.begin(), info.parameters.end(),
                                      [&](const parameter_info& each) { return each.name == parameter; });
    return setting != info.parameters.end() ? setting->standard : std::string{};
}

/// Whether a run has anything for a rule to look at: nothing if so, else why not.
template <class Trial>
[[nodiscard]] std::optional<std::string> nothing_for(const scanned_rule& what, const rule_info& info,
                                                     const Trial& run) {
    if (!what.never.empty()) {
        return std::string{what.never};
    }
    std::string looked_for;
    bool found = what.collections.empty() && what.regex_parameters.empty();
    bool metrics = false;
    for (const std::string& group : items_in(what.collections)) {
        const bool any = !run.tensor_names({.collection = group}).empty();
        found = found || any;
        metrics = metrics || (any && group == "metrics");
        looked_for.append(looked_for.empty() ? "no tensor" : " or").append(" in collection ").append(group);
    }
    for (const std::string& parameter : items_in(what.regex_parameters)) {
        const std::string regexes = default_of(info, parameter);
        found = found || !run.tensor_names({.regex = items_in(regexes)}).empty();
        looked_for.append(looked_for.empty() ? "no tensor" : " or").append(" named like ").append(regexes);
    }
    if (!found) {
        return looked_for;
    }
    if (what.train_and_eval && !metrics) {
        const auto modes = run.modes();
        const bool both = std::find(modes.begin(), modes.end(), mode::train) != modes.end() &&
                          std::find(modes.begin(), modes.end(), mode::eval) != modes.end();
        if (!both) {
            return "it compares steps of TRAIN with steps of EVAL";
        }
    }
    return std::nullopt;
}

/// Rules of a scan look at every worker, unless the request says otherwise; those of the service's JSON as there.
inline void look_at_all_workers(rule_request& request, const rule_info& info) {
    const bool has_choice = std::any_of(info.parameters.begin(), info.parameters.end(),
                                        [](const parameter_info& each) { return each.name == "all_workers"; });
    if (has_choice && !request.is_from_json) {
        request.parameters.emplace("all_workers", "true");
    }
}

/// The rules for a run: those that the user configured, as they are but for collections that a rule cannot do without;
/// of the others those that have something to look at.
template <class Trial>
[[nodiscard]] std::vector<planned_rule> plan_rules(const rule_registry<Trial>& registry, const Trial& run,
                                                   const std::vector<rule_request>& configured_rules = {},
                                                   const std::vector<std::string>& other_trials = {}) {
    std::vector<planned_rule> plan;
    for (const rule_info& info : registry.infos()) {
        const scanned_rule* entry = scanned_rule_named(info.name);
        const scanned_rule what = entry != nullptr ? *entry : scanned_rule{.name = info.name};
        bool configured = false;
        for (const rule_request& each : configured_rules) {
            if (registry.info(each.rule).name == info.name) {
                planned_rule planned{each};
                look_at_all_workers(planned.request, info);
                if (supply_collections(planned.request)) {
                    planned.why_not = nothing_for(what, info, run).value_or("");
                }
                plan.push_back(std::move(planned));
                configured = true;
            }
        }
        if (configured) {
            continue;
        }
        planned_rule planned{{.label = info.name, .rule = info.name}};
        look_at_all_workers(planned.request, info);
        if (registry.compares_runs(info.name) && !other_trials.empty()) {
            planned.request.other_trials = other_trials;
            plan.push_back(std::move(planned));
            continue;
        }
        planned.why_not = nothing_for(what, info, run).value_or("");
        supply_collections(planned.request);
        plan.push_back(std::move(planned));
    }
    return plan;
}

}  // namespace detail

/// The built-in rules that have something to look at in a run, as `smdebug scan` sets them.  For scan_runs().
template <class Trial>
[[nodiscard]] std::vector<any_rule<Trial>> applicable_rules(const rule_registry<Trial>& registry, const Trial& run) {
    std::vector<any_rule<Trial>> rules;
    for (const detail::planned_rule& each : detail::plan_rules(registry, run)) {
        if (each.why_not.empty()) {
            rules.push_back(registry.make(each.request.rule, each.request.parameters));
        }
    }
    return rules;
}

}  // namespace v1
}  // namespace smdebug
