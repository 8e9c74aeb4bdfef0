// `smdebug check --follow`: rules over runs that grow, each step as soon as it is complete, until their jobs end.
// Used by: cli/program.hpp.
#pragma once

#include <smdebug/cli/check.hpp>
#include <smdebug/cli/console.hpp>
#include <smdebug/cli/following.hpp>
#include <smdebug/cli/row_stream.hpp>
#include <smdebug/cli/rows.hpp>
#include <smdebug/cli/rule_set.hpp>
#include <smdebug/cli/runs.hpp>
#include <smdebug/cli/step_feed.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/invoke.hpp>
#include <smdebug/trial/refresh_guard.hpp>

#include <algorithm>
#include <cstddef>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {

namespace detail {

/// What a rule came to over a run.
struct rule_tally {
    std::size_t evaluated = 0;
    std::size_t met = 0;
    std::size_t findings = 0;
};

/// The rules of one run.  They keep their state from round to round, so every run has its own.
class followed_rules {
public:
    /// Borrows everything; `tallies` are those of this run.
    followed_rules(const check_arguments& given, const followed_run& of, row_stream& rows,
                   std::vector<rule_tally>& tallies)
        : given_(given), of_(of), rows_(rows), rules_(given.rules), tallies_(tallies) {}

    /// Evaluates them until the run ends.  A round is a few steps, rule by rule: they keep close together, and find in
    /// the page cache what the first of them has read.
    [[nodiscard]] follow_end follow() {
        noting_feed feed{
            of_,
            {.start = given_.start, .end = given_.end, .give_up_after = given_.follow.give_up_after, .stop = of_.stop}};
        while (true) {
            const auto steps = feed.next();
            if (steps.empty()) {
                return feed.end();
            }
            const no_refresh all_see_the_same{of_.run};
            for (std::size_t i = 0; i < rules_.size(); ++i) {
                const invoke_end end =
                    std::visit([&](auto& rule) { return evaluate(rule, steps.front(), steps.back() + 1, tallies_[i]); },
                               rules_[i]);
                if (end != invoke_end::end_step) {
                    return end == invoke_end::stalled ? follow_end::stalled : follow_end::interrupted;
                }
            }
        }
    }

private:
    template <class Rule>
    [[nodiscard]] invoke_end evaluate(Rule& rule, step_number start, step_number end, rule_tally& tally) {
        invoke_options how{
            .start_step = start, .end_step = end, .stop = of_.stop, .give_up_after = given_.follow.give_up_after};
        row_buffer row = rows_.buffer();
        how.on_finding = [&](step_number step, const finding& found) {
            ++tally.findings;
            add_finding(row, of_.run, of_.path, rule.name(), step, found);
            of_.out.use([&](console&) { rows_.take(row); });
        };
        // A wait that was broken off makes things look as if they were missing.
        const auto tell = [&](const rule_note& note) {
            if (!of_.stop.stop_requested()) {
                of_.out.use([&](console& to) { note.tell(to); });
            }
        };
        how.on_note = [&](step_number step, const finding& note) {
            tell(note_of(of_.run, of_.path, rule.name(), step, note));
        };
        how.on_skip = [&](step_number step, const error& missing) {
            tell(note_of(of_.path, rule.name(), step, missing));
        };
        const rule_outcome outcome = invoke_rule(rule, of_.run, how);
        tally.evaluated += outcome.evaluated;
        tally.met += outcome.met_at.size();
        return outcome.end;
    }

    const check_arguments& given_;
    const followed_run& of_;
    row_stream& rows_;
    std::vector<built_in_rule> rules_;
    std::vector<rule_tally>& tallies_;
};

/// The columns of check, wide enough for the runs and rules at hand.
[[nodiscard]] inline std::vector<column> followed_columns(const check_arguments& given) {
    std::vector<column> columns = check_columns();
    for (const std::string& path : given.runs) {
        columns[0].least_width = std::max(columns[0].least_width, width_of(printable(plain_path(path))));
    }
    for (const built_in_rule& rule : given.rules) {
        columns[1].least_width = std::max(columns[1].least_width, width_of(name_of(rule)));
    }
    return columns;
}

}  // namespace detail

/// Runs the command until every job has ended, was given up, or `stop`; the exit status.
[[nodiscard]] inline int follow_check(const check_arguments& given, console& to, const std::stop_token& stop) {
    row_stream rows{to, given.how.format, detail::followed_columns(given)};
    rows.head();
    std::vector<std::vector<detail::rule_tally>> tallies(given.runs.size(),
                                                         std::vector<detail::rule_tally>(given.rules.size()));
    const auto ends = follow_runs(given.runs, given.how, given.follow, to, stop, [&](const followed_run& of) {
        return detail::followed_rules{given, of, rows, tallies[of.place]}.follow();
    });
    std::vector<column> columns = summary_columns();
    columns.push_back({"state"});
    row_sink summary{to, output_format::table, columns};
    row_buffer row = summary.buffer();
    bool met = false;
    for (std::size_t i = 0; i < given.runs.size(); ++i) {
        for (std::size_t j = 0; j < given.rules.size(); ++j) {
            const detail::rule_tally& tally = tallies[i][j];
            met = met || tally.findings > 0;
            row.text(plain_path(given.runs[i]));
            row.text(name_of(given.rules[j]));
            row.integer(tally.evaluated);
            row.integer(tally.met);
            row.integer(tally.findings);
            row.text(name_of(ends[i]));
            row.end_row();
        }
    }
    summary.take(row);
    if (given.how.format == output_format::table) {
        const bool any_checked = std::any_of(ends.begin(), ends.end(), [](follow_end end) {
            return end != follow_end::failed && end != follow_end::not_started;
        });
        to.print(rows.empty() && any_checked ? "nothing found\n\n" : "\n");
        summary.finish("");
    }
    return met ? exit_finding : status_after(ends, to);
}

}  // namespace cli
}  // namespace v1
}  // namespace smdebug
