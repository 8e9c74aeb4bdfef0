// Rules by name, made from text parameters: the built-in ones, and a program's own.  Also which of them a scan evaluates
// over a run, and rules in JSON.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/json_document.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/registry/built_in_rules.hpp>
#include <smdebug/registry/configure.hpp>
#include <smdebug/rules/any_rule.hpp>
#include <smdebug/rules/concepts.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/trial/concepts.hpp>
#include <smdebug/trial/trial.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1 {

namespace detail {

/// Rules by name, for runs of any type.  Runs that a rule compares with are passed as trials, and have the type that
/// the rule was added for.
class rule_table {
public:
    using rule_pointer = std::shared_ptr<erased_rule<trial>>;
    using trial_list = std::vector<std::shared_ptr<const trial>>;

    struct entry {
        rule_info info;
        bool compares_runs = false;
        void (*check)(const rule_parameters&, bool compares) = nullptr;
        rule_pointer (*make)(const rule_parameters&, const trial_list&) = nullptr;
    };

    [[nodiscard]] static rule_table built_in();

    [[nodiscard]] std::vector<rule_info> infos() const;
    [[nodiscard]] const entry& find(std::string_view name) const;
    void check(std::string_view name, const rule_parameters& parameters, bool compares) const;
    void put(entry made);

    template <class Rule, class Trial>
    void add() {
        put({.info = describe<Rule>(),
             .compares_runs = takes_other_runs<Rule, Trial>,
             .check =
                 [](const rule_parameters& parameters, bool compares) {
                     Rule rule{};
                     configure(rule, parameters);
                     try {
                         check_settings(rule);
                     } catch (const value_error& wrong) {
                         if (!compares || wrong.code() != error_code::insufficient_information) {
                             throw;
                         }
                     }
                 },
             .make = [](const rule_parameters& parameters, const trial_list& others) -> rule_pointer {
                 Rule rule{};
                 configure(rule, parameters);
                 if constexpr (takes_other_runs<Rule, Trial>) {
                     std::vector<std::shared_ptr<const Trial>> typed;
                     for (const auto& each : others) {
                         typed.push_back(std::static_pointer_cast<const Trial>(each));
                     }
                     rule.others = std::move(typed);
                 }
                 check_settings(rule);
                 return any_rule<Trial>{std::move(rule)}.erased_;
             }});
    }

private:
    std::vector<entry> entries_;
};

}  // namespace detail

/// Makes rules over runs of type Trial from names and parameters.  A value: no global state, no automatic registration.
///
///     auto registry = smd::rule_registry<smd::trial>::built_in();
///     registry.add<my_rule>();
///     auto rule = registry.make("VanishingGradient", {{"threshold", "1e-6"}});
template <std::derived_from<trial> Trial>
class rule_registry {
public:
    /// A run that a rule compares with, the type of the items of its member `others`: see takes_other_runs.
    using other_runs = std::vector<std::shared_ptr<const Trial>>;

    /// An empty registry.
    rule_registry() = default;

    /// A registry of the built-in rules.
    [[nodiscard]] static rule_registry built_in() {
        rule_registry made;
        made.table_ = detail::rule_table::built_in();
        return made;
    }

    /// Adds a rule; it replaces one of the same name.  Its member `others`, if any, is set to other_runs.
    template <described_rule Rule>
        requires rule<Rule, Trial>
    void add() {
        static_assert(
            takes_other_runs<Rule, Trial> || !requires(Rule& rule) { rule.others; },
            "the rule's member `others` is not for runs of this type: write "
            "std::vector<std::shared_ptr<const Trial>> others, with the registry's Trial; for rule_main "
            "smdebug::program_trial");
        table_.add<Rule, Trial>();
    }

    /// The description of each rule, in the order in which they were added.
    [[nodiscard]] std::vector<rule_info> infos() const { return table_.infos(); }
    /// The description of the rule of that name.  Errors: value_error: there is none; the message names the nearest.
    [[nodiscard]] const rule_info& info(std::string_view name) const { return table_.find(name).info; }
    /// Whether the rule of that name compares runs.  Errors: as info().
    [[nodiscard]] bool compares_runs(std::string_view name) const { return table_.find(name).compares_runs; }

    /// Checks a name and parameters before there are runs; `compares`: runs to compare with will be passed, so that
    /// insufficient_information, thrown by a rule's check() in their absence, is ignored.  Errors:
    /// as make().
    void check(std::string_view name, const rule_parameters& parameters, bool compares = false) const {
        table_.check(name, parameters, compares);
    }

    /// A new rule, with separate state: make one for each run.
    /// Errors: value_error, insufficient_information: an unknown name or parameter (the message
    ///         names the nearest), an invalid value (the message names its parameter, type and default), invalid
    ///         settings.
    [[nodiscard]] any_rule<Trial> make(std::string_view name, const rule_parameters& parameters = {},
                                       const other_runs& others = {}) const {
        return any_rule<Trial>{table_.find(name).make(parameters, {others.begin(), others.end()})};
    }

private:
    detail::rule_table table_;
};

// Selects the built-in rules that have something to judge in a run, with the reasons for the others: `smdebug scan`
// evaluates these.
namespace detail {

/// What a built-in rule needs in a run: any of the collections, or a tensor that matches the regexes in one of its
/// parameters.
struct scanned_rule {
    std::string_view name;
    std::string_view collections = {};       ///< separated by commas
    std::string_view regex_parameters = {};  ///< names of parameters that hold regexes, separated by commas
    /// The parameter that the rule requires: collection_names or tensor_regex.
    std::string_view collection_setting = {};
    bool train_and_eval = false;    ///< it needs both modes (or metrics, which XGBoost saves)
    std::string_view regexes = {};  ///< or a tensor that matches one of these, separated by commas
    bool compares_workers = false;  ///< it needs two workers
    /// Parameters that a scan sets where the user does not, "name=value", separated by commas; tests/zoo tries them.
    std::string_view parameters = {};
    std::string_view never = {};  ///< why it cannot be selected automatically
};

inline constexpr scanned_rule scanned_rules[] = {
    // Some biases have no gradient by design, as those of an attention's keys, or those before a normalization.
    {.name = "vanishing_gradient", .collections = "gradients", .parameters = "patience=3,exclude_regex=(?i)bias"},
    {.name = "exploding_tensor", .parameters = "exclude_regex=^trees/"},  // XGBoost's leaves have NaN for a split
    {.name =
         "poor_weight_initialization",  // in a scan by variances alone: gradients and losses have rules of their own
     .regex_parameters = "activation_inputs_regex",
     .parameters = "threshold=1000,distribution_range=0,patience=10"},
    {.name = "saturated_activation", .regex_parameters = "tensor_regex"},
    {.name = "dead_relu",
     .regex_parameters = "tensor_regex",
     .parameters = "patience=10"},  // few samples: one more may wake it
    {.name = "all_zero",
     .collections = "weights,gradients",
     .collection_setting = "weights,gradients",
     .parameters = "patience=3"},  // biases, and the last layers of many networks, begin with zeros
    {.name = "tensor_variance",
     .never = "it needs to know what is too much or too little: --rule tensor_variance,max_threshold=..."},
    {.name = "unchanged_tensor", .collections = "weights", .collection_setting = "weights"},
    {.name = "similar_across_runs", .never = "it needs runs to compare with: --other-trials"},
    {.name = "weight_update_ratio", .collections = "weights", .parameters = "patience=3"},  // from zeros: infinite
    {.name = "loss_not_decreasing", .collections = "losses", .parameters = "window=20,increase_threshold_percent=50"},
    {.name = "overfit", .collections = "losses,metrics", .train_and_eval = true, .parameters = "patience=3,rise=0.1"},
    {.name = "overtraining",
     .collections = "losses,metrics",
     .train_and_eval = true,
     .parameters = "patience_train=50,delta=0"},  // losses have any scale
    {.name = "class_imbalance", .regex_parameters = "labels_regex", .parameters = "threshold_misprediction=1"},
    {.name = "confusion",
     .never =
         "it needs to know how many must be right, and from when on: --rule confusion,min_diag=...,start_step=..."},
    {.name = "stalled_training", .never = "it watches jobs that run: check --follow"},
    {.name = "check_input_images", .regex_parameters = "regex"},
    {.name = "nlp_sequence_ratio", .regex_parameters = "tensor_regex"},
    {.name = "tree_depth", .collections = "trees", .parameters = "depth=10"},  // XGBoost's own limit is 6
    {.name = "feature_importance_overweight", .regex_parameters = "tensor_regex", .parameters = "nfeatures=1"},
    // Small batches have spikes all the time.
    {.name = "loss_spike", .collections = "losses", .parameters = "window=100,above_largest=1.5"},
    {.name = "gradient_spike", .collections = "gradients", .parameters = "window=100,above_largest=1.5"},
    {.name = "nan_origin", .parameters = "exclude_regex=^trees/"},  // XGBoost's leaves have NaN for a split
    {.name = "replica_mismatch",
     .collections = "weights",
     .regexes = "^digest/",
     .compares_workers = true,
     .parameters = "only_alike_at_first=true"},  // shards differ from the start
    {.name = "activation_outliers",
     .never = "it needs to know which activations: --rule activation_outliers,tensor_regex=..."},
    {.name = "attention_collapse",
     .never = "it needs to know which tensors are attention: --rule attention_collapse,tensor_regex=..."},
    {.name = "expert_imbalance",
     .never = "it needs to know which tensors are loads of experts: --rule expert_imbalance,tensor_regex=..."},
    {.name = "precision_underflow", .collections = "gradients"},
    {.name = "weight_norm_drift", .collections = "weights", .parameters = "warm_up=10,exclude_regex=(?i)bias"},
    {.name = "learned", .never = "it needs what was learned of healthy runs: --rule learned,file=..."},
};

/// A rule that a scan evaluates, or the reason against it.
struct planned_rule {
    rule_request request;
    std::string why_not = {};
};

/// What a scan knows about a built-in rule, by any of its names; null if it is not a built-in one.
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

/// Chooses a scan's collections for a rule that requires a choice, if the request has none; returns whether it did.
inline bool supply_collections(rule_request& request) {
    const scanned_rule* what = scanned_rule_named(request.rule);
    if (what == nullptr || what->collection_setting.empty() || request.parameters.contains("collection_names") ||
        request.parameters.contains("tensor_regex")) {
        return false;
    }
    request.parameters.emplace("collection_names", std::string{what->collection_setting});
    return true;
}

/// Sets a scan's own parameters where a request leaves them open, unless it is from the service's JSON: exclude_regex
/// only if the user has not chosen tensors, a window of losses only without num_steps, which compares single ones.
inline void supply_parameters(rule_request& request) {
    const scanned_rule* what = scanned_rule_named(request.rule);
    const auto has = [&](const char* name) { return request.parameters.contains(name); };
    const bool chosen = has("collection_names") || has("tensor_regex");
    const bool single = has("num_steps");
    for (const std::string& each : items_in(what != nullptr && !request.is_from_json ? what->parameters : "")) {
        const std::string name = each.substr(0, each.find('='));
        if (!(chosen && name == "exclude_regex") &&
            !(single && (name == "window" || name == "increase_threshold_percent"))) {
            request.parameters.emplace(name, each.substr(name.size() + 1));
        }
    }
}

[[nodiscard]] inline std::string default_of(const rule_info& info, std::string_view parameter) {
    const auto setting = std::find_if(info.parameters.begin(), info.parameters.end(),
                                      [&](const parameter_info& each) { return each.name == parameter; });
    return setting != info.parameters.end() ? setting->standard : std::string{};
}

/// Why a run has nothing for a rule to judge; nothing if it has something.
template <class Trial>
[[nodiscard]] std::optional<std::string> nothing_for(const scanned_rule& what, const rule_info& info,
                                                     const Trial& run) {
    if (!what.never.empty()) {
        return std::string{what.never};
    }
    std::string looked_for;
    bool found = what.collections.empty() && what.regex_parameters.empty() && what.regexes.empty();
    bool metrics = false;
    for (const std::string& group : items_in(what.collections)) {
        const bool any = !run.tensor_names({.collection = group}).empty();
        found = found || any;
        metrics = metrics || (any && group == "metrics");
        looked_for.append(looked_for.empty() ? "no tensor" : " or").append(" in collection ").append(group);
    }
    const auto look_for = [&](const std::string& regexes) {
        found = found || !run.tensor_names({.regex = items_in(regexes)}).empty();
        looked_for.append(looked_for.empty() ? "no tensor" : " or").append(" named like ").append(regexes);
    };
    for (const std::string& parameter : items_in(what.regex_parameters)) {
        look_for(default_of(info, parameter));
    }
    if (!what.regexes.empty()) {
        look_for(std::string{what.regexes});
    }
    if (!found) {
        return looked_for;
    }
    if (what.compares_workers && run.workers().size() < 2) {
        return "it compares workers, and the run has one";
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

/// Rules of a scan judge every worker, unless the request says otherwise; those of the service's JSON as there.
inline void look_at_all_workers(rule_request& request, const rule_info& info) {
    const bool has_choice = std::any_of(info.parameters.begin(), info.parameters.end(),
                                        [](const parameter_info& each) { return each.name == "all_workers"; });
    if (has_choice && !request.is_from_json) {
        request.parameters.emplace("all_workers", "true");
    }
}

/// The parameters that a scan gives a rule.
[[nodiscard]] inline rule_parameters scan_parameters(const rule_info& info) {
    rule_request request{.rule = info.name};
    supply_parameters(request);
    supply_collections(request);
    look_at_all_workers(request, info);
    return std::move(request.parameters);
}

/// The rules for a run: those that the user configured, with a scan's parameters where these are left open; and of the
/// other rules the ones with something to judge.
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
                supply_parameters(planned.request);
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
        supply_parameters(planned.request);
        supply_collections(planned.request);
        plan.push_back(std::move(planned));
    }
    return plan;
}

}  // namespace detail

/// The built-in rules with something to judge in a run, as `smdebug scan` configures them.  For scan_runs().
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

}  // namespace smdebug::inline v1

namespace smdebug::inline v1::detail {

inline rule_table rule_table::built_in() {
    rule_table made;
    for_each_built_in_rule([&]<class Rule>() { made.add<Rule, trial>(); });
    return made;
}

inline std::vector<rule_info> rule_table::infos() const {
    std::vector<rule_info> all;
    for (const entry& each : entries_) {
        all.push_back(each.info);
    }
    return all;
}

inline void rule_table::check(std::string_view name, const rule_parameters& parameters, bool compares) const {
    const entry& rule = find(name);
    rule.check(parameters, compares && rule.compares_runs);
    if (compares && !rule.compares_runs) {
        throw value_error("rule " + rule.info.name + " does not compare runs: it has no use for others");
    }
}

inline void rule_table::put(entry made) {
    const std::string plain = plain_rule_name(made.info.name);
    std::erase_if(entries_, [&](const entry& each) { return plain_rule_name(each.info.name) == plain; });
    entries_.push_back(std::move(made));
}

inline const rule_table::entry& rule_table::find(std::string_view name) const {
    for (const entry& each : entries_) {
        if (each.info.name == name) {
            return each;
        }
    }
    const std::string plain = plain_rule_name(name);
    std::vector<std::string> names;  // in lower case without underscores, for comparing
    std::string all;
    for (const entry& each : entries_) {
        names.push_back(plain_rule_name(each.info.name));
        if (names.back() == plain || (!plain.empty() && plain_rule_name(each.info.service_name) == plain)) {
            return each;
        }
        all.append(all.empty() ? "" : ", ").append(each.info.name);
    }
    std::string hint;
    if (const auto near = near_matches(plain, names, 1); !near.empty()) {
        const auto place = std::find(names.begin(), names.end(), near.front()) - names.begin();
        hint = " Did you mean " + entries_[static_cast<std::size_t>(place)].info.name + "?";
    }
    throw value_error("there is no rule \"" + std::string{name} + "\"." + hint + " There are: " + all);
}

}  // namespace smdebug::inline v1::detail

namespace smdebug::inline v1 {
namespace detail {

/// A string, number or boolean as the text of a parameter; nothing for anything else.
[[nodiscard]] std::optional<std::string> scalar_text(const json::value& value);

[[nodiscard]] parameter_value parameter_from(std::string_view key, const json::value& value);

inline constexpr std::string_view rules_json_forms =
    R"({"RuleConfigurationName": NAME, "RuleParameters": {"rule_to_invoke": RULE, KEY: VALUE, ...}} )"
    R"(or {"rule": RULE, "parameters": {KEY: VALUE, ...}})";

[[nodiscard]] rule_request request_from(const json::value& item);

}  // namespace detail

/// The rules in a JSON text: a list, or an object (a whole CreateTrainingJob request) whose field
/// "DebugRuleConfigurations" is one.  Parameters are strings as the service requires, or numbers, booleans, lists.
/// rule_registry::make checks rules and parameters.
/// Errors: value_error, with the number of the item, also for an unknown key, and for a repeated key or parameter;
///         `source` is for messages.
[[nodiscard]] std::vector<rule_request> parse_rules_json(std::string_view text, const std::string& source);

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/registry/impl/rule_registry.ipp>
#endif
