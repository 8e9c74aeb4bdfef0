// Concepts of trials: what rules read.
#pragma once

#include <smdebug/core/step.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/options.hpp>

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1 {

namespace detail {

/// The number by which users know a step: see trial::shown_step(); for other trials the global one.
template <class Trial>
[[nodiscard]] step_number shown_step(const Trial& run, step_number global_step) {
    if constexpr (requires {
                      { run.shown_step(global_step) } -> std::same_as<step_number>;
                  }) {
        return run.shown_step(global_step);
    } else {
        return global_step;
    }
}

}  // namespace detail

/// steps(options), mode(step), mode_step(step): which steps there are.
template <class AnyTrial>
concept step_source = requires(const AnyTrial& trial, step_number step, const steps_options& which) {
    { trial.steps(which) } -> std::same_as<std::vector<step_number>>;
    { trial.mode(step) } -> std::same_as<std::optional<smdebug::mode>>;
    { trial.mode_step(step) } -> std::same_as<std::optional<step_number>>;
};

/// tensor_names(options), has_tensor(name): which tensors there are.
template <class AnyTrial>
concept tensor_lister = requires(const AnyTrial& trial, const tensor_names_options& which, std::string_view name) {
    { trial.tensor_names(which) } -> std::same_as<std::vector<std::string>>;
    { trial.has_tensor(name) } -> std::same_as<bool>;
};

/// A tensor's handle: steps, workers and reductions, each by a call that throws and by one that returns why not.
template <class Handle>
concept reducible_tensor = requires(const Handle& tensor, step_number step, reduction what, const steps_options& which,
                                    const reduction_options& how, const read_options& where) {
    { tensor.name() } -> std::convertible_to<std::string>;
    { tensor.steps(which) } -> std::same_as<std::vector<step_number>>;
    { tensor.workers(step, where) } -> std::same_as<std::vector<std::string>>;
    { tensor.reduction_value(step, what, how) } -> std::same_as<double>;
    { tensor.find_reduction(step, what, how) } -> std::same_as<lookup<double>>;
};

/// tensor(name) returns such a handle.
template <class AnyTrial>
concept tensor_source = requires(const AnyTrial& trial, std::string_view name) {
    { trial.tensor(name) } -> reducible_tensor;
};

/// What a rule may use of a trial.  A type AnyTrial models `readable_trial` when:
///  1. steps are global steps, ascending; mode and mode_step return nothing for a step that was not written;
///  2. tensor_names returns sorted names, each once; tensor(name) throws tensor_unavailable for any other name;
///  3. reduction_value throws where find_reduction returns a failure, and they agree otherwise;
///  4. name() says which run it is; const calls may run concurrently.
/// Not promised: where the values come from, or that a later call sees more steps.
template <class AnyTrial>
concept readable_trial =
    step_source<AnyTrial> && tensor_lister<AnyTrial> && tensor_source<AnyTrial> && requires(const AnyTrial& trial) {
        { trial.name() } -> std::convertible_to<std::string>;
    };

}  // namespace smdebug::inline v1
