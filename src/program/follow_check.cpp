#include <program/follow_check.hpp>

#include <program/check.hpp>
#include <program/evaluate_run.hpp>
#include <program/finding_actions.hpp>
#include <program/following.hpp>
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
#include <smdebug/trial/trial_access.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace smdebug::inline v1::cli::detail {

namespace {

// The rules of one run.  They keep their state from step to step, so every run has its own.
// What comes for steps that they have passed is judged by new rules, which walk the run again from its beginning: as a
// check afterwards would.  That takes at most a quarter of the time, and is made up for at the end.
class followed_rules {
public:
    /// Borrows everything; `results` are those of this run.
    followed_rules(const check_arguments& args, const followed_run& of, row_stream& rows, rule_maker& maker,
                   finding_actions& actions, std::vector<rule_result>& results)
        : args_(args),
          of_(of),
          rows_(rows),
          row_(rows.buffer()),
          maker_(maker),
          names_(maker.names_of(args.rules)),
          actions_(actions),
          results_(results),
          provisional_(of.out) {
        begin_pass();
    }

    /// Evaluates them until the run ends, or all rules have.  If that fails, the results so far are kept.
    [[nodiscard]] follow_end follow() {
        actions_.begin(of_.path, names_, note_action());
        try {
            const follow_end end = walk();
            if (end == follow_end::ended) {
                check_saved(of_.run, of_.path);
            }
            finish();
            return end;
        } catch (const stopped_error&) {
            session_->end(invoke_end::stopped, next_);
            finish();
            throw;
        } catch (...) {
            session_->end(invoke_end::failed, next_);
            finish();
            throw;
        }
    }

private:
    using clock = std::chrono::steady_clock;

    [[nodiscard]] static std::uint64_t hash_of(const std::string& text) { return std::hash<std::string>{}(text); }

    // Equal for what is the same finding.
    [[nodiscard]] std::uint64_t key_of(std::size_t rule, const finding& seen) const {
        return hash_of(std::to_string(rule) + '\n' + std::to_string(seen.step) + '\n' + seen.tensor + '\n' +
                       seen.worker + '\n' + seen.message);
    }

    void begin_pass() {
        session_.reset();
        session_.emplace(of_.run, maker_.make(args_.rules), options());
        next_ = args_.start;
        pass_ = {.began = clock::now(), .is_last = of_.run.loaded_all_steps()};
        damage_ = {};
    }

    void finish() {
        if (rewritten_ && printed_.size() > pass_.findings.size()) {
            note_rewritten();
        }
        note_missing_tensors(args_.rules, of_.run, of_.path, note_action());
        std::vector<rule_result> results = session_->results();
        for (std::size_t i = 0; i < results.size() && i < kept_.size(); ++i) {
            add_kept(results[i], kept_[i]);
        }
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
            if (const std::string workers = other_workers_of(results, of_.path); !workers.empty()) {
                to.note(workers);
            }
            if (pass_.is_damaged) {
                to.mark_trouble();
            }
            if (is_late_) {
                to.error(
                    "data came for steps that the rules had passed, and were not judged: the rest was not waited "
                    "for [run " +
                    of_.path + "]");
            }
            const std::size_t others = printed_.size() - pass_.findings.size();
            if (others > 0) {
                to.note(counted(others, "finding") + " above no longer " + (others == 1 ? "holds" : "hold") +
                        ": what was judged then was written again or added to since [run " + of_.path + "]");
            }
        });
        if (is_late_) {
            for (std::size_t i = results_.size() - results.size(); i < results_.size(); ++i) {
                if (results_[i].status == rule_status::no_issues_found || results_[i].status == rule_status::stopped) {
                    results_[i].status = rule_status::incomplete;
                }
            }
        }
    }

    // Findings that the last walk could not see: at checkpoints that were removed since, and of rules that measure
    // time.
    static void add_kept(rule_result& to, const std::vector<finding>& kept) {
        to.outcome.findings.insert(to.outcome.findings.begin(), kept.begin(), kept.end());
        for (const finding& one : kept) {
            to.outcome.met_at.push_back(one.step);
        }
        std::sort(to.outcome.met_at.begin(), to.outcome.met_at.end());
        to.outcome.met_at.erase(std::unique(to.outcome.met_at.begin(), to.outcome.met_at.end()),
                                to.outcome.met_at.end());
        to.status = kept.empty() ? to.status : rule_status::issues_found;
    }

    [[nodiscard]] finding_actions::teller note_action() const {
        return [this](const std::string& text) { of_.out.note(text); };
    }

    [[nodiscard]] follow_end walk() {
        feed_options how{
            .start = args_.start, .end = args_.end, .give_up_after = args_.follow.give_up_after, .stop = of_.stop};
        if (const auto interval = session_->poll_interval()) {
            how.idle = [&] {
                is_idle_ = true;
                session_->idle(next_);
                is_idle_ = false;
            };
            how.idle_interval = *interval;
        }
        noting_feed feed{of_, how};
        while (!session_->over()) {
            const auto due = is_late_ ? pass_.began + 4 * pass_.judging : clock::time_point::max();
            const auto steps = feed.next(due);
            const std::optional<follow_end> end = feed.feed().end();
            const bool has_ended = end && *end != follow_end::interrupted && *end != follow_end::replaced;
            if (has_ended ? is_late_ || may_be_put_right() : !end && clock::now() >= due) {
                judge_again(feed, has_ended);
                continue;
            }
            if (end) {
                session_->end(end_for(*end), next_);
                return *end;
            }
            if (feed.feed().went_back()) {
                is_late_ = true;
                continue;
            }
            if (!judge(steps)) {
                session_->end(invoke_end::stopped, next_);
                return follow_end::interrupted;
            }
        }
        return of_.run.loaded_all_steps() ? follow_end::ended : follow_end::end_step;
    }

    // How many modes the run has: rules may choose by that.
    [[nodiscard]] std::size_t modes() const {
        const auto from = smdebug::detail::catalog_of(of_.run);
        return static_cast<std::size_t>(std::count_if(from->mode_steps.begin(), from->mode_steps.end(),
                                                      [](const auto& steps) { return !steps.empty(); }));
    }

    // Whether something could not be read that was perhaps being written then, or a mode has come since.
    [[nodiscard]] bool may_be_put_right() const {
        if (!pass_.is_last && pass_.modes != 0 && pass_.modes != modes()) {
            return true;
        }
        const std::vector<rule_result> results = session_->results();
        return !pass_.is_last && std::any_of(results.begin(), results.end(), [](const rule_result& each) {
            return each.outcome.unread > each.outcome.problems;
        });
    }

    // Walks the run again with new rules.
    void judge_again(noting_feed& feed, bool has_ended) {
        rewritten_ = feed.feed().rewritten() ? feed.feed().rewritten() : rewritten_;
        const auto from = smdebug::detail::catalog_of(of_.run);
        const std::vector<rule_result> results = session_->results();
        kept_.resize(results.size());
        for (std::size_t i = 0; i < results.size(); ++i) {
            for (const finding& one : results[i].outcome.findings) {
                const bool is_gone =
                    checkpoints_.contains(one.step) && (from->find_step(one.step) == nullptr || was_removed(one.step));
                if (is_gone || pass_.of_idle.contains(key_of(i, as_shown(one, of_.run)))) {
                    kept_[i].push_back(one);
                }
            }
        }
        is_late_ = false;
        feed.start_over();
        begin_pass();
        pass_.is_last = has_ended;
        for (std::size_t i = 0; i < kept_.size(); ++i) {
            for (const finding& one : kept_[i]) {
                pass_.findings.insert(key_of(i, as_shown(one, of_.run)));
            }
        }
    }

    // Calls the rules at some steps; false when it was stopped.
    [[nodiscard]] bool judge(const std::vector<step_number>& steps) {
        const auto began = clock::now();
        pass_.modes = pass_.modes != 0 ? pass_.modes : modes();
        const no_refresh all_see_the_same{of_.run};
        for (const step_number step : steps) {
            if (!was_removed(step)) {
                session_->visit(step);
                judged_to_ = std::max(judged_to_, step);
                note_checkpoint(step);
            } else if (step > judged_to_) {
                of_.out.note("step " + std::to_string(of_.run.shown_step(step)) +
                             " was removed before it could be checked [run " + of_.path + "]");
            }
            next_ = step + 1;
            if (of_.stop.stop_requested()) {
                return false;
            }
        }
        pass_.judging += clock::now() - began;
        return true;
    }

    // Once it changes a verdict: the times of files may change for other reasons.
    void note_rewritten() {
        const auto [first, last] = *std::exchange(rewritten_, std::nullopt);
        of_.out.note((first == last ? "step " + std::to_string(first) + " was"
                                    : "steps " + std::to_string(first) + " to " + std::to_string(last) + " were") +
                     " written again, and the rules have judged the run anew [run " + of_.path + "]");
    }

    void note_checkpoint(step_number step) {
        const auto from = smdebug::detail::catalog_of(of_.run);
        const auto* const entry = from->has_index ? nullptr : from->find_step(step);
        if (entry != nullptr && from->layout_of(entry->files().front()).size() > 0 &&
            from->entry_of(entry->files().front(), 0).stored_as() == smdebug::detail::storage_form::elements) {
            checkpoints_.insert(step);
        }
    }

    // Whether a checkpoint is gone, as those that the training keeps no longer.  A hook removes nothing that it wrote.
    [[nodiscard]] bool was_removed(step_number step) const {
        const auto from = smdebug::detail::catalog_of(of_.run);
        const auto* const entry = from->has_index ? nullptr : from->find_step(step);
        if (entry == nullptr) {
            return false;
        }
        const auto files = entry->files();
        return std::any_of(files.begin(), files.end(), [&](const smdebug::detail::catalog::file& file) {
            const std::string key = smdebug::detail::trial_state::event_key(*from, file);
            return from->layout_of(file).is_in_objects() && !key.empty() &&
                   !of_.run.store().modified(key);  // the size of an .npz is that of its members
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
            const std::uint64_t key = key_of(rule, seen);
            pass_.findings.insert(key);
            if (is_idle_) {
                pass_.of_idle.insert(key);
            }
            if (!printed_.insert(key).second) {  // by an earlier walk
                row_.clear();
                return;
            }
            if (rewritten_ && rewritten_->first <= found.step && found.step <= rewritten_->second) {
                note_rewritten();
            }
            of_.out.use([&](console&) { rows_.take(row_); });
            actions_.act(of_.path, names_[rule], seen, note_action());
        };
        // An interrupted wait makes data look missing.
        const auto report = [this](const rule_note& note) {
            if (of_.stop.stop_requested()) {
                return;
            }
            pass_.is_damaged = pass_.is_damaged || !note.damage.empty();
            if (!noted_.insert(hash_of(note.text)).second) {
                return;
            }
            note.damage.empty() ? of_.out.note(note.text) : damage_.report(note, provisional_);
        };
        how.on_note = [this, report](std::size_t rule, const finding& note) {
            report(note_of(of_.path, names_[rule], of_.run.shown_step(note.step), note));
        };
        how.on_skip = [this, report](std::size_t rule, step_number step, const error& missing) {
            report(note_of(of_.path, names_[rule], of_.run.shown_step(step), missing));
        };
        return how;
    }

    // One walk over the run.
    struct pass {
        clock::time_point began;
        clock::duration judging{0};             // time that rules took
        std::size_t modes = 0;                  // of the run when it began
        bool is_last = false;                   // it began when the run had ended
        bool is_damaged = false;                // something could not be read
        std::set<std::uint64_t> findings = {};  // those printed, or kept
        std::set<std::uint64_t> of_idle = {};   // those of rules that measure time
    };

    const check_arguments& args_;
    const followed_run& of_;
    row_stream& rows_;
    row_buffer row_;
    rule_maker& maker_;
    std::vector<std::string> names_;
    finding_actions& actions_;
    std::vector<rule_result>& results_;
    provisional_sink provisional_;
    damage_limit damage_;
    std::set<std::uint64_t> printed_;         // findings, by any walk
    std::set<std::uint64_t> noted_;           // notes, by any walk
    std::vector<std::vector<finding>> kept_;  // by rule: see add_kept()
    std::set<step_number> checkpoints_;       // the steps judged that are files which may be removed
    step_number judged_to_ = -1;              // the last step that any walk has judged
    bool is_idle_ = false;                    // rules are polled that measure time
    std::optional<std::pair<step_number, step_number>> rewritten_;  // not noted yet
    bool is_late_ = false;  // something came for steps that this walk has passed
    step_number next_ = 0;
    pass pass_;
    std::optional<rule_session<trial>> session_;
};

// The results of a run whose rules never ran.
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
    std::map<std::size_t, std::vector<rule_result>> results;  // by the run's place
    const auto ends = follow_runs(args.runs, args.how, args.follow, to, stop, [&](const followed_run& of) {
        rule_maker rules{registry, args.how};
        std::vector<rule_result>* mine = nullptr;
        of.out.use([&](console&) { mine = &results[of.place]; });
        return detail::followed_rules{args, of, rows, rules, actions, *mine}.follow();
    });
    std::vector<column> columns = summary_columns();
    columns.push_back({"state"});
    row_sink summary{to, output_format::table, columns};
    row_buffer row = summary.buffer();
    bool met = false;
    idle_rules idle;
    const auto note = [&](const std::string& text) { to.note(text); };
    for (std::size_t i = 0; i < ends.size(); ++i) {
        const auto& [path, end, saved_nothing] = ends[i];
        if (results[i].empty()) {
            results[i] = detail::not_evaluated(args, registry, end);
            for (const rule_result& each : results[i]) {
                actions.finish(path, each.name, each.status, each.details, note);
            }
        }
        run_result seen{.steps = 1};
        if (saved_nothing) {
            seen.error = nothing_saved;
        } else {
            seen.verdicts = results[i];
        }
        idle.add(seen, args.rules);
        for (const rule_result& each : results[i]) {
            met = met || !each.outcome.findings.empty();
            detail::fill_summary(row, path, each);
            row.text(name_of(end));
            row.end_row();
        }
    }
    summary.take(row);
    actions.flush(note);
    if (args.how.format == output_format::table) {
        const bool any_checked = std::any_of(ends.begin(), ends.end(), [](const followed_end& one) {
            return one.end != follow_end::failed && one.end != follow_end::not_started;
        });
        to.print(rows.empty() && any_checked ? "nothing found\n\n" : "\n");
        summary.finish("");
    }
    const int status = status_after(ends, to);
    return status == exit_interrupted && !met ? status : idle.status(to, met);
}

}  // namespace smdebug::inline v1::cli::detail
