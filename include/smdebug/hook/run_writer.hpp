// The files of one worker's run: its place, its claim, the steps, the collections file, TensorBoard's, the end.
// Knows in which order they may appear; what goes into them is decided elsewhere.
// Used by: hook (hook_core).
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/first_failure.hpp>
#include <smdebug/hook/background_sink.hpp>
#include <smdebug/hook/collection_set.hpp>
#include <smdebug/hook/earlier_run.hpp>
#include <smdebug/hook/file_sink.hpp>
#include <smdebug/hook/hook_options.hpp>
#include <smdebug/hook/place_opener.hpp>
#include <smdebug/hook/reduction_records.hpp>
#include <smdebug/hook/run_claim.hpp>
#include <smdebug/hook/step_writer.hpp>
#include <smdebug/hook/tensor_record.hpp>
#include <smdebug/hook/tensorboard_writer.hpp>
#include <smdebug/index/collection.hpp>
#include <smdebug/index/collections_writer.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/posix_file.hpp>
#include <smdebug/tensor/convert.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

namespace detail {

[[nodiscard]] inline std::string written_already(mode which, step_number in_mode, step_number as) {
    return std::string{name_of(which)} + " step " + std::to_string(in_mode) + " has been written already, as step " +
           std::to_string(as) +
           " of the job: a mode's step is written once, so give this one another number in the mode";
}

}  // namespace detail

/// Writes one worker's run into a storage.  Neither copied nor moved.
template <writable_storage Storage>
class run_writer {
public:
    /// Claims the worker's name and looks at what is there.      Errors: see basic_hook.
    run_writer(Storage store, const hook_options& options)
        : store_(std::move(store)),
          worker_(options.worker),
          writers_(options.include_workers == include_workers::all ? options.num_workers : 1),
          how_(options.durability),
          marks_end_(options.mark_end_of_job) {
        start_.step = options.init_step.value_or(0);
        for (const mode which : {mode::train, mode::eval, mode::predict}) {
            if (start_.step != 0) {
                start_.mode_steps[which] = start_.step;  // as in the Python package
            }
        }
        // Of a job whose workers do not all write, the first one does.
        if (options.include_workers == include_workers::one && options.num_workers > 1 && worker_ != "worker_0") {
            return;
        }
        if (options.dry_run) {
            sink_ = std::make_unique<null_sink>();
        } else {
            open_place(options);
        }
        writer_.emplace(*sink_, worker_, options.payload_checksum, start_.step - 1);
    }
    run_writer(const run_writer&) = delete;
    run_writer& operator=(const run_writer&) = delete;
    /// In a forked child nothing of the parent's is touched: its threads are not there, and its files are not ours.
    ~run_writer() {
        if (!is_own()) {
            static_cast<void>(sink_.release());
        }
    }

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
    void add_shape(std::string_view name, std::span<const std::size_t> extents, const record_stamp& now) {
        if (begin_entry()) {
            writer_->add_shape(name, extents, now);
        }
    }

    /// Shows TensorBoard what it draws of a tensor: a curve of one number that belongs to a collection of scalars, else
    /// a histogram, named after the first due collection that wants one.
    template <reduction_kernel Kernel>
    void show_tensor(const record_stamp& now, std::string_view name, const tensor_view& tensor,
                     const collection_set& all, const collection_set::membership& belongs_to, const Kernel& kernel) {
        if (!tensorboard_) {
            return;
        }
        bool shown = false;
        all.for_each_due(belongs_to, [&](std::uint32_t number) {
            const collection& group = all[number];
            if (shown) {
                return;
            }
            if (known_collections::holds_scalars(group.name)) {
                show_scalar(now, name, tensor);
                shown = true;
            } else if (group.save_histogram) {
                tensorboard_->add_histogram(now, group.name + "/" + std::string{name}, tensor, kernel);
                shown = true;
            }
        });
    }
    /// A curve of a tensor that is one number; nothing of any other.
    void show_scalar(const record_stamp& now, std::string_view name, const tensor_view& tensor) {
        if (!tensorboard_ || tensor.count() != 1 || !is_numeric(tensor.type)) {
            return;
        }
        double number = 0;
        const bool is_number = visit_dtype(
            tensor.type, [&]<class T>() { return detail::convert_element(load_le<T>(tensor.bytes.data()), number); });
        if (is_number) {
            tensorboard_->add_scalar(now, name, static_cast<float>(number));
        }
    }

    /// Makes the files of the step at hand appear: the collections file, where it has something new to say, the events,
    /// the index.  Returns the bytes of the last two; 0 where nothing was saved.
    /// Errors: value_error where its number in its mode was written as an earlier step of the job; a later one, which
    ///         the training has gone back behind, is replaced.
    std::uint64_t finish_step(const collection_set& collections) {
        if (!writer_ || writer_->empty()) {
            return 0;
        }
        check_place();
        const record_stamp step = writer_->first();
        replace_later(step);
        write_collections(collections);
        const std::uint64_t bytes = writer_->finish();
        start_.written.add(step.mode, step.mode_step, step.step);
        return bytes;
    }
    /// The first tensor of the last step.
    [[nodiscard]] first_tensor first_saved() const { return writer_ ? writer_->first_saved() : first_tensor{}; }
    /// Makes appear what TensorBoard draws of it, or not yet.  No step is lost where that fails.
    template <class WallTime>
    void show_step(WallTime&& wall_time) {
        if (tensorboard_) {
            tensorboard_->end_step(wall_time());
        }
    }
    void abandon_step() noexcept {
        if (writer_) {
            writer_->abandon();
        }
    }

    /// Makes appear what TensorBoard draws and has not got yet.
    void close_tensorboard() {
        if (tensorboard_) {
            tensorboard_->close();
        }
    }

    /// Writes the collections file once more, whatever became of an older one, waits for what is on its way, and gives
    /// up the claim; the last worker marks the end of the job.  An end is not marked where nobody could open the run.
    void close(const collection_set& collections) {
        if (!writer_) {
            return;
        }
        first_failure failure;
        failure.attempt([&] { check_place(); });
        if (!is_place_lost_) {
            failure.attempt([&] {
                collections_written_ = false;
                write_collections(collections);
            });
        }
        failure.attempt([&] { sink_->drain(); });
        gather_losses();
        failure.attempt([&] {
            if (is_place_lost_) {
                claim_.reset();
                return;  // there is nothing of which the end could be marked
            }
            // In the background one that was handed over may never have come.
            if (leave() && marks_end_ &&
                (collections_written_ || store_.size(locations::collections_key(worker_)).has_value())) {
                put_whole(store_, std::string{locations::end_of_job}, {}, how_);
            }
        });
        failure.rethrow();
    }
    /// Forgets the step at hand, waits for the others, and gives up the claim: the run can be resumed.
    void close_unfinished() noexcept {
        abandon_step();
        first_failure ignored;
        ignored.attempt([&] { drain(); });
        claim_.reset();
    }

    void drain() {
        if (sink_) {
            sink_->drain();
        }
    }
    [[nodiscard]] std::vector<lost_write> lost() {
        gather_losses();
        return std::exchange(losses_, {});
    }

private:
    void open_place(const hook_options& options) {
        claim_.emplace(store_, worker_, writers_);
        earlier_run<Storage> earlier{store_, worker_};
        if (options.existing == existing_run::resume) {
            start_ = earlier.resume(options.init_step);
            earlier_collections_ = earlier.collections();
        } else {
            earlier.refuse();
        }
        removed_ = earlier.remove_unfinished();
        if (options.background.pool_bytes > 0) {
            sink_ = std::make_unique<background_sink<Storage>>(store_, how_, options.background);
        } else {
            sink_ = std::make_unique<direct_sink<Storage>>(store_, how_);
        }
        open_tensorboard(options);
        claim_->begin();  // last: what has not begun leaves no sign
    }

    void open_tensorboard(const hook_options& options) {
        if (!options.export_tensorboard && options.tensorboard_dir.empty()) {
            return;
        }
        // TensorBoard follows the files of a folder by their names: those of two workers would hide each other's.
        const std::string folder = writers_ > 1 ? locations::file_part_from_worker(worker_) + "/" : std::string{};
        tensorboard_place place;
        if (options.tensorboard_dir.empty()) {
            place = [this, folder](const std::string& key, byte_view bytes) {
                sink_->put("tensorboard/" + folder + key, as_text(bytes));
            };
        } else if constexpr (named_storage<Storage>) {
            tensorboard_store_.emplace(place_opener<Storage>::open(options.tensorboard_dir));
            place = [this, folder](const std::string& key, byte_view bytes) {
                put_whole(*tensorboard_store_, folder + key, as_text(bytes), how_);
            };
        } else {
            throw unsupported("tensorboard_dir is \"" + options.tensorboard_dir +
                              "\", but this storage cannot be made from a path: leave it empty to write into the run");
        }
        tensorboard_.emplace(std::move(place), worker_,
                             tensorboard_writer_options{.interval = options.tensorboard_interval});
    }

    // Before a step's first entry; whether there is anything to write to.
    [[nodiscard]] bool begin_entry() {
        if (writer_ && writer_->empty()) {
            if (is_place_lost_) {
                begin_again();
            }
            check_place();
        }
        return writer_.has_value();
    }

    // A folder that was removed would be made again by the next file, without the steps before it.
    // Errors: unavailable.
    void check_place() {
        if (is_place_lost_ || (claim_ && !claim_->holds())) {
            is_place_lost_ = true;
            throw unavailable(std::string{store_.name()} + ": this run's folder was removed meanwhile, or " +
                                  claim_key(worker_, writers_) + " in it, by which " + worker_ +
                                  " holds it: its earlier steps may be gone",
                              {.where = store_.name(), .worker = worker_});
        }
    }

    // Goes on where the run is, or in a new folder.
    // Errors: in_use, run_exists where somebody else has begun a run there.
    void begin_again() {
        if (!store_.size(locations::index_key(writer_->last_written(), worker_))) {
            earlier_run<Storage>{store_, worker_}.refuse();
            start_.written = {};
        }
        claim_->renew();
        collections_written_ = false;
        is_place_lost_ = false;
    }

    // A mode's step is written once: readers find one of two.  GLOBAL steps are those of the job.
    void replace_later(const record_stamp& step) {
        const auto older = start_.written.global_of(step.mode, step.mode_step);
        if (!older || *older == step.step || step.mode == mode::global) {
            return;
        }
        if (*older < step.step) {
            throw value_error(detail::written_already(step.mode, step.mode_step, *older));
        }
        sink_->remove(locations::index_key(*older, worker_));
        start_.written.forget(*older);
    }

    // Whether this was the last worker; false if it had left already.
    [[nodiscard]] bool leave() {
        const bool is_last = claim_ && claim_->release();
        claim_.reset();
        return is_last;
    }

    // A collections file that was lost is written again at the next occasion.
    void gather_losses() {
        if (!sink_) {
            return;
        }
        for (lost_write& loss : sink_->lost()) {
            collections_written_ = collections_written_ && loss.key != locations::collections_key(worker_);
            losses_.push_back(std::move(loss));
        }
    }

    void write_collections(const collection_set& collections) {
        if (collections_written_ && !collections.changed()) {
            return;
        }
        collections_written_ = false;
        sink_->put(locations::collections_key(worker_), collections_text(collections.file(writers_)));
        collections_written_ = true;
    }

    long maker_ = posix::process_number();
    Storage store_;
    std::string worker_;
    std::int64_t writers_;
    durability how_;
    bool marks_end_;
    bool is_place_lost_ = false;        // whether somebody took it away, and nothing was begun since
    bool collections_written_ = false;  // whether the file is as it should be, as far as is known
    continuation start_;
    std::optional<collections_file> earlier_collections_;
    std::vector<std::string> removed_;
    std::optional<run_claim<Storage>> claim_;
    std::unique_ptr<file_sink> sink_;    // nothing where this worker does not write
    std::optional<step_writer> writer_;  // into the sink
    std::vector<lost_write> losses_;     // not asked for yet
    std::optional<Storage> tensorboard_store_;
    std::optional<tensorboard_writer> tensorboard_;
};

}  // namespace v1
}  // namespace smdebug
