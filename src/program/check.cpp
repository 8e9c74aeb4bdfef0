#include <program/check.hpp>

#include <program/command_line.hpp>
#include <program/command_options.hpp>
#include <program/follow_check.hpp>
#include <program/rule_notes.hpp>
#include <program/runs.hpp>
#include <program/table.hpp>
#include <smdebug/batch/run_result.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/rules/rule_result.hpp>

#include <cmath>
#include <cstddef>
#include <memory>

namespace smdebug::inline v1::cli::detail {

std::vector<column> check_columns() {
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

std::vector<column> summary_columns() {
    return {text_column("run", shortened::at_start),
            {"rule"},
            {"status"},
            {"steps_evaluated", true, 0, shortened::never, 5},
            {"steps_met", true, 0, shortened::never, 4},
            {"findings", true, 0, shortened::never, 3}};
}

void add_finding(row_buffer& row, const std::string& path, std::string_view rule, const finding& found) {
    row.text(path);
    row.text(rule);
    row.integer(found.step);
    row.text(name_of(found.mode));
    row.integer(found.mode_step);
    row.text(found.tensor);
    row.text(found.worker);
    smdebug::detail::has_value(found) ? row.number(found.value) : row.empty();
    std::isnan(found.threshold) ? row.empty() : row.number(found.threshold);
    row.text(found.message);
    row.end_row();
}

void fill_summary(row_buffer& row, const std::string& path, const rule_result& result) {
    row.text(path);
    row.text(result.name);
    const std::size_t workers = result.outcome.other_workers + 1;
    row.text(std::string{name_of(result.status)} +
             (workers > 1 ? ", 1 of " + std::to_string(workers) + " workers" : ""));
    row.integer(result.outcome.evaluated);
    row.integer(result.outcome.met_at.size());
    row.integer(result.outcome.findings.size());
}

finding_actions actions_of(const check_arguments& args) {
    return finding_actions{args.actions, args.runs.size() == 1 ? args.runs.front() : std::string{}, args.rules};
}

std::vector<rule_result> check_run(rule_maker& maker, const std::vector<rule_request>& requests, const trial& run,
                                   const std::string& path, const check_arguments& args, row_sink* rows,
                                   finding_actions& actions, console& to) {
    row_buffer row = rows != nullptr ? rows->buffer() : row_buffer{output_format::csv, {}};
    const auto note = [&](const std::string& text) { to.note(text); };
    const evaluation_hooks hooks{
        .begin = [&](const std::vector<std::string>& names) { actions.begin(path, names, note); },
        .on_finding =
            [&](const std::string& rule, const finding& found) {
                if (rows != nullptr) {
                    add_finding(row, path, rule, found);
                    rows->take(row);
                }
                actions.act(path, rule, found, note);
            },
        .finish =
            [&](const rule_result& result) { actions.finish(path, result.name, result.status, result.details, note); }};
    return evaluate_run(maker, requests, run, path, args, hooks, to);
}

int check(const check_arguments& args, const program_rules& registry, console& to) {
    rule_maker rules{registry, args.how};
    finding_actions actions = detail::actions_of(args);
    row_sink rows{to, args.how.format, check_columns()};
    row_sink summary{to, output_format::table, summary_columns()};
    bool met = false;
    detail::run_tally tally;
    detail::bad_value_lines bad_values;
    detail::idle_rules idle;
    bool any_checked = false;
    const auto note = [&](const std::string& text) { to.note(text); };
    const auto command = [&](const std::string& path, const trial& run) {
        row_buffer row = summary.buffer();
        run_result result{.run = {.path = path}, .steps = run.steps({.show_incomplete_steps = true}).size()};
        result.verdicts = detail::check_run(rules, args.rules, run, path, args, &rows, actions, to);
        detail::show_steps(result.verdicts, run);
        tally.add(result);
        bad_values.add(result);
        idle.add(result, args.rules);
        met = met || has_findings(result);
        for (const rule_result& each : result.verdicts) {
            detail::fill_summary(row, path, each);
            row.end_row();
        }
        summary.take(row);
        any_checked = true;
    };
    for_each_run(args.runs, reducing(args.how), to, command, [&](const std::string& path, const std::string& why) {
        tally.add_failed();
        idle.add({.run = {.path = path}, .error = why}, args.rules);
        actions.fail(path, rules.names_of(args.rules), why, note);
    });
    actions.flush(note);
    if (args.how.format == output_format::table && any_checked) {
        rows.finish("nothing found\n");
        to.print("\n");
        summary.finish("");
        const std::string origins = bad_values.text();
        to.print(origins.empty() ? "" : "\n" + origins);
        to.print(tally.text().empty() ? "" : "\n" + tally.text() + "\n");
    }
    return idle.status(to, met);
}

void declare_check(command_line& line) {
    const auto args = std::make_shared<check_arguments>();
    const auto rules = std::make_shared<rule_options>();
    const auto steps = std::make_shared<step_options>();
    CLI::App& app = line.add(
        "check", "evaluate rules at every saved step; exit status 3 if one is met", args,
        [rules, steps, &registry = line.registry()](check_arguments& given) {
            given.rules = requested_rules(*rules, registry, false);
            if (given.rules.empty()) {
                throw usage_error(
                    "check needs at least one rule, by --rule or --rules-json; there are: " + rule_names(registry),
                    "Try `smdebug check --help`.");
            }
            const bool compares = std::any_of(given.rules.begin(), given.rules.end(), [&](const rule_request& each) {
                return takes_other_trials(registry, each);
            });
            if (!rules->other_trials.empty() && !compares) {
                throw usage_error("--other-trials: none of the rules chosen compares runs");
            }
            take_steps(given, *steps);
            check_follow(given.follow, given.runs.size());
        },
        [](const check_arguments& given, const run_context& with) {
            return given.follow.on ? follow_check(given, with.registry, with.to, with.stop())
                                   : check(given, with.registry, with.to);
        });
    add_runs(app, args->runs);
    add_rule_options(app, *rules, line.rule_names());
    add_steps(app, *steps);
    add_evaluation(app, *args, *rules, *steps);
    add_follow(app, args->follow, "go on until the job ends: each step as soon as it is complete");
    add_how(app, args->how);
    add_runs_from_folders(app, args->how.storage.formats);
    add_notes(app,
              "`smdebug rules` lists the rules and their parameters.\n"
              "In --rule, a comma separates parameters and a semicolon the items of a list; a backslash before\n"
              "either makes it part of the value.\n"
              "Example: smdebug check runs/a --rule vanishing_gradient,threshold=1e-6 \\\n"
              "             --rule 'exploding_tensor,collection_names=losses;gradients,only_nan=True'\n");
}

}  // namespace smdebug::inline v1::cli::detail
