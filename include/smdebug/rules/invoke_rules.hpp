// Evaluates one rule (invoke_rule) or many (invoke_rules) over a run; many in one walk, in which each tensor is read
// and reduced once.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/rules/any_rule.hpp>
#include <smdebug/rules/concepts.hpp>
#include <smdebug/rules/drive/rule_drive.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/rule_result.hpp>
#include <smdebug/trial/concepts.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/shared/rule_view.hpp>
#include <smdebug/trial/trial_access.hpp>

#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace smdebug::inline v1 {

/// Options of invoke_rules.  The callbacks and raise_eval_cond of `common` are ignored: with several rules, callbacks
/// also get the rule's index.
struct invoke_rules_options {
    invoke_options common = {};
    std::function<void(std::size_t rule, const finding&)> on_finding = {};
    std::function<void(std::size_t rule, const finding&)> on_note = {};
    std::function<void(std::size_t rule, step_number, const error&)> on_skip = {};
    /// Called before each step, with its number.
    std::function<void(step_number)> on_step = {};
    sharing_options sharing = {};
};

template <readable_trial Trial>
class rule_session;

namespace detail {

/// Evaluates rules as invoke_rules() does, in the pass of a scan that runs anyway: see view_for_rules().
template <readable_trial Trial>
[[nodiscard]] std::vector<rule_result> invoke_rules_beside(std::shared_ptr<scan_onlooker> onlooker, const Trial& run,
                                                           const std::vector<any_rule<Trial>>& rules,
                                                           const invoke_rules_options& options = {}) {
    rule_session<Trial> session{run, rules, options, std::move(onlooker)};
    session.go();
    return session.results();
}

[[nodiscard]] inline drive_listener listener_of(const invoke_rules_options& options) {
    const auto without_step = [](const auto& report) {
        return [&report](std::size_t rule, step_number, const finding& one) {
            if (report) {
                report(rule, one);
            }
        };
    };
    return {.on_step = options.on_step,
            .on_finding = without_step(options.on_finding),
            .on_note = without_step(options.on_note),
            .on_skip = options.on_skip};
}

}  // namespace detail

/// Rules over a run, driven by the caller: step by step with visit(), or all steps by go().
/// Borrows the run.  Not thread-safe.
template <readable_trial Trial>
class rule_session {
public:
    rule_session(const Trial& run, const std::vector<any_rule<Trial>>& rules, invoke_rules_options options = {})
        : rule_session(run, rules, std::move(options), nullptr) {}
    rule_session(const rule_session&) = delete;
    rule_session& operator=(const rule_session&) = delete;

    /// Walks to the end, as invoke_rules.
    void go() { drive_.go(); }
    /// Calls the rules at a global step that exists.
    void visit(step_number step) { drive_.visit(step); }
    /// Polls the rules that measure time, while `next_step` is waited for; see polled_rule.
    void idle(step_number next_step) { drive_.idle(next_step); }
    /// The interval at which they must be polled; nothing if there is no such rule.
    [[nodiscard]] std::optional<std::chrono::milliseconds> poll_interval() const { return drive_.poll_interval(); }
    /// Whether all rules have ended.
    [[nodiscard]] bool over() const { return drive_.all_over(); }
    /// Ends the remaining rules.
    void end(invoke_end why, step_number next_step) { drive_.end_all(why, next_step); }

    /// The results so far, in the order of the rules.
    [[nodiscard]] std::vector<rule_result> results() const;

private:
    using seen_type = std::conditional_t<detail::shareable_trial<Trial>, Trial, const Trial&>;

    friend std::vector<rule_result> detail::invoke_rules_beside<Trial>(std::shared_ptr<detail::scan_onlooker>,
                                                                       const Trial&,
                                                                       const std::vector<any_rule<Trial>>&,
                                                                       const invoke_rules_options&);
    rule_session(const Trial& run, const std::vector<any_rule<Trial>>& rules, invoke_rules_options options,
                 std::shared_ptr<detail::scan_onlooker> onlooker);

    [[nodiscard]] static seen_type seen_of(const Trial& run, const sharing_options& how,
                                           std::shared_ptr<detail::scan_onlooker> onlooker);
    [[nodiscard]] detail::drive_listener listener();

    invoke_rules_options options_;
    seen_type seen_;
    detail::rule_drive<detail::driven<Trial>> drive_;
};

/// Evaluates rules at every saved global step, each as by invoke_rule, in one walk: all rules judge a step before the
/// next one.  The findings are those of separate calls.  A rule that throws, or has invalid settings, ends with
/// invoke_end::failed; the others continue.
/// Returns a result for each rule, in their order.
/// Cost:    one read and one pass (all 18 reductions) over each tensor that any rule uses; another read of the values
///          for rules that reductions do not suffice for.
/// Memory:  as sharing_options say.
template <readable_trial Trial>
[[nodiscard]] std::vector<rule_result> invoke_rules(const Trial& run, const std::vector<any_rule<Trial>>& rules,
                                                    const invoke_rules_options& options = {}) {
    return detail::invoke_rules_beside<Trial>(nullptr, run, rules, options);
}

/// Evaluates rules of their own types.  Lvalues are called in place, and keep their state.
///
///     for (const auto& result : smd::invoke_rules(run, {}, smd::rules::exploding_tensor{}, smd::rules::dead_relu{}))
///     ...
template <readable_trial Trial, class... Rules>
    requires(sizeof...(Rules) > 0 && (rule<std::remove_cvref_t<Rules>, Trial> && ...))
[[nodiscard]] std::vector<rule_result> invoke_rules(const Trial& run, const invoke_rules_options& options,
                                                    Rules&&... rules) {
    return invoke_rules(run, std::vector<any_rule<Trial>>{any_rule<Trial>::borrowing(rules)...}, options);
}

namespace detail {

template <class Rule, class Trial>
[[nodiscard]] rule_outcome drive_alone(Rule& callable, const Trial& run, const invoke_options& options) {
    return rule_drive<driven<Trial>>{
        run, {std::make_shared<held_rule<Rule&, Trial>>(callable)}, options, listener_of(options)}
        .go_alone();
}

}  // namespace detail

/// Calls a rule at every saved global step from start_step up to, but not including, end_step, and waits for new ones
/// while the job runs.  Steps without something that the rule needs are skipped.
/// Errors:  value_error, insufficient_information (settings); rule_evaluation_condition_met on
///          request; whatever the rule throws, except errors that mean missing data.
/// Cost:    grows with the number of saved steps, not with their numbers; a running job is listed again after the known
///          steps.  A trial in a remote storage prefetches the next steps before each call.
/// Threads: rules may run over one trial on several threads; while any of them is in a call, none refreshes the trial.
template <class Rule, class Trial>
    requires rule<std::remove_reference_t<Rule>, Trial>
rule_outcome invoke_rule(Rule&& callable, const Trial& run, const invoke_options& options = {}) {
    if constexpr (detail::shareable_trial<Trial>) {
        Trial logged{run};
        detail::trial_access::share_with_rules(logged, detail::view_for_rules(detail::state_of(run), nullptr));
        return detail::drive_alone(callable, logged, options);
    } else {
        return detail::drive_alone(callable, run, options);
    }
}

template <readable_trial Trial>
rule_session<Trial>::rule_session(const Trial& run, const std::vector<any_rule<Trial>>& rules,
                                  invoke_rules_options options, std::shared_ptr<detail::scan_onlooker> onlooker)
    : options_(std::move(options)),
      seen_(seen_of(run, options_.sharing, std::move(onlooker))),
      drive_(seen_, any_rule<Trial>::erased(rules), options_.common, listener()) {
    options_.common.raise_eval_cond = false;
}

template <readable_trial Trial>
std::vector<rule_result> rule_session<Trial>::results() const {
    std::vector<rule_result> made;
    for (std::size_t i = 0; i < drive_.rules().size(); ++i) {
        made.push_back(drive_.rules()[i]->result(drive_.outcome_of(i), seen_.name(), drive_.progress()[i].failure));
    }
    return made;
}

template <readable_trial Trial>
typename rule_session<Trial>::seen_type rule_session<Trial>::seen_of(
    const Trial& run, [[maybe_unused]] const sharing_options& how,
    [[maybe_unused]] std::shared_ptr<detail::scan_onlooker> onlooker) {
    if constexpr (detail::shareable_trial<Trial>) {
        Trial shared{run};
        detail::trial_access::share_with_rules(
            shared, detail::view_for_rules(detail::state_of(run), &how, std::move(onlooker)));
        return shared;
    } else {
        return run;
    }
}

template <readable_trial Trial>
detail::drive_listener rule_session<Trial>::listener() {
    detail::drive_listener listener = detail::listener_of(options_);
    if constexpr (detail::shareable_trial<Trial>) {
        listener.on_step = [this](step_number step) {
            detail::trial_access::begin_rules(seen_, step, options_.common.end_step);
            if (options_.on_step) {
                options_.on_step(step);
            }
        };
    }
    return listener;
}

}  // namespace smdebug::inline v1
