// The last steps of a hook, in memory: written as a hook writes them, read as a trial reads them.
// So a rule sees in the training process what it would see of the run on disk.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/hook/hook_core.hpp>
#include <smdebug/hook/hook_options.hpp>
#include <smdebug/hook/observer.hpp>
#include <smdebug/reduce/any_kernel.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/trial.hpp>
#include <smdebug/watch/step_memory.hpp>
#include <smdebug/watch/watch_options.hpp>

#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Takes a hook's tensors, and gives a trial over its last steps, which rules share.  No call of that trial ever waits: what is not there
/// when a step has ended does not come before the next one has.
/// Not for several threads at once; rules may read the trial on threads of their own.
class recent_steps {
public:
    /// Collections, the worker's name, and the run's are those of the hook.  The kernel is that of hook and trial.
    /// Errors: value_error (options).
    recent_steps(const hook_options& watched, const watch_options& how, const any_kernel& kernel);

    /// Begins a step, perhaps behind one that is not ended yet.
    void begin(const hook_step& step);

    /// Takes a tensor of the step that was begun.
    void take(std::string_view name, const tensor_view& tensor, std::span<const std::string_view> into);

    /// Ends the step of that number.  Returns its numbers in the trial, which has it then; nothing when nothing was
    /// taken.  What was begun under another number before it, and not ended, is dropped.
    [[nodiscard]] std::optional<hook_step> end(step_number step);

    /// The steps taken so far, those that are still there.  The reference is valid while this lives.
    /// Before the first end(): none.
    [[nodiscard]] const trial& run() const { return *trial_; }

    [[nodiscard]] const step_memory& memory() const noexcept { return memory_; }

private:
    // Everything that comes is kept: the watcher decides when, and of which tensors.
    [[nodiscard]] static hook_options options_for(const hook_options& watched, const watch_options& how);

    void note_first();

    // Writes the current step; end() makes room for it.
    void write_out();

    void remove(step_number step);

    // Removes what is too old, and, when the training went back to an earlier step, what it has left behind.
    void make_room_for(step_number step);

    // A refresh sees the new step.  Removed steps, and a changed collections file, need a trial that is opened anew,
    // which reads the index files of all kept steps.
    void look();

    std::size_t keep_;
    std::size_t spare_;  // so many more before old ones go
    step_memory memory_;
    any_kernel kernel_;
    hook_core writer_;
    bool begun_ = false;                // whether the current step has any tensor
    hook_step first_;                   // its numbers when the first was taken
    std::optional<hook_step> written_;  // a step that is written, and not ended
    std::deque<step_number> kept_;      // ascending
    trial_options reading_;
    std::optional<trial> trial_;
    byte_buffer collections_;  // those that the trial has read
    bool reopen_ = false;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/watch/impl/recent_steps.ipp>
#endif
