// any_rule: a type-erased rule for one type of trial.  Below it erased_rule, the interface that is called for one rule,
// for many, and inside a training process; and held_rule, which calls a rule of its own type.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/rules/built_in.hpp>
#include <smdebug/rules/concepts.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/rule_result.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/trial/concepts.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/trial.hpp>

#include <chrono>
#include <concepts>
#include <exception>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace smdebug::inline v1 {
namespace detail {

// Keeps the findings that are met or are notes.
[[nodiscard]] std::vector<finding> without_silent(std::vector<finding> all);
[[nodiscard]] inline std::vector<finding> without_silent(finding one) {
    return without_silent(std::vector<finding>{std::move(one)});
}
[[nodiscard]] inline std::vector<finding> without_silent(bool met) { return without_silent(finding{.met = met}); }

/// Whether an error says that something the rule needs was not saved.
[[nodiscard]] bool means_skip(const not_found& missing) noexcept;

template <class Value>
concept waits_for_steps = requires(const Value& trial, const std::vector<step_number>& steps, const wait_options& how) {
    trial.wait_for_steps(steps, how);
};

/// Switches a run's refreshing off for a scope, if the run can refresh.
template <class Run>
[[nodiscard]] auto without_refresh(const Run& run) {
    if constexpr (refreshable_trial<Run>) {
        return no_refresh{run};
    } else {
        return std::monostate{};
    }
}

/// Switches refreshing off for those of the trials that a rule compares with which can refresh.
template <class Rule>
[[nodiscard]] std::list<no_refresh> others_without_refresh([[maybe_unused]] const Rule& callable) {
    std::list<no_refresh> guards;
    [[maybe_unused]] const auto guard = [&](const auto& other) {
        if constexpr (requires { no_refresh{other}; }) {
            guards.emplace_back(other);
        }
    };
    if constexpr (compares_trials<Rule>) {
        std::apply([&](const auto&... others) { (guard(others), ...); }, callable.other_trials());
    } else if constexpr (compares_many_trials<Rule>) {
        for (const auto& other : callable.other_runs()) {
            guard(other.get());
        }
    }
    return guards;
}

/// A rule of any type, called with a Run.
template <class Run>
class erased_rule {
public:
    explicit erased_rule(std::string own) : name(own), own_name_(std::move(own)) {}
    erased_rule(const erased_rule&) = delete;
    erased_rule& operator=(const erased_rule&) = delete;
    virtual ~erased_rule() = default;

    /// Errors: value_error, insufficient_information: invalid settings.
    virtual void check() const = 0;

    /// Calls the rule at a global step that exists, with refreshing off, after checking the tensors that it requires.
    /// Returns the findings that are met, and notes; nothing if there are neither.
    /// Errors: tensor_unavailable, tensor_unavailable_for_step, what waiting for required tensors throws, and whatever
    ///         the rule throws.
    [[nodiscard]] std::vector<finding> call(const Run& run, step_number step, const wait_options& how) {
        [[maybe_unused]] const auto guard = without_refresh(run);
        std::vector<finding> findings = judge(run, step, how);
        complete(findings, run, step);
        return findings;
    }
    /// See concluding_rule: notes about a walk whose last step was `step`.
    [[nodiscard]] std::vector<finding> conclude(const Run& run, step_number step) {
        [[maybe_unused]] const auto guard = without_refresh(run);
        std::vector<finding> notes = conclusion(run);
        complete(notes, run, step);
        return notes;
    }
    /// Gives findings the rule's own name, `step`, and the mode of their step, where they have none.
    void complete(std::vector<finding>& findings, const Run& run, step_number step) const {
        for (finding& one : findings) {
            one.rule = one.rule.empty() ? own_name_ : std::move(one.rule);
            one.step = one.step < 0 ? step : one.step;
            if (one.mode_step < 0) {
                const std::optional<mode> in = run.mode(one.step);
                one.mode = in.value_or(mode::global);
                one.mode_step = in ? run.mode_step(one.step).value_or(one.step) : one.step;
            }
        }
    }
    /// Checks the settings, then calls the rule at a step that may have to be waited for.
    /// Errors: those of check() and call(), and what wait_for_steps throws (step_unavailable, no_more_data, timed_out,
    ///         stopped).
    [[nodiscard]] std::vector<finding> evaluate(const Run& run, step_number step, const wait_options& how = {}) {
        check();
        if constexpr (waits_for_steps<Run>) {
            run.wait_for_steps({step}, how);
        }
        return call(run, step, how);
    }

    /// See polled_rule.  Nothing for a rule that is not polled.
    [[nodiscard]] virtual std::optional<std::chrono::milliseconds> poll_interval() const = 0;
    virtual void start() = 0;
    [[nodiscard]] virtual std::optional<finding> while_waiting(const Run& run) = 0;

    [[nodiscard]] rule_result result(rule_outcome outcome, std::string run, std::exception_ptr cause) const {
        rule_result made = result_of(own_name_, parameters(), std::move(outcome), std::move(run), std::move(cause));
        made.name = name;
        return made;
    }

    /// See banded_rule.
    [[nodiscard]] virtual std::vector<rule_outcome::band> bands() const = 0;

    /// Whether it is a built-in rule that judges tensors, so that without any such tensor it has judged nothing.
    [[nodiscard]] virtual bool is_tensor_rule() const noexcept = 0;

    /// Whether it has a setting all_workers that is false.
    [[nodiscard]] virtual bool looks_at_first_worker() const noexcept = 0;

    std::string name;       ///< in reports
    step_range range = {};  ///< the only steps at which it is called

private:
    [[nodiscard]] virtual std::vector<finding> judge(const Run& run, step_number step, const wait_options& how) = 0;
    [[nodiscard]] virtual std::vector<finding> conclusion(const Run& run) = 0;
    [[nodiscard]] virtual std::map<std::string, std::string> parameters() const = 0;

    std::string own_name_;
};

/// The trial type that rules are compiled for: smdebug::trial for every trial derived from it, so that the built-in
/// rules, and the code that drives rules, are compiled once for all policies.
template <class Trial>
struct driven_type {
    using type = Trial;
};
template <std::derived_from<trial> Trial>
struct driven_type<Trial> {
    using type = trial;
};
template <class Trial>
using driven = typename driven_type<Trial>::type;

/// The implementation: Held is the rule's type, or a reference to it; Named the type of trial that the rule is called
/// with, which every run passed to it has.
template <class Held, class Named>
class held_rule final : public erased_rule<driven<Named>> {
    using Run = driven<Named>;
    using rule_type = std::remove_reference_t<Held>;
    static constexpr bool polled = polled_rule<rule_type, Named>;

public:
    template <class From>
    explicit held_rule(From&& from) : erased_rule<Run>(name_of_rule(from)), callable_(std::forward<From>(from)) {}

    void check() const override { check_settings(callable_); }

    bool looks_at_first_worker() const noexcept override {
        if constexpr (requires { static_cast<bool>(callable_.all_workers); }) {
            return !callable_.all_workers;
        } else {
            return false;
        }
    }

    std::optional<std::chrono::milliseconds> poll_interval() const override {
        if constexpr (polled) {
            return callable_.poll_interval();
        } else {
            return std::nullopt;
        }
    }
    void start() override {
        if constexpr (polled) {
            callable_.start();
        }
    }
    std::optional<finding> while_waiting([[maybe_unused]] const Run& run) override {
        if constexpr (polled) {
            return callable_.while_waiting(named(run));
        } else {
            return std::nullopt;
        }
    }

    std::vector<rule_outcome::band> bands() const override {
        if constexpr (banded_rule<rule_type>) {
            return callable_.bands();
        } else {
            return {};
        }
    }

    bool is_tensor_rule() const noexcept override { return built_in_rule<rule_type> && !polled; }

private:
    std::vector<finding> judge(const Run& run, step_number step, [[maybe_unused]] const wait_options& how) override {
        [[maybe_unused]] const auto guards = others_without_refresh(callable_);
        if constexpr (requires_tensors<rule_type, Named>) {
            required_tensors<Named> required{named(run)};
            callable_.require(named(run), step, required);
            required.fetch(how);
        }
        return without_silent(callable_(named(run), step));
    }
    std::vector<finding> conclusion([[maybe_unused]] const Run& run) override {
        if constexpr (concluding_rule<rule_type, Named>) {
            return without_silent(callable_.conclude(named(run)));
        } else {
            return {};
        }
    }
    std::map<std::string, std::string> parameters() const override { return parameters_of(callable_); }

    [[nodiscard]] static const Named& named(const Run& run) noexcept { return static_cast<const Named&>(run); }

    Held callable_;
};

class rule_table;

/// A built-in rule, for any trial.  In the compiled form only the library contains its code.
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

/// Holds a rule, by value or by reference.  Copies share it; a rule that keeps state between steps serves one run only.
template <readable_trial Trial>
class any_rule {
public:
    /// Holds a copy.
    template <class AnyRule>
        requires(!std::same_as<AnyRule, any_rule> && rule<AnyRule, Trial>)
    any_rule(AnyRule callable)  // NOLINT: implicit
        : erased_(kept<AnyRule>(std::move(callable))) {}

    /// Borrows a rule, which must outlive this object and its copies.
    template <class AnyRule>
        requires rule<AnyRule, Trial>
    [[nodiscard]] static any_rule borrowing(AnyRule& callable) {
        return any_rule{kept<AnyRule&>(callable)};
    }

    /// Holds the rule of an any_rule<trial>, for trials of a more derived type.
    template <std::same_as<any_rule<trial>> General>
        requires(!std::same_as<Trial, trial> && std::derived_from<Trial, trial>)
    explicit any_rule(const General& general) : erased_(general.erased_) {}

    /// The rule's name, or "rule".
    [[nodiscard]] const std::string& name() const noexcept { return erased_->name; }
    /// Sets another name for reports, to distinguish several rules of one type.
    void rename(std::string name) { erased_->name = std::move(name); }
    /// The global steps at which the rule is called, within those of the walk; by default all.
    [[nodiscard]] const step_range& range() const noexcept { return erased_->range; }
    void limit(step_range range) { erased_->range = range; }

    /// Errors: value_error, insufficient_information: invalid settings.
    void check() const { erased_->check(); }
    /// Calls the rule at a global step that exists, with refreshing off, after checking the tensors that it requires.
    /// Errors: tensor_unavailable, tensor_unavailable_for_step, what waiting for required tensors throws, and whatever
    ///         the rule throws.
    [[nodiscard]] std::vector<finding> call(const Trial& run, step_number step, const wait_options& how) const {
        return erased_->call(run, step, how);
    }
    /// How often the rule is polled while the next step is waited for; see polled_rule.
    [[nodiscard]] std::optional<std::chrono::milliseconds> poll_interval() const { return erased_->poll_interval(); }
    void start() const { erased_->start(); }
    [[nodiscard]] std::optional<finding> while_waiting(const Trial& run) const { return erased_->while_waiting(run); }
    /// The result of the rule for a run of that name.
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
        if constexpr (std::same_as<run_type, trial> && built_in_rule<rule_type>) {
            return detail::built_in<Held>(std::forward<From>(callable));
        } else {
            return std::make_shared<detail::held_rule<Held, Trial>>(std::forward<From>(callable));
        }
    }

    std::shared_ptr<erased_rule> erased_;
};

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/rules/impl/any_rule.ipp>
#endif
