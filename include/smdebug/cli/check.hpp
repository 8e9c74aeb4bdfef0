// `smdebug check`: rules over the saved steps of runs, a row for each finding.
#pragma once

#include <smdebug/cli/console.hpp>
#include <smdebug/cli/finding_actions.hpp>
#include <smdebug/cli/rows.hpp>
#include <smdebug/cli/rule_notes.hpp>
#include <smdebug/cli/rule_set.hpp>
#include <smdebug/cli/runs.hpp>
#include <smdebug/cli/text.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/registry/rule_request.hpp>
#include <smdebug/rules/any_rule.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/rules/outcome.hpp>
#include <smdebug/rules/rule_status.hpp>
#include <smdebug/trial/read/trial_state.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

struct check_arguments {
    std::vector<std::string> runs = {};
    std::vector<rule_request> rules = {};
    step_number start = 0;
    std::optional<step_number> end = {};  ///< exclusive
    bool stop_at_first = false;           ///< each rule ends at the first step that meets its condition
    bool first_offender = false;          ///< of such a step only the first finding
    action_options actions = {};
    run_options how = {};
    follow_options follow = {};
};

/// The columns of check; the widths are for tables that are printed as the rows come.
[[nodiscard]] inline std::vector<column> check_columns() {
    return {text_column("run", shortened::at_start),
            {"rule"},
            {"step", true, 8},
            {"mode", false, 7, shortened::never, 3},
            {"mode_step", true, 0, shortened::never, 5},
            {"tensor", false, 24},
            {"worker", false, 8, shortened::never, 4},
            {"value", true, 11, shortened::never, 1},
            {"threshold", true, 0, shortened::never, 2},
            text_column("message", shortened::at_end)};
}

/// The columns of its summary.
[[nodiscard]] inline std::vector<column> summary_columns() {
    return {text_column("run", shortened::at_start),
            {"rule"},
            {"status"},
            {"steps_evaluated", true, 0, shortened::never, 5},
            {"steps_met", true, 0, shortened::never, 4},
            {"findings", true, 0, shortened::never, 3}};
}

/// What is checked of a run: its steps as they are at the start, so that a run that grows does not go on for ever.
struct check_range {
    step_number start = 0;
    std::optional<step_number> end = {};
    std::size_t steps = 0;
};

template <class Trial>
[[nodiscard]] check_range range_of(const Trial& run, const check_arguments& args) {
    check_range range{.start = args.start, .end = args.end};
    const auto steps = run.steps({.show_incomplete_steps = true});
    if (!run.loaded_all_steps()) {
        const step_number after_last = steps.empty() ? args.start : std::max(args.start, steps.back() + 1);
        range.end = args.end ? std::min(*args.end, after_last) : after_last;
    }
    range.steps = static_cast<std::size_t>(std::count_if(steps.begin(), steps.end(), [&](step_number step) {
        return step >= range.start && (!range.end || step < *range.end);
    }));
    return range;
}

/// A finding as a row.
template <class Trial>
void add_finding(row_buffer& row, const Trial& run, const std::string& path, std::string_view rule, step_number step,
                 const finding& found) {
    row.text(path);
    row.text(rule);
    row.integer(step);
    row.text(name_of(run.mode(step).value_or(mode::global)));
    row.integer(run.mode_step(step).value_or(step));
    row.text(found.tensor);
    row.text(found.worker);
    row.number(found.value);
    std::isnan(found.threshold) ? row.empty() : row.number(found.threshold);
    row.text(found.message);
    row.end_row();
}

/// A rule's row of the summary, but for its end.
inline void fill_summary(row_buffer& row, const std::string& path, const rule_result& result) {
    row.text(path);
    row.text(result.name);
    row.text(name_of(result.report.status));
    row.integer(result.outcome.evaluated);
    row.integer(result.outcome.met_at.size());
    row.integer(result.outcome.findings.size());
}

/// Errors: usage_error.
[[nodiscard]] inline finding_actions actions_of(const check_arguments& args) {
    return finding_actions{args.actions, args.runs.size() > 1, args.rules};
}

/// The result of a rule that could not be made: a run that it compares with cannot be opened.
[[nodiscard]] inline rule_result not_made(const std::string& name, const std::string& why) {
    return {.name = name,
            .outcome = {.end = invoke_end::failed},
            .failure = why,
            .report = {.rule = name, .status = rule_status::error, .status_details = why}};
}

/// Rules over the steps that there are of one run: findings go to `rows` (null: nowhere), notes, failures and progress
/// to the console.  A result for each request, in their order: one that cannot be made does not lose the others.
[[nodiscard]] inline std::vector<rule_result> check_run(rule_maker& maker, const std::vector<rule_request>& requests,
                                                        const program_trial& run, const std::string& path,
                                                        const check_arguments& args, row_sink* rows,
                                                        finding_actions& actions, console& to) {
    std::vector<rule_result> all(requests.size());
    std::vector<std::size_t> places;
    std::vector<any_rule<program_trial>> rules;
    for (std::size_t i = 0; i < requests.size(); ++i) {
        try {
            rules.push_back(maker.make(requests[i]));
            places.push_back(i);
        } catch (const error& failed) {
            all[i] = not_made(maker.name_of(requests[i]), error_text(failed, path));
            to.error(all[i].name + " cannot be evaluated: " + all[i].failure);
        }
    }
    const check_range range = range_of(run, args);
    row_buffer row = rows != nullptr ? rows->buffer() : row_buffer{output_format::csv, {}};
    const bool show_progress = args.how.format == output_format::table || !to.results_on_terminal();
    std::size_t done = 0;
    std::vector<std::string> names;
    for (const any_rule<program_trial>& each : rules) {
        names.push_back(each.name());
    }
    std::vector<note_limit> notes(names.size());
    damage_limit damage;
    const auto tell = [&](std::size_t rule, const rule_note& note) {
        note.damage.empty() ? notes[rule].tell(note, to) : damage.tell(note, to);
    };
    invoke_rules_options how{.common = {.start_step = range.start,
                                        .end_step = range.end,
                                        .stop_at_first = args.stop_at_first,
                                        .first_offender = args.first_offender,
                                        .timeout = std::chrono::milliseconds{0}}};
    const auto note_action = [&](const std::string& text) { to.note(text); };
    how.on_finding = [&](std::size_t rule, const finding& found) {
        if (rows != nullptr) {
            add_finding(row, run, path, names[rule], found.step, found);
            rows->take(row);
        }
        actions.act(path, names[rule], found, note_action);
    };
    how.on_note = [&](std::size_t rule, const finding& note) {
        tell(rule, note_of(path, names[rule], note.step, note));
    };
    how.on_skip = [&](std::size_t rule, step_number step, const error& missing) {
        tell(rule, note_of(path, names[rule], step, missing));
    };
    how.on_step = [&](step_number) {
        if (++done; show_progress) {
            to.progress("steps of " + path, done, range.steps);
        }
    };
    note_missing_collections(args.rules, run, path, note_action);
    if (range.steps == 0) {  // nothing is found there, which would look like good health
        const auto there = run.steps({.show_incomplete_steps = true});
        to.note(there.empty() ? path + " has no steps yet: nothing is evaluated"
                              : "none of the steps of " + path + " is evaluated; they are " + compact_steps(there));
    }
    actions.begin(path, names, note_action);
    std::vector<rule_result> results = invoke_rules(run, std::move(rules), how);
    damage.finish(path, to);
    for (std::size_t i = 0; i < notes.size(); ++i) {
        notes[i].finish(names[i], path, to);
        all[places[i]] = std::move(results[i]);
    }
    for (const rule_result& each : all) {
        if (each.cause) {
            to.error(failure_of(each, path));
        }
        actions.finish(path, each.report, note_action);
    }
    if (const std::string unread = unread_of(all, path, run.state()->missing_event_files()); !unread.empty()) {
        to.error(unread);
    }
    if (!run.loaded_all_steps()) {
        const bool all_seen = std::none_of(
            all.begin(), all.end(), [](const rule_result& each) { return each.outcome.end == invoke_end::timed_out; });
        to.note("the job of " + path + " has not ended: checked what is there now" +
                (all_seen ? "" : ", but for the last steps, which are not complete yet"));
    }
    return all;
}

/// Runs the command over the steps that there are; the exit status.
[[nodiscard]] inline int check(const check_arguments& args, const program_rules& registry, console& to) {
    rule_maker rules{registry, args.how};
    finding_actions actions = detail::actions_of(args);
    row_sink rows{to, args.how.format, check_columns()};
    row_sink summary{to, output_format::table, summary_columns()};
    bool met = false;
    detail::run_tally tally;
    bool any_checked = false;
    const auto note = [&](const std::string& text) { to.note(text); };
    const auto command = [&](const std::string& path, const program_trial& run) {
        row_buffer row = summary.buffer();
        const auto results = detail::check_run(rules, args.rules, run, path, args, &rows, actions, to);
        tally.add(results);
        for (const rule_result& each : results) {
            met = met || !each.outcome.findings.empty();
            detail::fill_summary(row, path, each);
            row.end_row();
        }
        summary.take(row);
        any_checked = true;
    };
    for_each_run(args.runs, reducing(args.how), to, command, [&](const std::string& path, const std::string& why) {
        tally.add_failed();
        actions.fail(path, rules.names_of(args.rules), why, note);
    });
    actions.flush(note);
    if (args.how.format == output_format::table && any_checked) {
        rows.finish("nothing found\n");
        to.print("\n");
        summary.finish("");
        to.print(tally.text().empty() ? "" : "\n" + tally.text() + "\n");
    }
    return to.status(met);
}

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
