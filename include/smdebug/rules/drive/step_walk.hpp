// The steps of a run one after another: known ones in bulk, then new ones as they come.
#pragma once

#include <smdebug/core/step.hpp>
#include <smdebug/trial/concepts.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/read/prefetch_window.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

template <class T>
concept waits_for_steps = requires(const T& trial, const std::vector<step_number>& steps, const wait_options& how) {
    trial.wait_for_steps(steps, how);
};

template <class T>
concept reads_steps_ahead = requires(const T& trial, step_number step) { trial.read_ahead(step); };

/// The saved steps from one on, asked for in bulk: again only when those that are known have been walked.
template <class Trial>
class step_walk {
public:
    explicit step_walk(const Trial& run) : run_(run) {}

    /// The first saved step that is not below `from`; nothing where there is none yet.
    [[nodiscard]] std::optional<step_number> next(step_number from);

    /// Has the trial, if it can, read ahead the next known steps behind the one that next() gave, below `end`.
    void read_ahead(std::optional<step_number> end);

private:
    // Where steps are waited for, the wait looks for new ones.
    [[nodiscard]] std::vector<step_number> known_steps() const;

    const Trial& run_;
    std::vector<step_number> steps_;
    std::size_t place_ = 0;  // the step that next() gave, in steps_
    prefetch_window ahead_{4};
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#include <smdebug/rules/drive/impl/step_walk.tpp>
