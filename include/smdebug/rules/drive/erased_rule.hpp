// Type erasure of rules that evaluate runs of one type: behind one rule, many rules, and rules inside a training.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/rules/built_in.hpp>
#include <smdebug/rules/concepts.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/outcome.hpp>
#include <smdebug/rules/required_tensors.hpp>
#include <smdebug/rules/rule_result.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/trial/concepts.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/refresh_guard.hpp>
#include <smdebug/trial/trial.hpp>

#include <chrono>
#include <concepts>
#include <exception>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

// The findings that are met, or are notes.
[[nodiscard]] std::vector<finding> telling(std::vector<finding> all);
[[nodiscard]] inline std::vector<finding> telling(finding one) { return telling(std::vector<finding>{std::move(one)}); }
[[nodiscard]] inline std::vector<finding> telling(bool met) { return telling(finding{.met = met}); }

/// Whether an error says that something the rule needs was not saved.
[[nodiscard]] bool means_skip(const not_found& missing) noexcept;

template <class T>
concept waits_for_steps = requires(const T& trial, const std::vector<step_number>& steps, const wait_options& how) {
    trial.wait_for_steps(steps, how);
};

/// Switches a run's refreshing off for a scope, where it has any.
template <class Run>
[[nodiscard]] auto without_refresh(const Run& run) {
    if constexpr (refreshable_trial<Run>) {
        return no_refresh{run};
    } else {
        return std::monostate{};
    }
}

/// The same for the trials that a rule compares with.
template <class Rule>
[[nodiscard]] auto others_without_refresh(const Rule& callable) {
    if constexpr (compares_trials<Rule>) {
        return std::apply(
            [](const auto&... others) {
                if constexpr (requires { no_refresh{others...}; }) {
                    return no_refresh{others...};
                } else {
                    return std::monostate{};
                }
            },
            callable.other_trials());
    } else if constexpr (compares_many_trials<Rule>) {
        std::list<no_refresh> guards;
        for (const auto& other : callable.other_runs()) {
            if constexpr (refreshable_trial<std::remove_cvref_t<decltype(other.get())>>) {
                guards.emplace_back(other.get());
            }
        }
        return guards;
    } else {
        return std::monostate{};
    }
}

/// Fills in the step, mode and mode step of findings that lack them.
template <class Run>
void name_step(std::vector<finding>& findings, const Run& run, step_number step) {
    for (finding& one : findings) {
        if (one.step < 0) {
            one.step = step;
        }
        if (one.mode_step < 0) {
            const std::optional<mode> in = run.mode(one.step);
            one.mode = in.value_or(mode::global);
            one.mode_step = in ? run.mode_step(one.step).value_or(one.step) : one.step;
        }
    }
}

/// A rule of any type, called with a Run.
template <class Run>
class erased_rule {
public:
    explicit erased_rule(std::string own) : name(own), own_name_(std::move(own)) {}
    erased_rule(const erased_rule&) = delete;
    erased_rule& operator=(const erased_rule&) = delete;
    virtual ~erased_rule() = default;

    /// Errors: value_error, insufficient_information_for_rule_invocation: settings that make no sense.
    virtual void check() const = 0;

    /// Calls it at a global step that is there: with refreshing off, after making sure of the tensors that it requires.
    /// Returns the findings that are met, and notes; nothing when there are neither.
    /// Errors: tensor_unavailable, tensor_unavailable_for_step, what waiting for what it requires throws, and whatever
    ///         the rule throws.
    [[nodiscard]] std::vector<finding> call(const Run& run, step_number step, const wait_options& how) {
        [[maybe_unused]] const auto guard = without_refresh(run);
        std::vector<finding> findings = judge(run, step, how);
        name_step(findings, run, step);
        for (finding& one : findings) {
            one.rule = one.rule.empty() ? own_name_ : std::move(one.rule);
        }
        return findings;
    }
    /// The same for a step that may have to be waited for, and unchecked settings.
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

    /// Whether it looks at tensors that its settings select, so that it has looked at nothing where there are none.
    [[nodiscard]] virtual bool selects_tensors() const noexcept = 0;

    /// Whether it has a setting all_workers, and that is off.
    [[nodiscard]] virtual bool looks_at_first_worker() const noexcept = 0;

    std::string name;       ///< in reports
    step_range range = {};  ///< it is to be called at these steps only

private:
    [[nodiscard]] virtual std::vector<finding> judge(const Run& run, step_number step, const wait_options& how) = 0;
    [[nodiscard]] virtual std::map<std::string, std::string> parameters() const = 0;

    std::string own_name_;
};

/// The type that runs of a type are driven as: smdebug::trial for all that are one, so that what drives rules, and the
/// built-in rules, are compiled once, whatever the policies.
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

/// Implements it: Held is the rule's type, or a reference to it; Named the type of trial that it is called with, which
/// every run that it is given has.
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

    bool selects_tensors() const noexcept override { return built_in_rule<rule_type, Named> && !polled; }

private:
    std::vector<finding> judge(const Run& run, step_number step, [[maybe_unused]] const wait_options& how) override {
        [[maybe_unused]] const auto guards = others_without_refresh(callable_);
        if constexpr (requires_tensors<rule_type, Named>) {
            required_tensors<Named> required{named(run)};
            callable_.require(named(run), step, required);
            required.fetch(how);
        }
        return telling(callable_(named(run), step));
    }
    std::map<std::string, std::string> parameters() const override { return parameters_of(callable_); }

    [[nodiscard]] static const Named& named(const Run& run) noexcept { return static_cast<const Named&>(run); }

    Held callable_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/rules/drive/impl/erased_rule.ipp>
#endif
