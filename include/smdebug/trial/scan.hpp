// Walking a whole run in file order: each event file is read once, front to back, and every tensor in it handed over.
// Asking tensor by tensor costs a read each; a scan of everything costs what reading the files costs.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/ordered_crew.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/concepts.hpp>
#include <smdebug/trial/read/event_reader.hpp>
#include <smdebug/trial/read/faster_way.hpp>
#include <smdebug/trial/read/files_ahead.hpp>
#include <smdebug/trial/scanned_tensor.hpp>
#include <smdebug/trial/selection.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// How to walk.
struct walk_options {
    /// Threads that read and work; 0 counts as 1.
    unsigned threads = 1;
    /// Called with the files that are done and all there are, on the calling thread, now and then.
    std::function<void(std::size_t done, std::size_t all)> progress = {};
    /// Ends the walk: after the file at hand on one thread, after the share at hand (64 files at most) on several.
    std::stop_token stop = {};
};

/// What to walk, and how.
struct scan_options {
    tensor_selection which = {};
    /// The saved reductions to read; the others are passed over.
    reduction_set saved = reduction_set::all();
    walk_options how = {};
    /// Leaves the payload checksums of large tensors to `visit`, which can take them while it works: see
    /// scanned_values::check.  Values are not to be believed before it holds.
    bool defer_checks = false;
    /// Of a last value that repeats for long, as TensorFlow writes constant tensors, only some is made; how many
    /// elements more there are is in scanned_values::repeats: see repeated_block.  Else all of them are, 256 MiB for a
    /// record of a hundred bytes.  Where the trial's decoder can: repeating_decoder.
    bool keep_repeats = false;
    /// Large files of this machine's disks may be looked at in place while `visit` runs, where that is faster.  Only for a
    /// `visit` that neither blocks nor writes to the run: meanwhile who opens the file for writing waits, for 45 s at
    /// most; see leased_map for what comes then.
    bool in_place = false;
    /// Values of large tensors may be left in the file: see scanned_tensor::content.  For a `visit` that
    /// asks for their reductions only, by reduced().
    bool stream = false;
    /// Of these tensors they are not.
    std::vector<std::string> values_of = {};
    /// Which way of looking at files was the faster one in walks before, and what this one learns of it; null: it begins
    /// to learn.  For one walk at a time, on one thread.
    detail::faster_way* faster = nullptr;
};

namespace detail {

/// How a walk ended.
enum class walk_end : std::uint8_t {
    complete,  ///< everything was handed over
    stopped,   ///< by the stop token; what was handed over is everything up to some place
};

/// What a scan has in common, whatever the threads.
struct scan_of {
    scan_of(std::shared_ptr<const trial_state> run, const scan_options& given);
    [[nodiscard]] event_reader reader() const { return {*state, *from, which, saved, config}; }
    /// How many threads are worth having.
    [[nodiscard]] unsigned threads(const walk_options& how) const noexcept {
        return static_cast<unsigned>(
            std::min<std::size_t>(std::max(how.threads, 1U), std::max<std::size_t>(files.size(), 1)));
    }
    /// Walks on the calling thread; file_done() behind each file.
    [[nodiscard]] walk_end in_turn(const walk_options& how, tensor_visit visit, function_ref<void()> file_done) const;

    std::shared_ptr<const catalog> from;
    std::shared_ptr<const trial_state> state;
    selected_tensors which;
    std::optional<selected_tensors> values_of;
    reduction_set saved;
    std::unique_ptr<files_ahead> ahead = std::make_unique<files_ahead>();
    reading_config config;
    std::vector<const catalog::file*> files;
};

/// A few files that one thread takes at a time.
struct scan_share {
    std::size_t begin = 0;
    std::size_t end = 0;
};

/// Cuts the files into shares: not so small that threads wait for each other, not so large that results pile up.
class share_cutter {
public:
    share_cutter(std::span<const catalog::file* const> files, event_reader reader)
        : files_(files), reader_(std::move(reader)) {}

    [[nodiscard]] std::optional<scan_share> next();

private:
    std::span<const catalog::file* const> files_;
    event_reader reader_;
    std::size_t next_ = 0;
};

}  // namespace detail

/// Walks the selected tensors of a trial as it is now, by global step, then worker, then as in the file: on several
/// threads, and what was made of some files together is put back in order.  visit(Part&, const scanned_tensor&) fills a
/// part, on any thread; emit(Part&) takes it, on the calling thread, in the order of the files.  Parts are copies of
/// `empty` and are used again: emit leaves them empty.
/// Errors: collection_unavailable, value_error for a bad regex; what `visit` and `emit` throw, the earliest file's
///         first.  What cannot be read is handed over as a failure.
/// Memory: for each thread one event file of at most 64 MiB (256 where its index file says too little), or one record,
///         and what the storage has in flight; 2 * threads + 2 parts of some MiB of event files each (32 where the
///         storage reads many ranges together).
/// Cost:   one read of each event file (where little of it is selected, of that); no allocation a tensor, once the
///         buffers have their size.  The next file is read ahead where the storage does so.  Where it reads many ranges
///         together, the wanted records of up to 256 files are asked for in one call, or of one file 64 MiB of them,
///         and those of files of which little is wanted are copied once more.
template <class Part, scannable_trial Trial, class Visit, class Emit>
detail::walk_end scan_parts(const Trial& run, const scan_options& options, const Part& empty, Visit&& visit,
                            Emit&& emit) {
    const detail::scan_of all{run.state(), options};
    const std::span<const detail::catalog::file* const> files = all.files;
    const unsigned threads = all.threads(options.how);
    if (threads <= 1) {
        Part part = empty;
        return all.in_turn(
            options.how, [&](const detail::scanned_tensor& tensor) { visit(part, tensor); }, [&] { emit(part); });
    }
    std::vector<detail::event_reader> readers;
    for (unsigned i = 0; i < threads; ++i) {
        readers.push_back(all.reader());
    }
    detail::share_cutter cutter{files, all.reader()};
    detail::ordered_crew<detail::scan_share, Part> crew{threads, empty};
    const bool complete = crew.run([&] { return cutter.next(); },
                                   [&](std::size_t thread, const detail::scan_share& share, Part& part) {
                                       readers[thread].read(
                                           files, share.begin, share.end,
                                           [&](const detail::scanned_tensor& tensor) { visit(part, tensor); },
                                           [](std::size_t) { return true; });
                                   },
                                   [&](const detail::scan_share& share, Part& part) {
                                       emit(part);
                                       if (options.how.progress) {
                                           options.how.progress(share.end, files.size());
                                       }
                                   },
                                   options.how.stop);
    return complete ? detail::walk_end::complete : detail::walk_end::stopped;
}

/// Calls visit(const scanned_tensor&) for every selected tensor, on the calling thread, whatever the options say of
/// threads.  Otherwise as scan_parts.
template <scannable_trial Trial, class Visit>
detail::walk_end scan(const Trial& run, const scan_options& options, Visit&& visit) {
    const detail::scan_of all{run.state(), options};
    return all.in_turn(options.how, visit, [] {});
}

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/impl/scan.ipp>
#endif
