#include <program/follow_check.hpp>

#include <program/check.hpp>
#include <program/evaluate_run.hpp>
#include <program/finding_actions.hpp>
#include <program/following.hpp>
#include <program/program_trial.hpp>
#include <program/row_stream.hpp>
#include <program/rows.hpp>
#include <program/rule_notes.hpp>
#include <program/runs.hpp>
#include <program/table.hpp>
#include <program/text.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/registry/configure.hpp>
#include <smdebug/rules/any_rule.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/rule_result.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/read/trial_state.hpp>
#include <smdebug/trial/trial.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

namespace smdebug::inline v1::cli::detail {

namespace {

// The rules of one run.  They keep their state from step to step, so every run has its own.
class followed_rules {
public:
    /// Borrows everything; `results` are those of this run.
    followed_rules(const check_arguments& args, const followed_run& of, row_stream& rows,
                   std::vector<any_rule<program_trial>> rules, finding_actions& actions,
                   std::vector<rule_result>& results)
        : args_(args),
          of_(of),
          rows_(rows),
          row_(rows.buffer()),
          names_(names_of(rules)),
          actions_(actions),
          results_(results),
          next_(args.start),
          session_(of.run, std::move(rules), options()) {}

    /// Evaluates them until the run ends, or all rules have.  If that fails, the results so far are kept.
    [[nodiscard]] follow_end follow() {
        note_missing_tensors(args_.rules, of_.run, of_.path, note_action());
        actions_.begin(of_.path, names_, note_action());
        try {
            const follow_end end = walk();
            finish();
            return end;
        } catch (const stopped&) {
            session_.end(invoke_end::stopped, next_);
            finish();
            throw;
        } catch (...) {
            session_.end(invoke_end::failed, next_);
            finish();
            throw;
        }
    }

private:
    [[nodiscard]] static std::vector<std::string> names_of(const std::vector<any_rule<program_trial>>& rules) {
        std::vector<std::string> names;
        for (const auto& each : rules) {
            names.push_back(each.name());
        }
        return names;
    }

    void finish() {
        const std::vector<rule_result> results = session_.results();
        results_.insert(results_.end(), results.begin(), results.end());  // behind those of a run that was there before
        for (const rule_result& each : results) {
            if (each.cause) {
                of_.out.error(failure_of(each, of_.path));
            }
            if (each.status == rule_status::not_applicable) {
                of_.out.note(idle_text(each, of_.path));
            }
            actions_.finish(of_.path, each.name, each.status, each.details, note_action());
        }
        of_.out.use([&](console& to) {
            damage_.finish(of_.path, to);
            if (const std::string unread = unread_of(results, of_.path); !unread.empty()) {
                to.error(unread);
            }
        });
    }
    [[nodiscard]] finding_actions::teller note_action() const {
        return [this](const std::string& text) { of_.out.note(text); };
    }

    [[nodiscard]] follow_end walk() {
        feed_options how{
            .start = args_.start, .end = args_.end, .give_up_after = args_.follow.give_up_after, .stop = of_.stop};
        if (const auto interval = session_.poll_interval()) {
            how.idle = [&] { session_.idle(next_); };
            how.idle_interval = *interval;
        }
        noting_feed feed{of_, how};
        while (!session_.over()) {
            const auto steps = feed.next();
            if (steps.empty()) {
                session_.end(end_for(feed.end()), next_);
                return feed.end();
            }
            const no_refresh all_see_the_same{of_.run};
            for (const step_number step : steps) {
                if (was_removed(step)) {
                    of_.out.note("step " + std::to_string(of_.run.shown_step(step)) +
                                 " was removed before it could be checked [run " + of_.path + "]");
                } else {
                    session_.visit(step);
                }
                next_ = step + 1;
                if (of_.stop.stop_requested()) {
                    session_.end(invoke_end::stopped, next_);
                    return follow_end::interrupted;
                }
            }
        }
        return of_.run.loaded_all_steps() ? follow_end::ended : follow_end::end_step;
    }

    // Whether a checkpoint is gone, as those that the training keeps no longer.  A hook removes nothing that it wrote.
    [[nodiscard]] bool was_removed(step_number step) const {
        const auto from = of_.run.snapshot();
        const auto* const entry = from->has_index ? nullptr : from->find_step(step);
        if (entry == nullptr) {
            return false;
        }
        const auto files = entry->files();
        return std::any_of(files.begin(), files.end(), [&](const smdebug::detail::catalog::file& file) {
            const std::string key = smdebug::detail::trial_state::event_key(*from, file);
            return from->layout_of(file).is_in_objects() && !key.empty() && !of_.run.store().size(key);
        });
    }

    [[nodiscard]] static invoke_end end_for(follow_end end) noexcept {
        switch (end) {
            case follow_end::end_step:
                return invoke_end::end_step;
            case follow_end::stalled:
                return invoke_end::stalled;
            case follow_end::replaced:
            case follow_end::interrupted:
                return invoke_end::stopped;
            case follow_end::ended:
            case follow_end::not_started:
            case follow_end::failed:
                break;
        }
        return invoke_end::end_of_run;
    }

    [[nodiscard]] invoke_rules_options options() {
        invoke_rules_options how{.common = {.start_step = args_.start,
                                            .stop_at_first = args_.stop_at_first,
                                            .first_offender = args_.first_offender,
                                            .stop = of_.stop,
                                            .give_up_after = args_.follow.give_up_after}};
        how.on_finding = [this](std::size_t rule, const finding& found) {
            const finding seen = as_shown(found, of_.run);
            add_finding(row_, of_.path, names_[rule], seen);
            of_.out.use([&](console&) { rows_.take(row_); });
            actions_.act(of_.path, names_[rule], seen, note_action());
        };
        // An interrupted wait makes data look missing.
        const auto report = [this](const rule_note& note) {
            if (!of_.stop.stop_requested()) {
                of_.out.use([&](console& to) { note.damage.empty() ? to.note(note.text) : damage_.report(note, to); });
            }
        };
        how.on_note = [this, report](std::size_t rule, const finding& note) {
            report(note_of(of_.path, names_[rule], of_.run.shown_step(note.step), note));
        };
        how.on_skip = [this, report](std::size_t rule, step_number step, const error& missing) {
            report(note_of(of_.path, names_[rule], of_.run.shown_step(step), missing));
        };
        return how;
    }

    const check_arguments& args_;
    const followed_run& of_;
    row_stream& rows_;
    row_buffer row_;
    std::vector<std::string> names_;
    finding_actions& actions_;
    std::vector<rule_result>& results_;
    damage_limit damage_;
    step_number next_;
    rule_session<program_trial> session_;
};

}  // namespace

std::vector<rule_result> not_evaluated(const check_arguments& args, const program_rules& registry, follow_end end) {
    std::vector<rule_result> results;
    for (const rule_request& each : args.rules) {
        const std::string name = name_in_reports(registry, each);
        const bool failed = end == follow_end::failed;
        results.push_back({.name = name,
                           .status = failed ? rule_status::error : rule_status::stopped,
                           .details = failed ? "The run could not be opened." : "The run did not start."});
    }
    return results;
}

namespace {

// The columns of check, wide enough for these runs and rules.
std::vector<column> followed_columns(const check_arguments& args, const program_rules& registry) {
    std::vector<column> columns = check_columns();
    for (const std::string& path : args.runs) {
        columns[0].least_width = std::max(columns[0].least_width, width_of(printable(plain_path(path))));
    }
    for (const rule_request& each : args.rules) {
        columns[1].least_width = std::max(columns[1].least_width, width_of(printable(name_in_reports(registry, each))));
    }
    return columns;
}

}  // namespace

int follow_check(const check_arguments& args, const program_rules& registry, console& to, const std::stop_token& stop) {
    row_stream rows{to, args.how.format, detail::followed_columns(args, registry)};
    rows.head();
    finding_actions actions = detail::actions_of(args);
    std::vector<std::vector<rule_result>> results(args.runs.size());
    const auto ends = follow_runs(args.runs, args.how, args.follow, to, stop, [&](const followed_run& of) {
        rule_maker rules{registry, args.how};
        return detail::followed_rules{args, of, rows, rules.make(args.rules), actions, results[of.place]}.follow();
    });
    std::vector<column> columns = summary_columns();
    columns.push_back({"state"});
    row_sink summary{to, output_format::table, columns};
    row_buffer row = summary.buffer();
    bool met = false;
    idle_rules idle;
    const auto note = [&](const std::string& text) { to.note(text); };
    for (std::size_t i = 0; i < args.runs.size(); ++i) {
        if (results[i].empty()) {
            results[i] = detail::not_evaluated(args, registry, ends[i]);
            for (const rule_result& each : results[i]) {
                actions.finish(plain_path(args.runs[i]), each.name, each.status, each.details, note);
            }
        }
        idle.add({.steps = 1, .verdicts = results[i]}, args.rules);
        for (const rule_result& each : results[i]) {
            met = met || !each.outcome.findings.empty();
            detail::fill_summary(row, plain_path(args.runs[i]), each);
            row.text(name_of(ends[i]));
            row.end_row();
        }
    }
    summary.take(row);
    actions.flush(note);
    if (args.how.format == output_format::table) {
        const bool any_checked = std::any_of(ends.begin(), ends.end(), [](follow_end end) {
            return end != follow_end::failed && end != follow_end::not_started;
        });
        to.print(rows.empty() && any_checked ? "nothing found\n\n" : "\n");
        summary.finish("");
    }
    const int status = status_after(ends, to);
    return met || status == exit_ok ? idle.status(to, met) : status;
}

}  // namespace smdebug::inline v1::cli::detail
