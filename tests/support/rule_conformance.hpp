// What every rule must withstand, on any run.
//     CHECK(check_rule(rules::exploding_tensor{}).met > 0);
#pragma once

#include <support/odd_runs.hpp>
#include "support/test.hpp"

#include <smdebug/core/float_kinds.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/rules/any_rule.hpp>
#include <smdebug/rules/concepts.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/rules/rule_result.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/trial/basic_trial.hpp>

namespace smdebug_test {

/// What a rule found on all runs together.
struct conformance_counts {
    std::size_t met = 0;
    std::size_t notes = 0;
};

namespace conformance {

using smdebug::finding;
using smdebug::step_number;

/// A rule and its state, without its type: copies are copies of the rule.  So that the suite is compiled once.
template <class Trial>
struct erased_rule {
    /// Calls the rule at a step, or for its notes at the end of a walk.
    std::function<std::vector<finding>(const Trial&, step_number, bool ends)> call;

    std::vector<finding> operator()(const Trial& run, step_number step) const { return call(run, step, false); }
    std::vector<finding> conclude(const Trial& run) const { return call(run, -1, true); }
};

template <class Trial, class Rule>
erased_rule<Trial> erased(Rule rule) {
    static_assert(smdebug::rule<Rule, Trial>);
    if constexpr (smdebug::polled_rule<Rule, Trial>) {
        rule.start();
    }
    return {[rule](const Trial& run, step_number step, bool ends) mutable -> std::vector<finding> {
        if (!ends) {
            return smdebug::detail::without_silent(rule(run, step));
        }
        if constexpr (smdebug::concluding_rule<Rule, Trial>) {
            return rule.conclude(run);
        } else {
            return {};
        }
    }};
}

struct told {
    std::vector<finding> met;
    std::vector<finding> notes;
    std::vector<step_number> met_at;
    std::size_t skipped = 0;
    std::size_t fractions = 0;  // of these, steps whose labels or predictions are not whole
    /// All of it, for comparisons: NaN is NaN here.
    std::string text;
};

inline std::string text_of_all(std::span<const finding> all) {
    std::string text;
    for (finding one : all) {
        one.rule.clear();  // the rule's name depends on the caller
        smdebug::append_finding_json(text, "", one);
        text += '\n';
    }
    return text;
}

/// Walks a run; `rule` keeps its state.
template <class Trial>
told walk(erased_rule<Trial>& rule, const Trial& run, smdebug::invoke_options how = {}) {
    told found;
    how.on_note = [&](step_number, const finding& note) { found.notes.push_back(note); };
    how.on_skip = [&](step_number, const smdebug::error& why) {
        found.fractions += why.message().find("is not whole") != std::string_view::npos ? 1U : 0U;
    };
    smdebug::rule_outcome outcome = smdebug::invoke_rule(rule, run, how);
    found.met = std::move(outcome.findings);
    found.met_at = std::move(outcome.met_at);
    found.skipped = outcome.skipped;
    found.text = text_of_all(found.met) + "notes\n" + text_of_all(found.notes);
    return found;
}

/// Whether a finding says what was found: a number, or in words what is no number.
inline bool says_what(const finding& one) {
    constexpr std::string_view words[] = {"NaN", "nan", "not finite", "shape", "healthy run"};
    return !smdebug::is_nan(one.value) || !smdebug::is_nan(one.threshold) ||
           std::any_of(std::begin(words), std::end(words),
                       [&](std::string_view word) { return one.message.find(word) != std::string::npos; });
}

/// Checks of every finding of a rule.
template <class Trial>
void check_told(const told& found, const Trial& run) {
    const std::vector<step_number> steps = run.steps(smdebug::steps_options{.show_incomplete_steps = true});
    // An exception for one missing tensor skips the step's other tensors, too.  Rules about categories have no others.
    CHECK(found.skipped == found.fractions);
    CHECK(std::is_sorted(found.met_at.begin(), found.met_at.end()));
    CHECK(std::adjacent_find(found.met_at.begin(), found.met_at.end()) == found.met_at.end());
    for (const auto* all : {&found.met, &found.notes}) {
        for (const finding& one : *all) {
            INFO("finding " << smdebug::finding_json("", one));
            CHECK_FALSE(one.message.empty());
            CHECK(smdebug::is_utf8(one.message));
            CHECK(std::binary_search(steps.begin(), steps.end(), one.step));
            CHECK((one.tensor.empty() || run.has_tensor(one.tensor)));
            if (one.met) {
                CHECK(says_what(one));
                CHECK_FALSE(one.damaged);
            }
            if (one.met && !one.tensor.empty() && !one.worker.empty() && run.has_tensor(one.tensor)) {
                const std::vector<std::string> workers = run.tensor(one.tensor).workers(one.step, {});
                CHECK(std::count(workers.begin(), workers.end(), one.worker) == 1);
            }
        }
    }
}

/// All checks of a rule on one trial.
template <class Trial>
told check_on(const erased_rule<Trial>& rule, const Trial& run) {
    erased_rule<Trial> first = rule;
    const told found = walk(first, run);
    check_told(found, run);
    {
        INFO("a copy finds the same");
        erased_rule<Trial> copy = rule;
        CHECK(walk(copy, run).text == found.text);
    }
    const std::vector<step_number> steps = run.steps(smdebug::steps_options{.show_incomplete_steps = true});
    if (!steps.empty()) {
        const step_number middle = steps[steps.size() / 2];
        {
            INFO("a copy that is made on the way goes on on its own");
            erased_rule<Trial> whole = rule;
            const told before = walk(whole, run, {.end_step = middle});
            erased_rule<Trial> copy = whole;
            const told rest = walk(whole, run, {.start_step = middle});
            CHECK(walk(copy, run, {.start_step = middle}).text == rest.text);
            CHECK(before.met.size() + rest.met.size() == found.met.size());
            check_told(rest, run);
        }
        INFO("a walk that begins later");
        for (const step_number start : {middle, steps.back(), steps.back() + 1}) {
            erased_rule<Trial> late = rule;
            const told rest = walk(late, run, {.start_step = start});
            check_told(rest, run);
            CHECK((rest.met_at.empty() || rest.met_at.front() >= start));
        }
    }
    return found;
}

/// Calls it, and counts any exception as a failure.
template <class Call>
void without_throwing(Call&& call) {
    try {
        call();
    } catch (const std::exception& thrown) {
        FAIL_CHECK("it threw " << std::string{thrown.what()});
    }
}

/// Two copies of a rule that share reads find what it finds alone.
inline void check_together(const std::function<smdebug::any_rule<smdebug::memory_trial>()>& made,
                           const smdebug::memory_trial& run, const told& alone) {
    INFO("together with others");
    std::vector<finding> notes[2];
    const auto results = smdebug::invoke_rules(
        run, std::vector<smdebug::any_rule<smdebug::memory_trial>>{made(), made()},
        {.on_note = [&](std::size_t which, const finding& note) { notes[which].push_back(note); }});
    REQUIRE(results.size() == 2);
    for (std::size_t i = 0; i < 2; ++i) {
        CHECK(results[i].failure.empty());
        CHECK(text_of_all(results[i].outcome.findings) + "notes\n" + text_of_all(notes[i]) == alone.text);
        CHECK(results[i].outcome.findings.size() == alone.met.size());
        CHECK(results[i].outcome.met_at.size() == alone.met_at.size());
    }
}

inline void check_runs(const erased_rule<smdebug::memory_trial>& rule,
                       const std::function<smdebug::any_rule<smdebug::memory_trial>()>& made, bool all_workers,
                       conformance_counts& counts) {
    for (const odd_run& run : odd_runs()) {
        INFO("run: " << run.name);
        without_throwing([&] {
            if (all_workers && run.trial.workers().size() < 2) {  // a rule's state is then what it is without
                erased_rule<smdebug::memory_trial> copy = rule;
                const told found = walk(copy, run.trial);
                check_told(found, run.trial);
                counts.met += found.met.size();
                counts.notes += found.notes.size();
                return;
            }
            const told found = check_on(rule, run.trial);
            counts.met += found.met.size();
            counts.notes += found.notes.size();
            check_together(made, run.trial, found);
        });
    }
}

/// A rule describes itself: in its name's form, without settings of one name, in texts that can be read back.
template <class Rule>
void check_description(const Rule& rule) {
    if constexpr (smdebug::described_rule<Rule>) {
        const std::string_view name = Rule::name();
        CHECK_FALSE(name.empty());
        CHECK(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos);
        CHECK_FALSE(std::string_view{Rule::summary()}.empty());
        std::vector<std::string_view> names;
        smdebug::for_each_setting<Rule>([&](const auto& each) {
            CHECK(std::count(names.begin(), names.end(), each.name) == 0);
            CHECK_FALSE(each.meaning.empty());
            names.push_back(each.name);
            std::remove_cvref_t<decltype(rule.*each.member)> read{};
            smdebug::parse_setting(std::string_view{smdebug::text_of(rule.*each.member)}, read);
            CHECK(smdebug::text_of(read) == smdebug::text_of(rule.*each.member));
        });
    }
}

/// Sets all_workers, if there is such a setting.
template <class Rule>
bool look_at_all_workers(Rule& rule) {
    bool found = false;
    if constexpr (smdebug::described_rule<Rule>) {
        smdebug::for_each_setting<Rule>([&](const auto& each) {
            if constexpr (std::same_as<std::remove_cvref_t<decltype(rule.*each.member)>, bool>) {
                if (each.name == "all_workers") {
                    rule.*each.member = true;
                    found = true;
                }
            }
        });
    }
    return found;
}

}  // namespace conformance

/// Runs a rule, whose settings can be used, over every odd run: alone, as a copy, from later steps, together with
/// others; the same with all_workers where there are several (else one walk).
/// Returns how much it found and noted, so that a test can require a finding.
template <class Rule>
conformance_counts check_rule(Rule rule) {
    INFO("rule: " << smdebug::name_of_rule(rule));
    conformance_counts counts;
    conformance::without_throwing([&] {
        smdebug::detail::check_settings(rule);
        conformance::check_description(rule);
    });
    bool again = true;
    for (bool all_workers = false; again; all_workers = true) {
        INFO("all_workers: " << all_workers);
        conformance::check_runs(
            conformance::erased<smdebug::memory_trial>(rule),
            [rule] { return smdebug::any_rule<smdebug::memory_trial>{rule}; }, all_workers, counts);
        again = !all_workers && conformance::look_at_all_workers(rule);
    }
    return counts;
}

}  // namespace smdebug_test
