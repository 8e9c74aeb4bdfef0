// A rule of any type, for one type of trial: for lists of rules.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/rules/built_in.hpp>
#include <smdebug/rules/concepts.hpp>
#include <smdebug/rules/drive/erased_rule.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/outcome.hpp>
#include <smdebug/rules/rule_result.hpp>
#include <smdebug/trial/concepts.hpp>
#include <smdebug/trial/options.hpp>

#include <chrono>
#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

class rule_table;

/// A built-in rule, for any trial.  In the compiled form it is in the library, and nowhere else.
template <class Held>
[[nodiscard]] std::shared_ptr<erased_rule<trial>> built_in(Held&& callable);

#ifndef SMDEBUG_COMPILED
template <class Held>
std::shared_ptr<erased_rule<trial>> built_in(Held&& callable) {
    return std::make_shared<held_rule<Held, trial>>(std::forward<Held>(callable));
}
#endif

}  // namespace detail

template <readable_trial Trial>
class rule_session;

template <std::derived_from<trial> Trial>
class rule_registry;

/// Holds a rule, by value or by reference.  Copies share it; a rule that keeps state between steps is for one run.
template <readable_trial Trial>
class any_rule {
public:
    /// Holds a copy.
    template <class R>
        requires(!std::same_as<R, any_rule> && rule<R, Trial>)
    any_rule(R callable)  // NOLINT: implicit
        : erased_(kept<R>(std::move(callable))) {}

    /// Borrows a rule, which must outlive this and its copies.
    template <class R>
        requires rule<R, Trial>
    [[nodiscard]] static any_rule borrowing(R& callable) {
        return any_rule{kept<R&>(callable)};
    }

    /// The same rule, for trials that are known as something more than a trial.
    template <std::same_as<any_rule<trial>> General>
        requires(!std::same_as<Trial, trial> && std::derived_from<Trial, trial>)
    explicit any_rule(const General& general) : erased_(general.erased_) {}

    /// The rule's name, or "rule".
    [[nodiscard]] const std::string& name() const noexcept { return erased_->name; }
    /// Another name, for reports: of several rules of one type.
    void rename(std::string name) { erased_->name = std::move(name); }
    /// The global steps at which it is to be called, within those of the walk; default: all.
    [[nodiscard]] const step_range& range() const noexcept { return erased_->range; }
    void limit(step_range range) { erased_->range = range; }

    /// Errors: value_error, insufficient_information_for_rule_invocation: settings that make no sense.
    void check() const { erased_->check(); }
    /// Calls it at a global step that is there, with refreshing off, after making sure of the tensors that it requires.
    /// Errors: tensor_unavailable, tensor_unavailable_for_step, what waiting for what it requires throws, and whatever
    ///         the rule throws.
    [[nodiscard]] std::vector<finding> call(const Trial& run, step_number step, const wait_options& how) const {
        return erased_->call(run, step, how);
    }
    /// How often it is polled while the next step is waited for; see polled_rule.
    [[nodiscard]] std::optional<std::chrono::milliseconds> poll_interval() const { return erased_->poll_interval(); }
    void start() const { erased_->start(); }
    [[nodiscard]] std::optional<finding> while_waiting(const Trial& run) const { return erased_->while_waiting(run); }
    /// What came of it over a run of that name.
    [[nodiscard]] rule_result result(rule_outcome outcome, std::string run = {}) const {
        return erased_->result(std::move(outcome), std::move(run), {});
    }

private:
    friend rule_session<Trial>;
    template <readable_trial Other>
    friend class any_rule;
    template <std::derived_from<trial> Other>
    friend class rule_registry;
    friend detail::rule_table;
    using erased_rule = detail::erased_rule<detail::driven<Trial>>;

    [[nodiscard]] static std::vector<std::shared_ptr<erased_rule>> erased(const std::vector<any_rule>& rules) {
        std::vector<std::shared_ptr<erased_rule>> all;
        for (const any_rule& each : rules) {
            all.push_back(each.erased_);
        }
        return all;
    }

    explicit any_rule(std::shared_ptr<erased_rule> erased) : erased_(std::move(erased)) {}

    template <class Held, class From>
    [[nodiscard]] static std::shared_ptr<erased_rule> kept(From&& callable) {
        using rule_type = std::remove_reference_t<Held>;
        using run_type = detail::driven<Trial>;
        if constexpr (std::same_as<run_type, trial> && built_in_rule<rule_type, trial>) {
            return detail::built_in<Held>(std::forward<From>(callable));
        } else {
            return std::make_shared<detail::held_rule<Held, Trial>>(std::forward<From>(callable));
        }
    }

    std::shared_ptr<erased_rule> erased_;
};

}  // namespace v1
}  // namespace smdebug
