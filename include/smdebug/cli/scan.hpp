// `smdebug scan`: all built-in rules that have something to look at, over many runs; a row for each run and rule.
#pragma once

#include <smdebug/cli/check.hpp>
#include <smdebug/cli/console.hpp>
#include <smdebug/cli/rows.hpp>
#include <smdebug/cli/rule_notes.hpp>
#include <smdebug/cli/rule_set.hpp>
#include <smdebug/cli/runs.hpp>
#include <smdebug/cli/scan_plan.hpp>
#include <smdebug/cli/text.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/registry/rule_request.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/finding_json.hpp>
#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/rules/rule_report.hpp>
#include <smdebug/rules/rule_status.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

/// The columns of a scan of so many runs, a row for each run and rule.  JSON adds "found": the findings, each as a
/// row of check.
[[nodiscard]] inline std::vector<column> scan_columns(output_format format, std::size_t runs) {
    std::vector<column> columns = summary_columns();
    columns.front().gives_way = runs == 1 ? 6 : 0;
    columns.push_back({"first_step", true, 0, shortened::never, 2});
    columns.push_back(text_column("details", shortened::at_end));
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

/// The cell "details": the first finding, or else the failure or the status.
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

/// Runs the command; the exit status.  A row for each run and rule, those among them that have nothing to look at; a
/// run that cannot be opened, or breaks, is one row, without a rule.  Tables begin with what is wrong, and count the
/// rules that have nothing to look at, unless all are asked for; of many runs, their last line counts those.
[[nodiscard]] inline int scan_runs(const scan_arguments& args, const program_rules& registry, console& to) {
    rule_maker rules{registry, args.check.how};
    finding_actions actions = detail::actions_of(args.check);
    row_sink rows{to, args.check.how.format, scan_columns(args.check.how.format, args.check.runs.size())};
    const bool table = args.check.how.format == output_format::table;
    row_buffer healthy = rows.buffer();  // tables: behind the others
    row_buffer idle = rows.buffer();
    std::size_t idle_rows = 0;
    bool met = false;
    detail::run_tally tally;
    const auto note = [&](const std::string& text) { to.note(text); };
    const auto command = [&](const std::string& path, const program_trial& run) {
        const auto plan = detail::plan_scan(args, registry, run);
        std::vector<rule_request> chosen;
        for (const detail::planned_rule& each : plan) {
            if (each.why_not.empty()) {
                chosen.push_back(each.request);
            }
        }
        const auto results = detail::check_run(rules, chosen, run, path, args.check, nullptr, actions, to);
        tally.add(results);
        row_buffer row = rows.buffer();
        auto result = results.begin();
        for (const detail::planned_rule& each : plan) {
            if (each.why_not.empty()) {
                met = met || !result->outcome.findings.empty();
                const rule_status status = result->report.status;
                const bool well = status == rule_status::no_issues_found || status == rule_status::in_progress;
                detail::add_scanned(table && well ? healthy : row, path, *result++);
            } else if (++idle_rows; !table || args.all) {
                row_buffer& to_row = table ? idle : row;
                to_row.text(path);
                to_row.text(each.request.label);
                to_row.text("NotApplicable");
                detail::fill_not_evaluated(to_row, each.why_not);
            }
        }
        rows.take(row);
    };
    for_each_run(args.check.runs, reducing(args.check.how), to, command,
                 [&](const std::string& path, const std::string& why) {
                     row_buffer row = rows.buffer();
                     row.text(path);
                     row.empty();
                     row.text(name_of(rule_status::error));
                     detail::fill_not_evaluated(row, why);
                     rows.take(row);
                     tally.add_failed();
                     actions.fail(path, {}, why, note);
                 });
    rows.take(healthy);
    rows.take(idle);
    rows.finish("");
    if (table && !args.all && idle_rows > 0) {
        to.print("\n" + counted(idle_rows, args.check.runs.size() == 1 ? "rule" : "row") +
                 (idle_rows == 1 ? " is" : " are") + " not applicable; --all shows which, and why\n");
    }
    if (table && !tally.text().empty()) {
        to.print("\n" + tally.text() + "\n");
    }
    actions.flush(note);
    return to.status(met);
}

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
