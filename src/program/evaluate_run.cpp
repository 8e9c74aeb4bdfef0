#include <program/evaluate_run.hpp>

#include <program/rows.hpp>
#include <program/rule_notes.hpp>
#include <program/runs.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/rules/any_rule.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/rule_result.hpp>
#include <smdebug/trial/read/trial_state.hpp>
#include <smdebug/trial/trial_access.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

namespace smdebug::inline v1::cli::detail {

namespace {

// The steps to check: those that exist at the start, so that a growing run does not go on for ever.
struct check_range {
    step_number start = 0;
    std::optional<step_number> end = {};
    std::size_t steps = 0;
};

}  // namespace

finding as_shown(finding found, const trial& run) {
    found.step = run.shown_step(found.step);
    return found;
}

void show_steps(std::vector<rule_result>& results, const trial& run) {
    for (rule_result& each : results) {
        for (finding& found : each.outcome.findings) {
            found = as_shown(std::move(found), run);
        }
    }
}

namespace {

check_range range_of(const trial& run, const check_arguments& args) {
    const step_range asked = smdebug::detail::catalog_of(run)->global_range({.begin = args.start, .end = args.end});
    check_range range{.start = asked.begin.value_or(0), .end = asked.end};
    const auto steps = run.steps({.show_incomplete_steps = true});
    if (!run.loaded_all_steps()) {
        const step_number after_last = steps.empty() ? range.start : std::max(range.start, steps.back() + 1);
        range.end = range.end ? std::min(*range.end, after_last) : after_last;
    }
    range.steps = static_cast<std::size_t>(std::count_if(steps.begin(), steps.end(), [&](step_number step) {
        return step >= range.start && (!range.end || step < *range.end);
    }));
    return range;
}

// The result of a rule that could not be made: a run that it compares with cannot be opened.
rule_result not_made(const std::string& name, const std::string& why) {
    return {.name = name,
            .outcome = {.end = invoke_end::failed},
            .status = rule_status::error,
            .details = why,
            .summary = why,
            .failure = why};
}

}  // namespace

std::vector<rule_result> evaluate_run(rule_maker& maker, const std::vector<rule_request>& requests, const trial& run,
                                      const std::string& path, const check_arguments& args,
                                      const evaluation_hooks& hooks, message_sink& to) {
    check_saved(run, path);
    std::vector<rule_result> all(requests.size());
    std::vector<std::size_t> places;
    std::vector<any_rule<trial>> rules;
    for (std::size_t i = 0; i < requests.size(); ++i) {
        try {
            rules.push_back(maker.make(requests[i]));
            if (const step_range part{requests[i].start_step, requests[i].end_step}; part.begin || part.end) {
                rules.back().limit(smdebug::detail::catalog_of(run)->global_range(part));
            }
            places.push_back(i);
        } catch (const error& failed) {
            all[i] = not_made(maker.name_of(requests[i]), error_text(failed, path));
            to.error(all[i].name + " cannot be evaluated: " + all[i].failure);
        }
    }
    const check_range range = range_of(run, args);
    const bool show_progress = args.how.format == output_format::table || !to.results_on_terminal();
    std::size_t done = 0;
    std::vector<std::string> names;
    for (const any_rule<trial>& each : rules) {
        names.push_back(each.name());
    }
    std::vector<note_limit> notes(names.size());
    damage_limit damage;
    const auto report = [&](std::size_t rule, const rule_note& note) {
        note.damage.empty() ? notes[rule].report(note, to) : damage.report(note, to);
    };
    invoke_rules_options how{.common = {.start_step = range.start,
                                        .end_step = range.end,
                                        .stop_at_first = args.stop_at_first,
                                        .first_offender = args.first_offender,
                                        .timeout = std::chrono::milliseconds{0}}};
    how.sharing = hooks.sharing;
    how.common.stop = hooks.stop;
    how.common.keep_bands = hooks.onlooker != nullptr;  // of a report
    // Not for the observer, which is the last: a rule that needs missing data reports that itself.
    if (hooks.on_finding) {
        how.on_finding = [&](std::size_t rule, const finding& found) {
            if (rule < names.size()) {
                hooks.on_finding(names[rule], as_shown(found, run));
            }
        };
    }
    how.on_note = [&](std::size_t rule, const finding& note) {
        if (rule < names.size()) {
            report(rule, note_of(path, names[rule], run.shown_step(note.step), note));
        }
    };
    how.on_skip = [&](std::size_t rule, step_number step, const error& missing) {
        if (rule < names.size()) {
            report(rule, note_of(path, names[rule], run.shown_step(step), missing));
        }
    };
    how.on_step = [&](step_number) {
        if (++done; show_progress) {
            to.progress("steps of " + path, done, range.steps);
        }
    };
    note_missing_tensors(args.rules, run, path, [&](const std::string& text) { to.note(text); });
    if (range.steps == 0) {
        const std::string there = shown_steps(*smdebug::detail::catalog_of(run), true);
        to.note(there.empty() ? path + " has no steps yet: nothing is evaluated"
                              : "none of the steps of " + path + " is evaluated; they are " + there);
    }
    if (hooks.begin) {
        hooks.begin(names);
    }
    if (hooks.observer != nullptr) {
        rules.push_back(*hooks.observer);
    }
    std::vector<rule_result> results = smdebug::detail::invoke_rules_beside(hooks.onlooker, run, rules, how);
    damage.finish(path, to);
    for (std::size_t i = 0; i < notes.size(); ++i) {
        notes[i].finish(names[i], path, to);
        all[places[i]] = std::move(results[i]);
        if (rule_outcome& outcome = all[places[i]].outcome; outcome.end == invoke_end::failed) {
            outcome.next_step = run.shown_step(outcome.next_step);
        }
    }
    for (const rule_result& each : all) {
        if (each.cause) {
            to.error(failure_of(each, path));
        }
        if (each.status == rule_status::not_applicable && !args.rules.empty()) {
            to.note(idle_text(each, path));
        }
        if (hooks.finish) {
            hooks.finish(each);
        }
    }
    if (const std::string unread = unread_of(all, path, smdebug::detail::state_of(run)->missing_event_files());
        !unread.empty()) {
        to.error(unread);
    }
    if (const std::string workers = other_workers_of(all, path); !workers.empty()) {
        to.note(workers);
    }
    if (!run.loaded_all_steps()) {
        const bool all_seen = std::none_of(
            all.begin(), all.end(), [](const rule_result& each) { return each.outcome.end == invoke_end::timed_out; });
        to.note("the job of " + path + " has not ended: checked what is there now" +
                (all_seen ? "" : ", but for the last steps, which are not complete yet"));
    }
    return all;
}

}  // namespace smdebug::inline v1::cli::detail
