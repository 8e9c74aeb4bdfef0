// The steps of a run one after another: known ones in bulk, then new ones as they come.
#pragma once

#include <smdebug/core/step.hpp>
#include <smdebug/trial/concepts.hpp>
#include <smdebug/trial/options.hpp>

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
concept reads_steps_ahead = requires(const T& trial, step_number step) {
    trial.read_ahead(step);
};

/// The saved steps from one on, asked for in bulk: again only when those that are known have been walked.
template <class Trial>
class step_walk {
public:
    explicit step_walk(const Trial& run) : run_(run) {}

    /// The first saved step that is not below `from`; nothing where there is none yet.
    [[nodiscard]] std::optional<step_number> next(step_number from);

    /// Tells the trial, if it wants to know, of the next steps behind the last one that next() gave: of each once, of
    /// none from `end` on, and only of those that are known.
    void read_ahead(std::optional<step_number> end);

private:
    static constexpr std::size_t steps_ahead = 4;

    // Where steps are waited for, the wait looks for new ones.
    [[nodiscard]] std::vector<step_number> known_steps() const;

    const Trial& run_;
    std::vector<step_number> steps_;
    std::size_t at_ = 0;
    step_number not_told_ = 0;  // the trial has been told of those below
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#include <smdebug/rules/drive/impl/step_walk.tpp>
