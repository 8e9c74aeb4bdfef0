// Many rules over one run in one walk: a tensor that several of them want is read and reduced once.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/rules/any_rule.hpp>
#include <smdebug/rules/concepts.hpp>
#include <smdebug/rules/drive/rule_drive.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/outcome.hpp>
#include <smdebug/rules/rule_result.hpp>
#include <smdebug/trial/concepts.hpp>
#include <smdebug/trial/sharing_options.hpp>

#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// Options of invoke_rules.  Of `common` the callbacks and raise_eval_cond do not count: with several rules, callbacks
/// say which, by its place among them.
struct invoke_rules_options {
    invoke_options common = {};
    std::function<void(std::size_t rule, const finding&)> on_finding = {};
    std::function<void(std::size_t rule, const finding&)> on_note = {};
    std::function<void(std::size_t rule, step_number, const error&)> on_skip = {};
    /// Called before each step, with its number.
    std::function<void(step_number)> on_step = {};
    sharing_options sharing = {};
};

namespace detail {

[[nodiscard]] drive_listener listener_of(const invoke_rules_options& options);

}  // namespace detail

/// Rules that are evaluated over a run as its caller drives them: step by step with visit(), or all by go().
/// Borrows the run.  One thread uses it.
template <readable_trial Trial>
class rule_session {
public:
    rule_session(const Trial& run, const std::vector<any_rule<Trial>>& rules, invoke_rules_options options = {});
    rule_session(const rule_session&) = delete;
    rule_session& operator=(const rule_session&) = delete;

    /// Walks to the end, as invoke_rules.
    void go() { drive_.go(); }
    /// Calls the rules at a global step that is there.
    void visit(step_number step) { drive_.visit(step); }
    /// Polls the rules that measure time, while `next_step` is waited for; see polled_rule.
    void idle(step_number next_step) { drive_.idle(next_step); }
    /// How often they are to be polled; nothing where there is no such rule.
    [[nodiscard]] std::optional<std::chrono::milliseconds> poll_interval() const { return drive_.poll_interval(); }
    /// Whether no rule will be called any more.
    [[nodiscard]] bool over() const { return drive_.all_over(); }
    /// Ends the rules that are not over.
    void end(invoke_end why, step_number next_step) { drive_.end_all(why, next_step); }

    /// The results so far, in the order of the rules.
    [[nodiscard]] std::vector<rule_result> results() const;

private:
    using seen_type = std::conditional_t<shareable_trial<Trial>, Trial, const Trial&>;

    [[nodiscard]] static seen_type seen_of(const Trial& run, const sharing_options& how);
    [[nodiscard]] detail::drive_listener listener();

    invoke_rules_options options_;
    seen_type seen_;
    detail::rule_drive<detail::driven<Trial>> drive_;
};

/// Evaluates rules at every saved global step, as invoke_rule does each, in one walk: all rules look at a step before
/// the next one.  Each finds what it would find alone.  A rule that throws, or whose settings make no sense, ends with
/// invoke_end::failed; the others go on.
/// A result for each rule, in their order.
/// Cost:    one read and one pass (all 18 reductions) over each tensor that any rule asks for; values once more, for
///          those rules that reductions cannot answer.
/// Memory:  as sharing_options say.
template <readable_trial Trial>
[[nodiscard]] std::vector<rule_result> invoke_rules(const Trial& run, const std::vector<any_rule<Trial>>& rules,
                                                    const invoke_rules_options& options = {}) {
    rule_session<Trial> session{run, rules, options};
    session.go();
    return session.results();
}

/// The same for rules as they are: lvalues are called where they are, and keep their state.
///
///     for (const auto& result : smd::invoke_rules(run, {}, smd::rules::exploding_tensor{}, smd::rules::dead_relu{}))
///     ...
template <readable_trial Trial, class... Rules>
    requires(sizeof...(Rules) > 0 && (rule<std::remove_cvref_t<Rules>, Trial> && ...))
[[nodiscard]] std::vector<rule_result> invoke_rules(const Trial& run, const invoke_rules_options& options,
                                                    Rules&&... rules) {
    return invoke_rules(run, std::vector<any_rule<Trial>>{any_rule<Trial>::borrowing(rules)...}, options);
}

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/rules/impl/invoke_rules.ipp>
#endif

#include <smdebug/rules/impl/invoke_rules.tpp>
