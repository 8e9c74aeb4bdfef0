// The last steps of a hook, in memory: written like a run on disk, read by a trial.
// A rule in the training process therefore sees exactly what it would see in the run on disk.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/hook/hook.hpp>
#include <smdebug/hook/hook_door.hpp>
#include <smdebug/hook/hook_options.hpp>
#include <smdebug/hook/observer.hpp>
#include <smdebug/reduce/any_kernel.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/trial.hpp>
#include <smdebug/watch/watch.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// A storage for the last steps of a run, in reused memory: a step is stored in the memory of a removed one.
// memory_storage would allocate the memory of each step, which costs several times as much as copying.
namespace smdebug::inline v1::detail {

/// Objects in memory.  Copies are handles on the same objects.  Reads share the bytes: a buffer of a removed object
/// stays valid; the memory is reused once its last buffer is gone.
/// Threads: all functions may be called concurrently.
class step_memory final : public storage_base {
public:
    /// Keeps the memory of up to `spare` removed event files for new ones.
    explicit step_memory(std::size_t spare = 1);

    [[nodiscard]] storage_abilities abilities() const override {
        return {.batches_ranges = false,
                .views = false,
                .reads_ahead = false,
                .opens_small = false,
                .writes = true,
                .removes = true};
    }

    [[nodiscard]] SMDEBUG_INLINE byte_buffer read(std::string_view key, byte_range where = whole_object) const override;

    [[nodiscard]] SMDEBUG_INLINE std::vector<std::string> list(std::string_view prefix,
                                                               std::string_view after) const override;

    [[nodiscard]] SMDEBUG_INLINE std::optional<std::uint64_t> size(std::string_view key) const override;

    [[nodiscard]] std::string name() const override { return "memory:watch"; }

    /// Adds or replaces an object.  Copies the bytes.
    SMDEBUG_INLINE void write(std::string_view key, byte_view bytes) override;
    /// An object written piece by piece.  Copies the pieces, once.
    [[nodiscard]] SMDEBUG_INLINE std::unique_ptr<object_output> create(std::string_view key) override;

    SMDEBUG_INLINE bool remove(std::string_view key, durability how = durability::cached) override;

    /// The number of objects.
    [[nodiscard]] std::size_t objects() const;
    /// The number of memory pieces that are kept for reuse.
    [[nodiscard]] std::size_t spare() const;

private:
    using piece = std::vector<std::byte>;

    struct heap;
    struct state;
    class output;

    // A buffer over a piece, which returns to the heap, if that still exists, after the buffer's last copy.
    [[nodiscard]] static byte_buffer lend(piece bytes, const std::shared_ptr<heap>& from);

    std::shared_ptr<state> state_;
};

/// Takes a hook's tensors, and provides a trial over its last steps, which rules share.  No call of that trial ever
/// waits: data that is missing at the end of a step cannot come before the end of the next one.
/// Not thread-safe; rules may read the trial on threads of their own.
class recent_steps {
public:
    /// Uses the hook's collections, worker name and run name.  The kernel serves hook and trial.
    /// Errors: value_error (options).
    recent_steps(const hook_options& watched, const watch_options& how, const any_kernel& kernel);

    /// Begins a step; the previous one may not have ended yet.
    void begin(const hook_step& step);

    /// Takes a tensor of the current step.
    void take(std::string_view name, const tensor_view& tensor, std::span<const std::string_view> into);

    /// Ends the step of that number.  Returns its numbers in the trial, which then has it; nothing if no tensor was
    /// taken.  An earlier step that was begun under another number, and not ended, is dropped.
    [[nodiscard]] std::optional<hook_step> end(step_number step);

    /// A trial over the steps so far that are still kept.  The reference is valid for the lifetime of this object.
    /// Before the first end(): none.
    [[nodiscard]] const trial& run() const { return *trial_; }

    [[nodiscard]] const step_memory& memory() const noexcept { return memory_; }

private:
    // Saves all it gets: the watcher decides when, and which tensors.
    [[nodiscard]] static hook_options options_for(const hook_options& watched, const watch_options& how);

    void note_first();

    // Writes the current step; end() makes room for it.
    void write_out();

    void remove(step_number step);

    // Removes steps that are too old and, if the training went back to an earlier step, the later ones.
    void make_room_for(step_number step);

    // A refresh shows the new step.  Removed steps, and a changed collections file, require opening a new trial, which
    // reads the index files of all kept steps.
    void look();

    std::size_t keep_;
    std::size_t spare_;  // so many more steps before old ones are removed
    step_memory memory_;
    any_kernel kernel_;
    basic_hook<step_memory, any_kernel> writer_;
    hook_door door_;                    // to the writer
    bool begun_ = false;                // the current step has a tensor
    hook_step first_;                   // its numbers when its first tensor was taken
    std::optional<hook_step> written_;  // a step that is written, but not ended
    std::deque<step_number> kept_;      // ascending
    trial_options reading_;
    std::optional<trial> trial_;
    byte_buffer collections_;  // as read by the trial
    bool reopen_ = false;
};

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/watch/impl/recent_steps.ipp>
#endif
