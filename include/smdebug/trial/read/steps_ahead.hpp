// What the next steps of a walk will be asked for, as far as the last ones tell, and the one place that has the event
// files of a run far away brought for it.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/trial/read/held_steps.hpp>
#include <smdebug/trial/read/prefetch_window.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Threads: one at a time.
template <class Trial>
class steps_ahead {
public:
    /// `file_bytes`: see held_steps.
    steps_ahead(Trial run, std::uint64_t file_bytes) : run_(std::move(run)), files_(run_.state(), file_bytes) {}

    /// Whether event files are brought at all: whoever reads them ahead beside this would fetch them twice.
    [[nodiscard]] bool brings() const noexcept { return files_.holds(); }

    /// Begins to bring the event files of a step, and of those after it that are there, below `end`.
    void begin_step(step_number step, std::optional<step_number> end);

    /// Is told that a tensor's reductions, or its values, are asked for at this step.
    void note_reduced(const std::string& name) { note(reduced_, name); }
    void note_read(const std::string& name) { note(read_, name); }

    /// The tensors whose reductions were asked for lately.
    [[nodiscard]] std::vector<std::string> reduced_lately() const { return lately(reduced_); }

    /// The next steps after `step`, below `end`, that may be read by now, as far as they are there: those on their way
    /// alone, where event files are brought.
    [[nodiscard]] std::vector<step_number> steps_to_reduce(step_number step, std::optional<step_number> end,
                                                           std::size_t most) const;

private:
    using turn_by_name = std::unordered_map<std::string, std::uint64_t>;

    // A tensor that nobody has asked for during so many steps is not wanted any more.
    static constexpr std::uint64_t remembered_turns = 64;
    static constexpr std::size_t most_at_once = 256;

    [[nodiscard]] bool is_known(const turn_by_name& asked, const std::string& name) const;
    [[nodiscard]] std::vector<std::string> lately(const turn_by_name& asked) const;

    void note(turn_by_name& asked, const std::string& name);

    [[nodiscard]] std::vector<step_number> steps_after(step_number step, std::optional<step_number> end,
                                                       std::size_t most) const;

    Trial run_;  // a share of the trial's state
    held_steps<typename Trial::state_type> files_;
    turn_by_name reduced_;  // the turn in which a tensor's reductions were last asked for
    turn_by_name read_;     // and its values
    std::uint64_t turn_ = 0;
    prefetch_window brought_{most_at_once};  // the steps whose event files were asked for
    step_number brought_for_fewer_ = 0;      // of steps before this one, when fewer tensors were wanted
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/read/impl/steps_ahead.tpp>
#endif
