// Walks a run in file order: each event file is read once, front to back, and every selected tensor in it is visited.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/ordered_thread_pool.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/read/event_files.hpp>
#include <smdebug/trial/read/event_reader.hpp>
#include <smdebug/trial/read/reading_plan.hpp>
#include <smdebug/trial/read/selected_tensors.hpp>
#include <smdebug/trial/read/trial_state.hpp>
#include <smdebug/trial/scanned_tensor.hpp>
#include <smdebug/trial/selection.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace smdebug::inline v1::detail {

/// What to walk, and how.
struct scan_options {
    tensor_selection which = {};
    /// The saved reductions to read; others are skipped.
    reduction_set saved = reduction_set::all();
    walk_options how = {};
    /// Its `values_of`, `limits` and `ahead` are set by the scan.
    reading_config reading = {};
    /// The values of these tensors are always read, whatever `reading` says.
    std::vector<std::string> values_of = {};
};

/// The part of a scan that does not depend on threads.
struct scan_of {
    scan_of(std::shared_ptr<const trial_state> run, const scan_options& given);
    [[nodiscard]] event_reader reader() const { return {*state, *from, which, saved, config}; }
    /// How many threads are useful.
    [[nodiscard]] unsigned threads() const noexcept {
        return static_cast<unsigned>(std::clamp<std::size_t>(how.threads, 1, std::max<std::size_t>(files.size(), 1)));
    }

    std::shared_ptr<const catalog> from;
    std::shared_ptr<const trial_state> state;
    selected_tensors which;
    std::optional<selected_tensors> values_of;
    reduction_set saved;
    std::unique_ptr<files_ahead> ahead = std::make_unique<files_ahead>();
    reading_config config;
    walk_options how;
    std::vector<const catalog::file*> files;
};

/// Calls visit(const scanned_tensor&) for each selected tensor of a run as it is now, by global step, then worker, then
/// as in the file; on the calling thread, whatever number of threads the options give.  Returns whether all were
/// visited: false after a stop.
/// Errors: collection_unavailable, value_error for a bad regex; what `visit` throws.  Unreadable data are passed on as
///         a failure.
/// Memory: one event file of at most 64 MiB (256 where its index file says too little), or one record, and what the
///         storage has in flight.
/// Cost:   one read of each event file (of the selected parts, where little is selected); no allocation per tensor once
///         the buffers have grown.  The next file is prefetched where the storage supports it.  Where it reads many
///         ranges together, one call requests the wanted records of up to 256 files, or 64 MiB of one file; where
///         little of a file is wanted, its records are copied once more.
bool scan(std::shared_ptr<const trial_state> run, const scan_options& options, tensor_visit visit);

/// Some consecutive files, which one thread reads.
struct file_chunk {
    std::size_t begin = 0;
    std::size_t end = 0;
};

/// Divides the files into chunks: large enough that threads do not wait for each other, small enough that results do
/// not pile up.
class chunker {
public:
    /// Borrows the scan.
    explicit chunker(const scan_of& all)
        : all_(all.files),
          files_(*all.state, *all.from, all.which, all.saved, all.config),
          most_bytes_(all.how.memory / 4) {}

    [[nodiscard]] std::optional<file_chunk> next();

private:
    std::span<const catalog::file* const> all_;
    event_files files_;  // returns their extents
    std::uint64_t most_bytes_;
    std::size_t next_ = 0;
};

/// Scans on several threads, or on one inside next(), where the result for each tensor is kept in a part until it can
/// be delivered.
/// Memory: that of scan() for each thread; 2 * threads + 2 parts of some MiB of event files each (32 where the storage
///         reads many ranges together).
template <class Part>
class part_stream {
public:
    /// fill(Part&, const scanned_tensor&) is called on any thread.  Parts are copies of `empty` and are reused: the
    /// caller leaves them empty.
    template <class Fill>
    part_stream(std::shared_ptr<const trial_state> run, const scan_options& options, const Part& empty, Fill fill)
        : all_(std::move(run), options),
          chunks_(all_),
          readers_(readers_of(all_)),
          crew_(
              readers_.size() > 1 ? static_cast<unsigned>(readers_.size()) : 0U, empty,
              [this] { return chunks_.next(); },
              [this, visit = std::move(fill)](std::size_t thread, const file_chunk& chunk, Part& part) {
                  readers_[thread].read(
                      all_.files, chunk.begin, chunk.end, [&](const scanned_tensor& tensor) { visit(part, tensor); },
                      [](std::size_t) { return true; });
              }) {}
    part_stream(const part_stream&) = delete;
    part_stream& operator=(const part_stream&) = delete;
    ~part_stream() = default;

    /// The next part, in the order of the files; valid until the next call.  Null after the last one, and after a stop.
    /// Errors: those of scan(); what fill() throws, the earliest file's first.
    [[nodiscard]] Part* next() {
        if (all_.how.progress && done_ > 0) {
            all_.how.progress(done_, all_.files.size());
        }
        const auto part = crew_.next(all_.how.stop);
        done_ = part ? part->task.end : 0;
        return part ? &part->part : nullptr;
    }

    /// The step of which the next part may have more.
    [[nodiscard]] std::optional<step_number> unfinished_step() const noexcept {
        const bool is_unfinished =
            done_ > 0 && done_ < all_.files.size() && all_.files[done_]->step == all_.files[done_ - 1]->step;
        return is_unfinished ? std::optional{all_.files[done_]->step} : std::nullopt;
    }

    /// Whether all was visited, once next() has returned null: false after a stop.
    [[nodiscard]] bool is_complete() { return crew_.is_complete(); }

private:
    [[nodiscard]] static std::vector<event_reader> readers_of(const scan_of& all) {
        std::vector<event_reader> readers;
        for (unsigned i = 0; i < all.threads(); ++i) {
            readers.push_back(all.reader());
        }
        return readers;
    }

    scan_of all_;
    chunker chunks_;
    std::vector<event_reader> readers_;
    std::size_t done_ = 0;  // files
    ordered_thread_pool<file_chunk, Part> crew_;
};

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/read/impl/scan.ipp>
#endif
