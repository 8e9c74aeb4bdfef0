// What to prefetch for the next steps of a walk: the tensors that were asked for at the last ones.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/trial/read/held_steps.hpp>
#include <smdebug/trial/read/prefetch_window.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Notes which tensors a walk asks for, and has held_steps fetch those of the next steps.
/// Threads: one at a time.
class steps_ahead {
public:
    /// `file_bytes`: see held_steps.
    steps_ahead(std::shared_ptr<const trial_state> state, std::uint64_t file_bytes)
        : state_(std::move(state)), files_(state_, file_bytes) {}

    /// Whether event files are prefetched here.  A second prefetch beside this one would fetch them twice.
    [[nodiscard]] bool brings() const noexcept { return files_.holds(); }

    /// Begins to fetch the event files of a step, and of those after it that are there, below `end`.
    void begin_step(step_number step, std::optional<step_number> end);

    /// Notes that a tensor's reductions, or its values, are asked for at this step.
    void note_reduced(const std::string& name) { note(reduced_, name); }
    void note_read(const std::string& name) { note(read_, name); }

    /// The tensors whose reductions were asked for lately.
    [[nodiscard]] std::vector<std::string> reduced_lately() const { return lately(reduced_); }

    /// The next steps after `step`, below `end`, that are there; where event files are prefetched, those whose files
    /// were asked for.
    [[nodiscard]] std::vector<step_number> steps_to_reduce(step_number step, std::optional<step_number> end,
                                                           std::size_t most) const;

private:
    using turn_by_name = std::unordered_map<std::string, std::uint64_t>;

    // A tensor that was not asked for during so many steps is not prefetched any more.
    static constexpr std::uint64_t remembered_turns = 64;
    static constexpr std::size_t most_at_once = 256;

    [[nodiscard]] bool is_known(const turn_by_name& asked, const std::string& name) const;
    [[nodiscard]] std::vector<std::string> lately(const turn_by_name& asked) const;

    void note(turn_by_name& asked, const std::string& name);

    [[nodiscard]] std::vector<step_number> steps_after(step_number step, std::optional<step_number> end,
                                                       std::size_t most) const;

    std::shared_ptr<const trial_state> state_;
    held_steps files_;
    turn_by_name reduced_;  // the turn in which a tensor's reductions were last asked for
    turn_by_name read_;     // and its values
    std::uint64_t turn_ = 0;
    prefetch_window brought_{most_at_once};  // the steps whose event files were asked for
    step_number brought_for_fewer_ = 0;      // steps before this one were fetched when fewer tensors were wanted
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/read/impl/steps_ahead.ipp>
#endif
