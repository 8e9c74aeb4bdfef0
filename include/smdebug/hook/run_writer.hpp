// The files of one worker's run: its place, its claim, the steps, the collections file, TensorBoard's, the end.
// Keeps the order in which they may appear; hook_state decides on their content.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/hook/collection_set.hpp>
#include <smdebug/hook/earlier_run.hpp>
#include <smdebug/hook/file_sink.hpp>
#include <smdebug/hook/hook_options.hpp>
#include <smdebug/hook/step_writer.hpp>
#include <smdebug/hook/tensor_record.hpp>
#include <smdebug/hook/tensorboard_writer.hpp>
#include <smdebug/hook/written_steps.hpp>
#include <smdebug/index/collection.hpp>
#include <smdebug/reduce/any_kernel.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/open_storage.hpp>
#include <smdebug/storage/posix/file.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1::detail {

/// The message about a step of a mode that already exists under an earlier global step.
[[nodiscard]] std::string already_written_message(mode which, step_number mode_step, step_number global_step);

/// Writes one worker's run into a storage.  Neither copied nor moved.
class run_writer {
public:
    /// Claims the worker's name and examines an existing run.  `opener` opens options.tensorboard_dir; null if a path
    /// is not enough for storages of this kind.  options.worker is set: see with_rank().  Errors: see basic_hook.
    run_writer(any_storage store, const hook_options& options, place_opener opener = nullptr);
    run_writer(const run_writer&) = delete;
    run_writer& operator=(const run_writer&) = delete;
    /// In a forked child nothing of the parent is touched: its threads do not exist here, and its files are not ours.
    ~run_writer();

    /// Whether this is the process that created the object, and not a forked child.
    [[nodiscard]] bool is_own() const noexcept { return posix::process_number() == maker_; }
    /// Whether this worker writes at all, or would in a dry run.
    [[nodiscard]] bool writes() const noexcept { return writer_.has_value(); }
    /// The numbers at which counting begins.
    [[nodiscard]] const continuation& start() const noexcept { return start_; }
    /// The steps that exist.
    [[nodiscard]] const written_steps& written() const noexcept { return start_.written; }
    /// The number of the step that was written last, or is pending.
    [[nodiscard]] std::optional<step_number> last_step() const;
    /// The order number of the current step: losses have it.
    [[nodiscard]] std::uint64_t current_order() const noexcept { return writer_ ? writer_->order() : 0; }
    /// The step's files were removed.
    void forget(step_number step) { start_.written.forget(step); }
    /// The collections file of the resumed run.
    [[nodiscard]] const std::optional<collections_file>& earlier_collections() const noexcept {
        return earlier_collections_;
    }

    /// Unfinished uploads of an earlier process of this worker that this one has discarded.
    [[nodiscard]] const std::vector<std::string>& removed_uploads() const noexcept { return removed_; }

    /// What takes the tensors of the current step.  Call it for each entry: before the first one it looks whether the
    /// run's folder is still there.  This worker must write.
    /// Errors: unavailable (the folder, or this worker's claim in it, was removed); in_use, run_exists (another process
    /// has begun a run there).
    [[nodiscard]] step_writer& entry();

    /// Whether TensorBoard's files are written, too: they need the elements of every tensor.
    [[nodiscard]] bool shows_tensors() const noexcept { return tensorboard_.has_value(); }
    /// Writes what TensorBoard shows of a tensor: a curve for a single number in a collection of scalars, else a
    /// histogram, named after the first due collection that wants one.
    void show_tensor(const record_stamp& now, std::string_view name, const tensor_view& tensor,
                     const collection_set& all, const collection_set::membership& belongs_to, const any_kernel& kernel);
    /// Adds a point to a curve for a tensor that is a single number; does nothing for other tensors.
    void show_scalar(const record_stamp& now, std::string_view name, const tensor_view& tensor);

    /// Makes the files of the current step visible: the collections file, if it has changed, the events, the index.
    /// Returns the bytes of the last two; 0 if nothing was saved.
    /// Errors: value_error if its number in its mode was used by an earlier global step; a later one, from before the
    /// training was set back, is replaced.
    std::uint64_t finish_step(const collection_set& collections);
    /// The first tensor of the last step.
    [[nodiscard]] first_tensor_repeats first_saved() const {
        return writer_ ? writer_->first_saved() : first_tensor_repeats{};
    }
    /// Writes the files for TensorBoard if they are due.  A failure loses no step.
    void show_step(function_ref<double()> wall_time);
    void abandon_step() noexcept;

    /// Writes everything TensorBoard has not received yet.
    void close_tensorboard();

    /// Writes the collections file once more, even if an older one was lost, waits for pending writes, and gives up the
    /// claim; the last worker marks the job's end, unless the run could not be opened.
    void close(const collection_set& collections);
    /// Discards the current step, waits for the others, and gives up the claim: the run can be resumed.
    void close_unfinished() noexcept;

    void drain() { sink_->drain(); }
    [[nodiscard]] std::vector<lost_write> lost();

private:
    void open_place(const hook_options& options, place_opener opener);

    void open_tensorboard(const hook_options& options, place_opener opener);

    // Throws unavailable if the run's folder, or this worker's claim in it, was removed: the next file would recreate
    // the folder without the steps before it.
    void check_place();

    // Continues in the existing folder, or in a new one.
    // Errors: in_use, run_exists if another process has begun a run there.
    void begin_again();

    // The later global step under which this (mode, mode step) exists; under an earlier one, throws value_error:
    // readers would find only one of two.  None in GLOBAL, whose steps are the global ones.
    [[nodiscard]] std::optional<step_number> replaced_by(const record_stamp& step) const;

    // Returns whether this was the last worker; false if the claim had already been released.
    [[nodiscard]] bool release_claim();

    // A step that was handed over whole.
    struct handed_step {
        std::uint64_t order = 0;
        smdebug::mode mode = smdebug::mode::global;
        step_number mode_step = 0;
        step_number step = 0;
        std::optional<step_number> older = {};  // of the same number in the mode
    };

    // A collections file that was lost is written again at the next opportunity.
    void gather_losses();

    // The step was lost: its number in its mode belongs again to the step that had it before, if there was one.
    void take_back(std::vector<handed_step>::iterator lost);

    void write_collections(const collection_set& collections);

    long maker_ = posix::process_number();
    any_storage store_;
    std::string worker_;
    std::int64_t writers_;
    durability how_;
    bool marks_end_;
    bool is_place_lost_ = false;        // removed, and nothing begun since
    bool collections_written_ = false;  // whether the file is up to date, as far as known
    continuation start_;
    std::optional<collections_file> earlier_collections_;
    std::vector<std::string> removed_;
    std::optional<run_claim> claim_;
    std::unique_ptr<file_sink> sink_ = std::make_unique<null_sink>();
    std::optional<step_writer> writer_;  // into the sink, if this worker writes
    std::vector<handed_step> handed_;    // that may be lost yet, and the last one that cannot
    std::vector<lost_write> losses_;     // not reported yet
    std::optional<any_storage> tensorboard_store_;
    std::optional<tensorboard_writer> tensorboard_;
};

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/run_writer.ipp>
#endif
