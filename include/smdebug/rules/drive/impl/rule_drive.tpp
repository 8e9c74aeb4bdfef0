// The bodies of <smdebug/rules/drive/rule_drive.hpp> that are templates.
#pragma once

#include <smdebug/rules/drive/rule_drive.hpp>
#include <smdebug/trial/trial_access.hpp>

#include <concepts>

namespace smdebug::inline v1::detail {

template <class Run>
rule_drive<Run>::rule_drive(const Run& run, std::vector<rule_pointer> rules, const invoke_options& options,
                            drive_listener listener)
    : run_(run), rules_(std::move(rules)), progress_(rules_.size()), options_(options), listener_(std::move(listener)) {
    if constexpr (shareable_trial<Run>) {
        log_ = trial_access::rule_log(run);
    }
    for (std::size_t i = 0; i < rules_.size(); ++i) {
        rule_progress& each = progress_[i];
        each.outcome.next_step = options_.start_step;
        try {
            rules_[i]->check();
            each.poll_interval = rules_[i]->poll_interval();
            if (each.poll_interval) {
                rules_[i]->start();
            }
        } catch (...) {
            each.failure = std::current_exception();
            each.end(invoke_end::failed, options_.start_step);
        }
    }
}

template <class Run>
void rule_drive<Run>::go() {
    step_number next = options_.start_step;
    while (!all_over()) {
        const std::optional<step_number> saved = next_saved(next);
        if (!saved && !waits_for_steps<Run>) {
            return end_all(invoke_end::end_of_run, next);
        }
        const step_number step = saved.value_or(next);
        if (options_.end_step && step >= *options_.end_step) {
            return end_all(invoke_end::end_step, *options_.end_step);
        }
        if (options_.stop.stop_requested()) {
            return end_all(invoke_end::stopped, next);
        }
        bool passed_over = false;
        if (const auto over = saved && has_all_ ? std::nullopt : wait_for(step, passed_over)) {
            return end_all(*over, next);
        }
        next = step + 1;
        if (passed_over) {  // a number between two saved steps does not count as skipped
            continue;
        }
        read_ahead();
        visit(step);
    }
}

template <class Run>
std::optional<step_number> rule_drive<Run>::next_saved(step_number from) {
    const auto skip = [&] {
        while (place_ < steps_.size() && steps_[place_] < from) {
            ++place_;
        }
        return place_ == steps_.size();
    };
    if (skip()) {
        const auto known_steps = [&] { return run_.steps({.show_incomplete_steps = true}); };
        if constexpr (waits_for_steps<Run>) {  // the wait looks for new ones
            [[maybe_unused]] const auto guard = without_refresh(run_);
            steps_ = known_steps();
            if constexpr (requires { run_.loaded_all_steps(); }) {
                has_all_ = run_.loaded_all_steps();
            }
        } else {
            steps_ = known_steps();
        }
        place_ = 0;
        if (skip()) {
            return std::nullopt;
        }
    }
    return steps_[place_];
}

template <class Run>
void rule_drive<Run>::read_ahead() {
    if constexpr (reads_steps_ahead<Run>) {
        for (std::size_t i = place_ + 1; i < std::min(place_ + 5, steps_.size()); ++i) {
            if (steps_[i] >= asked_for_ && (!options_.end_step || steps_[i] < *options_.end_step)) {
                run_.read_ahead(steps_[i]);
                asked_for_ = steps_[i] + 1;
            }
        }
    }
}

template <class Run>
rule_outcome rule_drive<Run>::go_alone() {
    go();
    if (progress_.front().failure) {
        std::rethrow_exception(progress_.front().failure);
    }
    return outcome_of(0);
}

template <class Run>
rule_outcome rule_drive<Run>::outcome_of(std::size_t rule) const {
    rule_outcome outcome = progress_[rule].outcome;
    if constexpr (requires { requires std::same_as<decltype(run_.problems()), std::vector<problem>>; }) {
        const std::vector<problem> problems = run_.problems();
        outcome.problems = problems.size();
        outcome.first_problem = problems.empty() ? std::string{} : text_of(problems.front());
        outcome.tensors += problems.size();
        outcome.unread += problems.size();
    }
    if constexpr (requires { run_.workers().size(); }) {
        if (rules_[rule]->looks_at_first_worker() && outcome.evaluated > 0) {
            outcome.other_workers = std::max<std::size_t>(run_.workers().size(), 1) - 1;
        }
    }
    if (options_.keep_bands) {
        outcome.bands = rules_[rule]->bands();
    }
    outcome.has_selected = progress_[rule].tally.has_selected() || log_ == nullptr || !rules_[rule]->is_tensor_rule();
    return outcome;
}

template <class Run>
void rule_drive<Run>::visit(step_number step) {
    if (listener_.on_step) {
        listener_.on_step(step);
    }
    now_ = named(step);
    for (std::size_t i = 0; i < rules_.size(); ++i) {
        rule_progress& each = progress_[i];
        const step_range& range = rules_[i]->range;
        if (!each.over && range.end && step >= *range.end) {
            end(i, invoke_end::end_step, *range.end);
        }
        if (!each.over && range.contains(step)) {
            each.outcome.next_step = step + 1;
            evaluate(i, step);
        }
    }
}

template <class Run>
void rule_drive<Run>::idle(step_number next_step) {
    for (std::size_t i = 0; i < rules_.size(); ++i) {
        rule_progress& each = progress_[i];
        if (each.over || !each.poll_interval) {
            continue;
        }
        std::vector<finding> found;
        try {
            if (std::optional<finding> verdict = rules_[i]->while_waiting(run_)) {
                found.push_back(*std::move(verdict));
                rules_[i]->complete(found, run_, options_.start_step);
            }
        } catch (...) {
            each.failure = std::current_exception();
            each.end(invoke_end::failed, next_step);
            continue;
        }
        if (!found.empty()) {
            each.outcome.next_step = next_step;
            const step_number step = found.front().step;
            take(i, std::move(found), step);
        }
    }
}

template <class Run>
std::optional<std::chrono::milliseconds> rule_drive<Run>::poll_interval() const {
    std::optional<std::chrono::milliseconds> least;
    for (const rule_progress& each : progress_) {
        if (!each.over && each.poll_interval && (!least || *each.poll_interval < *least)) {
            least = each.poll_interval;
        }
    }
    return least;
}

template <class Run>
void rule_drive<Run>::end_all(invoke_end why, step_number next_step) {
    for (std::size_t i = 0; i < rules_.size(); ++i) {
        end(i, why, next_step);
    }
}

template <class Run>
void rule_drive<Run>::end(std::size_t rule, invoke_end why, step_number next_step) {
    rule_progress& each = progress_[rule];
    if (each.over) {
        return;
    }
    const bool is_early = why == invoke_end::stopped || why == invoke_end::failed || why == invoke_end::first_finding;
    if (!is_early && each.outcome.evaluated > 0) {
        const step_number last = each.outcome.next_step - 1;
        std::vector<finding> notes;
        try {
            notes = rules_[rule]->conclude(run_, last);
        } catch (...) {
            each.failure = std::current_exception();
            return each.end(invoke_end::failed, next_step);
        }
        take(rule, std::move(notes), last);
    }
    each.end(why, next_step);
}

template <class Run>
named_step rule_drive<Run>::named(step_number step) const {
    const auto look = [&]() -> named_step {
        return {step, run_.mode(step).value_or(mode::global), run_.mode_step(step).value_or(step)};
    };
    if (has_all_) {
        return look();
    }
    [[maybe_unused]] const auto guard = without_refresh(run_);
    return look();
}

template <class Run>
void rule_drive<Run>::evaluate(std::size_t rule, step_number step) {
    const wait_options how{.timeout = options_.timeout, .stop = options_.stop, .give_up_after = options_.give_up_after};
    rule_progress& each = progress_[rule];
    std::vector<finding> findings;
    std::exception_ptr skipped;
    if (log_ != nullptr) {
        log_->begin(now_);
    }
    const auto call = [&] {
        try {
            findings = rules_[rule]->call(run_, step, how);
        } catch (const not_found& missing) {
            if (!means_skip(missing)) {
                throw;
            }
            skipped = std::current_exception();
        }
    };
    try {
        if (const auto waiting = end_of_wait(call)) {  // the wait for a step that the rule requires
            return each.end(*waiting, step);
        }
    } catch (...) {
        count_reads(each, {}, {});
        each.failure = std::current_exception();
        return each.end(invoke_end::failed, step);
    }
    count_reads(each, findings, skipped);
    if (skipped) {
        return skip(rule, step, skipped);
    }
    ++each.outcome.evaluated;
    take(rule, std::move(findings), step);
}

template <class Run>
void rule_drive<Run>::count_reads(rule_progress& each, const std::vector<finding>& findings,
                                  const std::exception_ptr& skipped) const {
    if (options_.stop.stop_requested()) {
        return;
    }
    const auto asked = log_ != nullptr ? std::optional{log_->end()} : std::nullopt;
    const auto count = [&](const error* why) {
        each.tally.add(asked ? &*asked : nullptr, findings, why, each.outcome);
    };
    if (!skipped) {
        return count(nullptr);
    }
    try {
        std::rethrow_exception(skipped);
    } catch (const error& missing) {
        count(&missing);
    }
}

template <class Run>
void rule_drive<Run>::skip(std::size_t rule, step_number step, const std::exception_ptr& why) {
    rule_outcome& outcome = progress_[rule].outcome;
    try {
        std::rethrow_exception(why);
    } catch (const error& missing) {
        if (outcome.skipped++ == 0) {
            outcome.first_skip = missing.message();
        }
        if (listener_.on_skip) {
            listener_.on_skip(rule, step, missing);
        }
    }
}

template <class Run>
void rule_drive<Run>::take(std::size_t rule, std::vector<finding> findings, step_number step) {
    rule_progress& each = progress_[rule];
    bool met = false;
    for (finding& one : findings) {
        if (met && one.met && options_.first_offender) {
            continue;
        }
        if (const auto& report = one.met ? listener_.on_finding : listener_.on_note) {
            report(rule, step, one);
        }
        if (one.met) {
            met = true;
            each.outcome.findings.push_back(std::move(one));
        } else if (each.outcome.notes.size() < rule_outcome::most_notes) {
            each.outcome.notes.push_back(std::move(one));
        }
    }
    if (!met) {
        return;
    }
    each.outcome.met_at.push_back(step);
    if (options_.raise_eval_cond) {
        throw rule_evaluation_condition_met(rules_[rule]->name, step, each.outcome.findings.back().message);
    }
    if (options_.stop_at_first) {
        each.end(invoke_end::first_finding, each.outcome.next_step);
    }
}

template <class Run>
std::optional<invoke_end> rule_drive<Run>::wait_for(step_number step, bool& passed_over) {
    if constexpr (waits_for_steps<Run>) {
        using std::chrono::milliseconds;
        wait_options how{.timeout = options_.timeout, .stop = options_.stop, .give_up_after = options_.give_up_after};
        std::optional<milliseconds> left = options_.timeout;
        while (true) {
            const std::optional<milliseconds> slice = poll_interval();
            const bool sliced = slice && (!left || *slice < *left);
            how.timeout = sliced ? slice : left;
            std::optional<invoke_end> over;
            try {
                over = end_of_wait([&] { run_.wait_for_steps({step}, how); });
            } catch (const no_more_data&) {
                over = invoke_end::end_of_run;
            } catch (const step_unavailable&) {
                passed_over = true;
            }
            if (over != invoke_end::timed_out || !sliced) {
                return over;
            }
            idle(step);
            if (all_over()) {
                return invoke_end::first_finding;  // each rule has its own end already
            }
            if (left) {
                left = *left - *slice;
            }
        }
    }
    return std::nullopt;
}

}  // namespace smdebug::inline v1::detail
