// `smdebug check`: rules over the saved steps of runs, a row for each finding.
// Used by: cli/program.hpp, cli/follow_check.hpp.
#pragma once

#include <smdebug/cli/console.hpp>
#include <smdebug/cli/finding_actions.hpp>
#include <smdebug/cli/rows.hpp>
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
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/catalog.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
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
    return {{"run"},
            {"rule"},
            {"step", true, 8},
            {"mode", false, 7},
            {"mode_step", true},
            {"tensor", false, 24},
            {"worker", false, 8},
            {"value", true, 11},
            {"threshold", true},
            {"message"}};
}

/// The columns of its summary.
[[nodiscard]] inline std::vector<column> summary_columns() {
    return {{"run"}, {"rule"}, {"status"}, {"steps_evaluated", true}, {"steps_met", true}, {"findings", true}};
}

namespace detail {

/// What is checked of a run: its steps as they are at the start, so that a run that grows does not go on for ever.
struct check_range {
    step_number start = 0;
    std::optional<step_number> end = {};
    std::size_t steps = 0;
};

template <class Trial>
[[nodiscard]] check_range range_of(const Trial& run, const check_arguments& given) {
    check_range range{.start = given.start, .end = given.end};
    const auto steps = run.steps({.show_incomplete_steps = true});
    if (!run.loaded_all_steps()) {
        const step_number after_last = steps.empty() ? given.start : std::max(given.start, steps.back() + 1);
        range.end = given.end ? std::min(*given.end, after_last) : after_last;
    }
    range.steps = static_cast<std::size_t>(std::count_if(steps.begin(), steps.end(), [&](step_number step) {
        return step >= range.start && (!range.end || step < *range.end);
    }));
    return range;
}

/// Whether the event file that a note is about is gone for good.
template <class Trial>
[[nodiscard]] bool has_lost_file(const Trial& run, step_number step, const std::string& worker) {
    const auto from = run.snapshot();
    const auto* held = from->find_step(step);
    const auto files = held != nullptr ? held->files() : std::span<const catalog::file>{};
    return run.loaded_all_steps() && std::any_of(files.begin(), files.end(), [&](const catalog::file& file) {
               return from->workers[file.worker] == worker &&
                      !run.store().size(Trial::state_type::event_key(*from, file));
           });
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

/// A rule's note for the console; `damage`: part of the run is lost.
struct rule_note {
    std::string text;
    bool damage = false;

    void tell(console& to) const { damage ? to.damage(text) : to.note(text); }
};

template <class Trial>
[[nodiscard]] rule_note note_of(const Trial& run, const std::string& path, std::string_view rule, step_number step,
                                const finding& note) {
    const std::string where = " of step " + std::to_string(step) + ": ";
    const bool named = note.tensor.empty() || note.message.find(note.tensor) != std::string::npos;
    return {std::string{rule} + ": " + (named ? "" : note.tensor + where) + note.message + " [run " + path + "]",
            note.damaged || has_lost_file(run, step, note.worker)};
}

[[nodiscard]] inline rule_note note_of(const std::string& path, std::string_view rule, step_number step,
                                       const error& missing) {
    return {std::string{rule} + ": step " + std::to_string(step) + " is skipped: " + error_text(missing, path)};
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

/// What a rule that threw is worth to the console.
[[nodiscard]] inline std::string failure_of(const rule_result& result, const std::string& path) {
    return result.name + " failed at step " + std::to_string(result.outcome.next_step) + ": " + result.failure +
           " [run " + path + "]";
}

/// Errors: usage_error.
[[nodiscard]] inline finding_actions actions_of(const check_arguments& given) {
    return finding_actions{given.actions, given.runs.size() > 1, given.rules};
}

/// Notes of one rule, of which the console is told the first few; damage is told always.
class note_limit {
public:
    void tell(const rule_note& note, console& to) {
        if (note.damage || ++told_ <= most) {
            note.tell(to);
        }
    }
    void finish(std::string_view rule, const std::string& path, console& to) const {
        if (told_ > most) {
            to.note(std::string{rule} + ": " + std::to_string(told_ - most) + " more such notes [run " + path + "]");
        }
    }

private:
    static constexpr std::size_t most = 10;
    std::size_t told_ = 0;
};

/// Rules over the steps that there are of one run: findings go to `rows` (null: nowhere), notes, failures and progress
/// to the console.
template <class Trial>
[[nodiscard]] std::vector<rule_result> check_run(std::vector<any_rule<Trial>> rules, const Trial& run,
                                                 const std::string& path, const check_arguments& given, row_sink* rows,
                                                 finding_actions& actions, console& to) {
    const check_range range = range_of(run, given);
    row_buffer row = rows != nullptr ? rows->buffer() : row_buffer{output_format::csv, {}};
    const bool show_progress = given.how.format == output_format::table || !to.results_on_terminal();
    std::size_t done = 0;
    std::vector<std::string> names;
    for (const any_rule<Trial>& each : rules) {
        names.push_back(each.name());
    }
    std::vector<note_limit> notes(names.size());
    invoke_rules_options how{.common = {.start_step = range.start,
                                        .end_step = range.end,
                                        .stop_at_first = given.stop_at_first,
                                        .first_offender = given.first_offender,
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
        notes[rule].tell(note_of(run, path, names[rule], note.step, note), to);
    };
    how.on_skip = [&](std::size_t rule, step_number step, const error& missing) {
        notes[rule].tell(note_of(path, names[rule], step, missing), to);
    };
    how.on_step = [&](step_number) {
        if (++done; show_progress) {
            to.progress("steps of " + path, done, range.steps);
        }
    };
    actions.begin(path, names, note_action);
    std::vector<rule_result> results = invoke_rules(run, std::move(rules), how);
    for (std::size_t i = 0; i < notes.size(); ++i) {
        notes[i].finish(names[i], path, to);
    }
    for (const rule_result& each : results) {
        if (each.cause) {
            to.error(failure_of(each, path));
        }
        actions.finish(path, each.report, note_action);
    }
    if (!run.loaded_all_steps()) {
        const bool all_seen = std::none_of(results.begin(), results.end(), [](const rule_result& each) {
            return each.outcome.end == invoke_end::timed_out;
        });
        to.note("the job of " + path + " has not ended: checked what is there now" +
                (all_seen ? "" : ", but for the last steps, which are not complete yet"));
    }
    return results;
}

}  // namespace detail

/// Runs the command over the steps that there are; the exit status.
[[nodiscard]] inline int check(const check_arguments& given, const program_rules& known, console& to) {
    rule_maker rules{known, given.how};
    finding_actions actions = detail::actions_of(given);
    row_sink rows{to, given.how.format, check_columns()};
    row_sink summary{to, output_format::table, summary_columns()};
    bool met = false;
    bool any_checked = false;
    for_each_run(given.runs, given.how, to, [&](const std::string& path, const auto& run) {
        row_buffer row = summary.buffer();
        for (const rule_result& each :
             detail::check_run(rules.make(given.rules), run, path, given, &rows, actions, to)) {
            met = met || !each.outcome.findings.empty();
            detail::fill_summary(row, path, each);
            row.end_row();
        }
        summary.take(row);
        any_checked = true;
    });
    if (given.how.format == output_format::table && any_checked) {
        rows.finish("nothing found\n");
        to.print("\n");
        summary.finish("");
    }
    return met ? exit_finding : to.status();
}

}  // namespace cli
}  // namespace v1
}  // namespace smdebug
