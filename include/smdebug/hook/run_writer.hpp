// The files of one worker's run: its place, its claim, the steps, the collections file, TensorBoard's, the end.
// Keeps the order in which they may appear; what goes into them is hook_core's to decide.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/hook/collection_set.hpp>
#include <smdebug/hook/earlier_run.hpp>
#include <smdebug/hook/file_sink.hpp>
#include <smdebug/hook/hook_options.hpp>
#include <smdebug/hook/reduction_records.hpp>
#include <smdebug/hook/run_claim.hpp>
#include <smdebug/hook/step_writer.hpp>
#include <smdebug/hook/tensor_record.hpp>
#include <smdebug/hook/tensorboard_writer.hpp>
#include <smdebug/hook/written_steps.hpp>
#include <smdebug/index/collection.hpp>
#include <smdebug/reduce/any_kernel.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/open_storage.hpp>
#include <smdebug/storage/posix/file.hpp>
#include <smdebug/storage/writable.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

[[nodiscard]] std::string written_already(mode which, step_number in_mode, step_number as);

/// Writes one worker's run into a storage.  Neither copied nor moved.
class run_writer {
public:
    /// Claims the worker's name and looks at what is there.  `opener` opens options.tensorboard_dir; null where a path is
    /// not enough for storages of this kind.      Errors: see basic_hook.
    run_writer(any_storage store, const hook_options& options, place_opener opener = nullptr);
    run_writer(const run_writer&) = delete;
    run_writer& operator=(const run_writer&) = delete;
    /// In a forked child nothing of the parent's is touched: its threads are not there, and its files are not ours.
    ~run_writer();

    /// Whether this is the process that made it, and not a forked child.
    [[nodiscard]] bool is_own() const noexcept { return posix::process_number() == maker_; }
    /// Whether this worker writes at all, or would in a dry run.
    [[nodiscard]] bool writes() const noexcept { return writer_.has_value(); }
    /// Where counting begins.
    [[nodiscard]] const continuation& start() const noexcept { return start_; }
    /// The steps that are there.
    [[nodiscard]] const written_steps& written() const noexcept { return start_.written; }
    /// The step's files were taken away.
    void forget(step_number step) { start_.written.forget(step); }
    /// The collections file of the run that is resumed.
    [[nodiscard]] const std::optional<collections_file>& earlier_collections() const noexcept {
        return earlier_collections_;
    }

    /// What an earlier process of this worker had begun to write, and this one has given up.
    [[nodiscard]] const std::vector<std::string>& removed_uploads() const noexcept { return removed_; }

    /// Appends a tensor to the step at hand.
    [[nodiscard]] added add_tensor(std::string_view name, const tensor_view& tensor, const record_stamp& now) {
        return begin_entry() ? writer_->add_tensor(name, tensor, now) : added::written;
    }
    [[nodiscard]] added add_records(const reduction_records& records, const record_stamp& now) {
        return begin_entry() ? writer_->add_records(records.bytes(), records.records(), now) : added::written;
    }
    void add_shape(std::string_view name, std::span<const std::size_t> extents, const record_stamp& now);

    /// Shows TensorBoard what it draws of a tensor: a curve of one number that belongs to a collection of scalars, else
    /// a histogram, named after the first due collection that wants one.
    void show_tensor(const record_stamp& now, std::string_view name, const tensor_view& tensor,
                     const collection_set& all, const collection_set::membership& belongs_to, const any_kernel& kernel);
    /// A curve of a tensor that is one number; nothing of any other.
    void show_scalar(const record_stamp& now, std::string_view name, const tensor_view& tensor);

    /// Makes the files of the step at hand appear: the collections file, where it has something new to say, the events,
    /// the index.  Returns the bytes of the last two; 0 where nothing was saved.
    /// Errors: value_error where its number in its mode was written as an earlier step of the job; a later one, which
    ///         the training has gone back behind, is replaced.
    std::uint64_t finish_step(const collection_set& collections);
    /// The first tensor of the last step.
    [[nodiscard]] first_tensor first_saved() const { return writer_ ? writer_->first_saved() : first_tensor{}; }
    /// Writes its files for TensorBoard, if they are due.  No step is lost where that fails.
    void show_step(function_ref<double()> wall_time);
    void abandon_step() noexcept;

    /// Writes what TensorBoard has not got yet.
    void close_tensorboard();

    /// Writes the collections file once more, even where an older one was lost, waits for pending writes, and gives up
    /// the claim; the last worker marks the job's end, unless the run could not be opened.
    void close(const collection_set& collections);
    /// Discards the current step, waits for the others, and gives up the claim: the run can be resumed.
    void close_unfinished() noexcept;

    void drain();
    [[nodiscard]] std::vector<lost_write> lost();

private:
    void open_place(const hook_options& options, place_opener opener);

    void open_tensorboard(const hook_options& options, place_opener opener);

    // Before a step's first entry; whether there is anything to write to.
    [[nodiscard]] bool begin_entry();

    // A folder that was removed would be made again by the next file, without the steps before it.
    // Errors: unavailable.
    void check_place();

    // Goes on where the run is, or in a new folder.
    // Errors: in_use, run_exists where another process has begun a run there.
    void begin_again();

    // A mode's step is written once: readers find one of two.  GLOBAL steps are those of the job.
    void replace_later(const record_stamp& step);

    // Whether this was the last worker; false if it had left already.
    [[nodiscard]] bool leave();

    // A collections file that was lost is written again at the next occasion.
    void gather_losses();

    void write_collections(const collection_set& collections);

    long maker_ = posix::process_number();
    any_storage store_;
    std::string worker_;
    std::int64_t writers_;
    durability how_;
    bool marks_end_;
    bool is_place_lost_ = false;        // whether it was removed, and nothing was begun since
    bool collections_written_ = false;  // whether the file is as it should be, as far as is known
    continuation start_;
    std::optional<collections_file> earlier_collections_;
    std::vector<std::string> removed_;
    std::optional<run_claim> claim_;
    std::unique_ptr<file_sink> sink_;    // nothing where this worker does not write
    std::optional<step_writer> writer_;  // into the sink
    std::vector<lost_write> losses_;     // not asked for yet
    std::optional<any_storage> tensorboard_store_;
    std::optional<tensorboard_writer> tensorboard_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/run_writer.ipp>
#endif
