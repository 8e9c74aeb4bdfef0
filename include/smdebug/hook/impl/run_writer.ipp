// The bodies of <smdebug/hook/run_writer.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/ordered_thread_pool.hpp>
#include <smdebug/hook/background_sink.hpp>
#include <smdebug/hook/hook_options.hpp>
#include <smdebug/hook/run_writer.hpp>
#include <smdebug/index/collections_file.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/tensor/element.hpp>
#include <smdebug/tensor/tensor_value.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE std::string already_written_message(mode which, step_number mode_step, step_number global_step) {
    return std::string{name_of(which)} + " step " + std::to_string(mode_step) +
           " has already been written, as global step " + std::to_string(global_step) +
           ": each step of a mode is written once, so give this one another number in the mode";
}

SMDEBUG_INLINE run_writer::run_writer(any_storage store, const hook_options& options, place_opener opener)
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
    // If not all workers write, the first one writes.
    if (options.include_workers == include_workers::one && options.num_workers > 1 && worker_ != "worker_0") {
        return;
    }
    if (!options.dry_run) {
        open_place(options, opener);
    }
    writer_.emplace(*sink_, worker_, options.payload_checksum, start_.step - 1);
}

SMDEBUG_INLINE run_writer::~run_writer() {
    if (!is_own()) {
        static_cast<void>(sink_.release());
    }
}

SMDEBUG_INLINE step_writer& run_writer::entry() {
    if (writer_->empty()) {
        if (is_place_lost_) {
            begin_again();
        }
        check_place();
    }
    return *writer_;
}

SMDEBUG_INLINE void run_writer::show_tensor(const record_stamp& now, std::string_view name, const tensor_view& tensor,
                                            const collection_set& all, const collection_set::membership& belongs_to,
                                            const any_kernel& kernel) {
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

SMDEBUG_INLINE void run_writer::show_scalar(const record_stamp& now, std::string_view name, const tensor_view& tensor) {
    if (!tensorboard_ || tensor.count() != 1 || !is_numeric(tensor.type)) {
        return;
    }
    double number = 0;
    const bool is_number = visit_dtype(tensor.type, [&]<class Element>() {
        return detail::convert_element(load_le<Element>(tensor.bytes.data()), number);
    });
    if (is_number) {
        tensorboard_->add_scalar(now, name, static_cast<float>(number));
    }
}

SMDEBUG_INLINE std::uint64_t run_writer::finish_step(const collection_set& collections) {
    if (!writer_ || writer_->empty()) {
        return 0;
    }
    check_place();
    const record_stamp step = writer_->first();
    const std::uint64_t order = writer_->order();
    const std::optional<step_number> replaced = replaced_by(step);
    write_collections(collections);
    const std::optional<step_number> older = start_.written.global_of(step.mode, step.mode_step);
    const std::uint64_t bytes = writer_->finish();
    start_.written.add(step.mode, step.mode_step, step.step);
    handed_.push_back({order, step.mode, step.mode_step, step.step, older});
    if (replaced) {  // only now: at every moment the older step or the new one can be read
        sink_->remove(locations::index_key(*replaced, worker_));
        sink_->remove(locations::event_key(*replaced, worker_));
    }
    return bytes;
}

SMDEBUG_INLINE std::optional<step_number> run_writer::last_step() const {
    return handed_.empty() ? std::nullopt : std::optional{handed_.back().step};
}

SMDEBUG_INLINE void run_writer::show_step(function_ref<double()> wall_time) {
    if (tensorboard_) {
        tensorboard_->end_step(wall_time());
    }
}

SMDEBUG_INLINE void run_writer::abandon_step() noexcept {
    if (writer_) {
        writer_->abandon();
    }
}

SMDEBUG_INLINE void run_writer::close_tensorboard() {
    if (tensorboard_) {
        tensorboard_->close();
    }
}

SMDEBUG_INLINE void run_writer::close(const collection_set& collections) {
    if (!writer_) {
        return;
    }
    exception_collector failure;
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
            return;  // there is no run to mark
        }
        // In the background a file that was handed over may never have been written.
        if (release_claim() && marks_end_ &&
            (collections_written_ || store_.size(locations::collections_key(worker_)).has_value())) {
            put_whole(store_, locations::end_of_job, byte_view{}, how_);
        }
    });
    failure.rethrow();
}

SMDEBUG_INLINE void run_writer::close_unfinished() noexcept {
    abandon_step();
    exception_collector ignored;
    ignored.attempt([&] { drain(); });
    claim_.reset();
}

SMDEBUG_INLINE std::vector<lost_write> run_writer::lost() {
    gather_losses();
    return std::exchange(losses_, {});
}

SMDEBUG_INLINE void run_writer::open_place(const hook_options& options, place_opener opener) {
    if (!store_.abilities().writes) {
        throw unsupported(
            store_.name() +
                " cannot be written, only read: give the hook a storage that has write(), and whose abilities() say so",
            {.where = store_.name()});
    }
    if (store_.place() == place_kind::file) {
        throw not_found(store_.name() + " is a file, not the folder of a run", {.where = store_.name()});
    }
    try {
        claim_.emplace(store_, worker_, writers_, how_);
    } catch (const unavailable& held) {
        if (held.code() != error_code::in_use || options.num_workers > 1) {
            throw;
        }
        throw unavailable(error_code::in_use,
                          std::string{held.message()} +
                              " If these are the ranks of one job, give each a hook_options::worker, num_workers, and "
                              "include_workers::all.",
                          {.where = held.where(), .worker = worker_});
    }
    earlier_run earlier{store_, worker_, how_};
    if (options.existing == existing_run::resume) {
        start_ = earlier.resume(options.init_step);
        earlier_collections_ = earlier.collections();
    } else {
        earlier.refuse();
    }
    removed_ = earlier.remove_unfinished();
    if (options.background.pool_bytes > 0) {
        sink_ = std::make_unique<background_sink>(store_, how_, options.background);
    } else {
        sink_ = std::make_unique<direct_sink>(store_, how_);
    }
    open_tensorboard(options, opener);
    claim_->begin();  // last: a worker that has not begun leaves no marker
}

SMDEBUG_INLINE void run_writer::open_tensorboard(const hook_options& options, place_opener opener) {
    if (!options.export_tensorboard && options.tensorboard_dir.empty()) {
        return;
    }
    // TensorBoard reads the files of a folder in the order of their names: those of two workers would hide each
    // other's.
    const std::string folder = writers_ > 1 ? locations::file_part_from_worker(worker_) + "/" : std::string{};
    tensorboard_place place;
    if (options.tensorboard_dir.empty()) {
        place = [this, folder](const std::string& key, byte_view bytes) {
            sink_->put("tensorboard/" + folder + key, as_text(bytes));
        };
    } else if (opener != nullptr) {
        tensorboard_store_.emplace(opener(options.tensorboard_dir));
        place = [this, folder](const std::string& key, byte_view bytes) {
            put_whole(*tensorboard_store_, folder + key, bytes, how_);
        };
    } else {
        throw unsupported("tensorboard_dir is \"" + options.tensorboard_dir +
                          "\", but this storage cannot be made from a path: leave it empty to write into the run");
    }
    tensorboard_.emplace(std::move(place), worker_,
                         tensorboard_writer_options{.interval = options.tensorboard_interval});
}

SMDEBUG_INLINE void run_writer::check_place() {
    if (is_place_lost_ || (claim_ && !claim_->holds())) {
        is_place_lost_ = true;
        throw unavailable(store_.name() + ": this run's folder was removed meanwhile, or " +
                              claim_key(worker_, writers_) + " in it, by which " + worker_ +
                              " holds it: its earlier steps may be gone",
                          {.where = store_.name(), .worker = worker_});
    }
}

SMDEBUG_INLINE void run_writer::begin_again() {
    if (!store_.size(locations::index_key(writer_->last_written(), worker_))) {
        earlier_run{store_, worker_}.refuse();
        start_.written = {};
        for (handed_step& each : handed_) {
            each.older.reset();
        }
    }
    claim_->renew();
    collections_written_ = false;
    is_place_lost_ = false;
}

SMDEBUG_INLINE std::optional<step_number> run_writer::replaced_by(const record_stamp& step) const {
    const auto older = start_.written.global_of(step.mode, step.mode_step);
    if (!older || *older == step.step || step.mode == mode::global) {
        return std::nullopt;
    }
    if (*older < step.step) {
        throw value_error(detail::already_written_message(step.mode, step.mode_step, *older));
    }
    return older;
}

SMDEBUG_INLINE bool run_writer::release_claim() {
    const bool is_last = claim_ && claim_->release();
    claim_.reset();
    return is_last;
}

SMDEBUG_INLINE void run_writer::gather_losses() {
    const std::uint64_t finished = sink_->finished();  // first: of these steps every loss is known below
    for (lost_write& loss : sink_->lost()) {
        collections_written_ = collections_written_ && loss.key != locations::collections_key(worker_);
        const auto lost = std::ranges::find(handed_, loss.step, &handed_step::order);
        loss.takes_step = lost != handed_.end();
        if (loss.takes_step) {
            take_back(lost);
        }
        losses_.push_back(std::move(loss));
    }
    const auto pending = std::ranges::upper_bound(handed_, finished, {}, &handed_step::order);
    if (pending != handed_.begin()) {
        handed_.erase(handed_.begin(), std::prev(pending));
    }
}

SMDEBUG_INLINE void run_writer::take_back(std::vector<handed_step>::iterator lost) {
    const handed_step step = *lost;
    const auto later = handed_.erase(lost);
    const auto is_written_since = [&](step_number number) {
        return std::any_of(later, handed_.end(), [&](const handed_step& each) { return each.step == number; });
    };
    if (!is_written_since(step.step)) {
        start_.written.forget(step.step);
    }
    const auto heir = std::find_if(later, handed_.end(), [&](const handed_step& each) {
        return each.mode == step.mode && each.mode_step == step.mode_step;
    });
    if (heir != handed_.end()) {
        heir->older = heir->older == step.step ? step.older : heir->older;
    } else if (step.older && !is_written_since(*step.older)) {
        start_.written.add(step.mode, step.mode_step, *step.older);
    }
}

SMDEBUG_INLINE void run_writer::write_collections(const collection_set& collections) {
    if (collections_written_ && !collections.changed()) {
        return;
    }
    collections_written_ = false;
    sink_->put(locations::collections_key(worker_), collections_text(collections.file(writers_)));
    collections_written_ = true;
}

}  // namespace smdebug::inline v1::detail
