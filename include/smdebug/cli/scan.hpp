// `smdebug scan`: all built-in rules that have something to look at, over many runs; a row for each run and rule.
// Used by: cli/program.hpp.
#pragma once

#include <smdebug/cli/check.hpp>
#include <smdebug/cli/console.hpp>
#include <smdebug/cli/rows.hpp>
#include <smdebug/cli/rule_set.hpp>
#include <smdebug/cli/runs.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/registry/built_in_rules.hpp>
#include <smdebug/registry/configure.hpp>
#include <smdebug/registry/rule_request.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/finding_json.hpp>
#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/rules/rule_report.hpp>
#include <smdebug/rules/rule_status.hpp>
#include <smdebug/rules/setting_text.hpp>
#include <smdebug/trial/options.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {

namespace detail {

/// What a built-in rule needs of a run to have something to look at: any of the collections, or a tensor that matches
/// the regexes in one of its parameters.
struct scanned_rule {
    std::string_view name;
    std::string_view collections = {};         ///< with commas between them
    std::string_view regex_parameters = {};    ///< names of parameters that hold regexes, with commas between them
    std::string_view collection_setting = {};  ///< parameter collection_names, which such a rule cannot do without
    bool train_and_eval = false;               ///< of both modes (or metrics, which XGBoost saves)
    std::string_view never = {};               ///< why it cannot be chosen by itself
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

[[nodiscard]] inline std::string default_of(const rule_info& info, std::string_view parameter) {
    const auto held = std::find_if(info.parameters.begin(), info.parameters.end(),
                                   [&](const parameter_info& each) { return each.name == parameter; });
    return held != info.parameters.end() ? held->standard : std::string{};
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
    for (const std::string& group : smdebug::detail::items_in(what.collections)) {
        const bool any = !run.tensor_names({.collection = group}).empty();
        found = found || any;
        metrics = metrics || (any && group == "metrics");
        looked_for.append(looked_for.empty() ? "no tensor" : " or").append(" in collection ").append(group);
    }
    for (const std::string& parameter : smdebug::detail::items_in(what.regex_parameters)) {
        const std::string regexes = default_of(info, parameter);
        found = found || !run.tensor_names({.regex = smdebug::detail::items_in(regexes)}).empty();
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

}  // namespace detail

struct scan_arguments {
    check_arguments check = {};  ///< its rules: those to be configured otherwise, or added
    std::vector<std::string> other_trials = {};
};

namespace detail {

/// The rules for a run: those that the user configured, as they are; of the others those that have something to look
/// at.
template <class Trial>
[[nodiscard]] std::vector<planned_rule> plan_scan(const scan_arguments& given, const program_rules& known,
                                                  const Trial& run) {
    std::vector<planned_rule> plan;
    for (const rule_info& info : known.infos()) {
        bool configured = false;
        for (const rule_request& each : given.check.rules) {
            if (known.info(each.rule).name == info.name) {
                plan.push_back({each});
                configured = true;
            }
        }
        if (configured) {
            continue;
        }
        planned_rule planned{{.label = info.name, .rule = info.name}};
        if (known.compares_runs(info.name) && !given.other_trials.empty()) {
            planned.request.other_trials = given.other_trials;
            plan.push_back(std::move(planned));
            continue;
        }
        const auto held = std::find_if(std::begin(scanned_rules), std::end(scanned_rules),
                                       [&](const scanned_rule& each) { return each.name == info.name; });
        const scanned_rule what = held != std::end(scanned_rules) ? *held : scanned_rule{.name = info.name};
        planned.why_not = nothing_for(what, info, run).value_or("");
        if (!what.collection_setting.empty()) {
            planned.request.parameters.emplace("collection_names", std::string{what.collection_setting});
        }
        plan.push_back(std::move(planned));
    }
    return plan;
}

}  // namespace detail

/// The columns of its rows, a row for each run and rule.  JSON adds "found": the findings, each as a row of check.
[[nodiscard]] inline std::vector<column> scan_columns(output_format format) {
    std::vector<column> columns = summary_columns();
    columns.push_back({"first_step", true});
    columns.push_back({"details"});
    if (format != output_format::table) {
        columns.push_back({"steps_skipped"});
        columns.push_back({"tensors"});
        columns.push_back({"unread"});
    }
    if (format == output_format::json) {
        columns.push_back({"found"});
    }
    return columns;
}

namespace detail {

/// The cells behind the status, of a run or rule that was not evaluated.
inline void fill_not_evaluated(row_buffer& row, std::string_view why) {
    const auto empty = [&](std::size_t cells) {
        for (std::size_t i = 0; i < cells; ++i) {
            row.empty();
        }
    };
    empty(4);
    row.text(why);
    empty(row.format() != output_format::table ? 3 : 0);
    if (row.format() == output_format::json) {
        row.json("[]");
    }
    row.end_row();
}

/// What a person wants to know first.
[[nodiscard]] inline std::string details_of(const rule_result& result) {
    if (result.outcome.findings.empty()) {
        return result.failure.empty() ? result.report.status_details : result.failure;
    }
    const finding& first = result.outcome.findings.front();
    const std::string unread = unread_text(result.outcome);
    return (first.tensor.empty() ? "" : first.tensor + ": ") + first.message + (unread.empty() ? "" : "; ") + unread +
           (result.failure.empty() ? "" : "; failed later: ") + result.failure;
}

inline void add_scanned(row_buffer& row, const std::string& path, const rule_result& result) {
    fill_summary(row, path, result);
    const std::vector<finding>& found = result.outcome.findings;
    found.empty() ? row.empty() : row.integer(found.front().step);
    row.text(details_of(result));
    if (row.format() != output_format::table) {
        row.integer(result.outcome.skipped);
        row.integer(result.outcome.tensors);
        row.integer(result.outcome.unread);
    }
    if (row.format() == output_format::json) {
        std::string all = "[";
        for (finding one : found) {
            one.rule = result.name;
            all += all.size() == 1 ? "" : ",";
            append_finding_json(all, path, one);
        }
        row.json(all + "]");
    }
    row.end_row();
}

}  // namespace detail

/// Runs the command; the exit status.  A row for each run and rule, those among them that have nothing to look at; a
/// run that cannot be opened, or breaks, is one row, without a rule.
[[nodiscard]] inline int scan_runs(const scan_arguments& given, const program_rules& known, console& to) {
    rule_maker rules{known, given.check.how};
    finding_actions actions = detail::actions_of(given.check);
    row_sink rows{to, given.check.how.format, scan_columns(given.check.how.format)};
    bool met = false;
    const auto note = [&](const std::string& text) { to.note(text); };
    const auto command = [&](const std::string& path, const program_trial& run) {
        const auto plan = detail::plan_scan(given, known, run);
        std::vector<rule_request> chosen;
        for (const detail::planned_rule& each : plan) {
            if (each.why_not.empty()) {
                chosen.push_back(each.request);
            }
        }
        const auto results = detail::check_run(rules, chosen, run, path, given.check, nullptr, actions, to);
        row_buffer row = rows.buffer();
        auto result = results.begin();
        for (const detail::planned_rule& each : plan) {
            if (each.why_not.empty()) {
                met = met || !result->outcome.findings.empty();
                detail::add_scanned(row, path, *result++);
            } else {
                row.text(path);
                row.text(each.request.label);
                row.text("NotApplicable");
                detail::fill_not_evaluated(row, each.why_not);
            }
        }
        rows.take(row);
    };
    for_each_run(given.check.runs, given.check.how, to, command, [&](const std::string& path, const std::string& why) {
        row_buffer row = rows.buffer();
        row.text(path);
        row.empty();
        row.text(name_of(rule_status::error));
        detail::fill_not_evaluated(row, why);
        rows.take(row);
        actions.fail(path, {}, why, note);
    });
    rows.finish("");
    actions.flush(note);
    return to.status(met);
}

}  // namespace cli
}  // namespace v1
}  // namespace smdebug
