// Walks a whole run in file order: each event file is read once, front to back, and every tensor in it is visited, with
// its values or with its reductions.
// Reading tensor by tensor costs a read each; a scan costs no more than reading the files.
#pragma once

#include <smdebug/core/abstract.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/ordered_thread_pool.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/concepts.hpp>
#include <smdebug/trial/read/event_reader.hpp>
#include <smdebug/trial/read/reading_plan.hpp>
#include <smdebug/trial/read/trial_state.hpp>
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

namespace smdebug::inline v1 {

/// How to walk.
struct walk_options {
    /// Threads that read and work; 0 counts as 1.
    unsigned threads = 1;
    /// Called on the calling thread from time to time, with the number of finished files and of all files.
    std::function<void(std::size_t done, std::size_t all)> progress = {};
    /// Ends the walk: after the current file on one thread, after the current chunk (at most 64 files) on several.
    std::stop_token stop = {};
};

/// What to walk, and how.
struct scan_options {
    tensor_selection which = {};
    /// The saved reductions to read; others are skipped.
    reduction_set saved = reduction_set::all();
    walk_options how = {};
    /// Leaves the payload checksums of large tensors to `visit`, which can verify them while it works: see
    /// scanned_values::check.  Values must not be trusted before the check holds.
    bool defer_checks = false;
    /// Does not expand a long trailing repeat, which is how TensorFlow writes constant tensors: scanned_values::repeats
    /// is the number of elements left out, see repeated_block.  If false, such a record of a hundred bytes may become
    /// 256 MiB.  Requires a repeating_decoder.
    bool keep_repeats = false;
    /// Large files on local disks may be read in place while `visit` runs, where that is faster.  Only for a `visit`
    /// that neither blocks nor writes to the run: a process that opens the file for writing waits meanwhile, up to 45
    /// s; see leased_map for what happens then.
    bool in_place = false;
    /// Values of large tensors may be left in the file: see scanned_tensor::content.  For a `visit` that uses nothing
    /// but their reductions, through reduced().
    bool stream = false;
    /// The values of these tensors are always read.
    std::vector<std::string> values_of = {};
    /// Remembers from walk to walk which way of reading files is faster.  Null: this walk learns it from scratch.  One
    /// walk at a time may use it; walks on several threads ignore it.
    detail::adaptive_choice* faster = nullptr;
};

namespace detail {

/// How a walk ended.
enum class walk_end : std::uint8_t {
    complete,  ///< everything was visited
    stopped,   ///< by the stop token; everything up to some place was visited
};

/// The part of a scan that does not depend on threads.
struct scan_of {
    scan_of(std::shared_ptr<const trial_state> run, const scan_options& given);
    [[nodiscard]] event_reader reader() const { return {*state, *from, which, saved, config}; }
    /// How many threads are useful.
    [[nodiscard]] unsigned threads(const walk_options& how) const noexcept {
        return static_cast<unsigned>(
            std::min<std::size_t>(std::max(how.threads, 1U), std::max<std::size_t>(files.size(), 1)));
    }
    /// Walks on the calling thread; calls file_done() after each file.
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

/// Some consecutive files, which one thread reads.
struct file_chunk {
    std::size_t begin = 0;
    std::size_t end = 0;
};

/// Divides the files into chunks: large enough that threads do not wait for each other, small enough that results do
/// not pile up.
class chunker {
public:
    chunker(std::span<const catalog::file* const> files, event_reader reader)
        : files_(files), reader_(std::move(reader)) {}

    [[nodiscard]] std::optional<file_chunk> next();

private:
    std::span<const catalog::file* const> files_;
    event_reader reader_;
    std::size_t next_ = 0;
};

}  // namespace detail

/// Walks the selected tensors of a trial as it is now, by global step, then worker, then as in the file: on several
/// threads, with the results in file order.  visit(Part&, const scanned_tensor&) fills a part, on any thread;
/// emit(Part&) takes it, on the calling thread, in the order of the files.  Parts are copies of `empty` and are reused:
/// emit leaves them empty.
/// Errors: collection_unavailable, value_error for a bad regex; what `visit` and `emit` throw, the earliest file's
///         first.  Unreadable data are passed on as a failure.
/// Memory: for each thread one event file of at most 64 MiB (256 where its index file says too little), or one record,
///         and what the storage has in flight; 2 * threads + 2 parts of some MiB of event files each (32 where the
///         storage reads many ranges together).
/// Cost:   one read of each event file (of the selected parts, where little is selected); no allocation per tensor once
///         the buffers have grown.  The next file is prefetched where the storage supports it.  Where it reads many
///         ranges together, one call requests the wanted records of up to 256 files, or 64 MiB of one file; where
///         little of a file is wanted, its records are copied once more.
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
    detail::chunker chunks{files, all.reader()};
    detail::ordered_thread_pool<detail::file_chunk, Part> crew{threads, empty};
    const bool complete = crew.run([&] { return chunks.next(); },
                                   [&](std::size_t thread, const detail::file_chunk& chunk, Part& part) {
                                       readers[thread].read(
                                           files, chunk.begin, chunk.end,
                                           [&](const detail::scanned_tensor& tensor) { visit(part, tensor); },
                                           [](std::size_t) { return true; });
                                   },
                                   [&](const detail::file_chunk& chunk, Part& part) {
                                       emit(part);
                                       if (options.how.progress) {
                                           options.how.progress(chunk.end, files.size());
                                       }
                                   },
                                   options.how.stop);
    return complete ? detail::walk_end::complete : detail::walk_end::stopped;
}

/// Calls visit(const scanned_tensor&) for every selected tensor, on the calling thread, whatever number of threads the
/// options give.  Otherwise as scan_parts.
template <scannable_trial Trial, class Visit>
detail::walk_end scan(const Trial& run, const scan_options& options, Visit&& visit) {
    const detail::scan_of all{run.state(), options};
    return all.in_turn(options.how, visit, [] {});
}

namespace detail {

/// A scan of a run, some steps at a time, as the rules request them.  Its owner scans the steps that rules did not
/// reach.
/// Threads: one call at a time; scan() is called on any thread.
class joint_scan : public smdebug::detail::abstract {
public:
    using look = function_ref<void(const scanned_tensor&, const reduced_tensor&)>;

    /// The tensors that the owner scans in any case.
    [[nodiscard]] virtual const std::vector<std::string>& names() const noexcept = 0;

    /// Scans the steps of a range, which lies after those of earlier calls, including steps that rules skipped.
    /// `asked`: what rules want from the range; it includes all of names(), with all reductions.  rules(scanned,
    /// reduced) is called for each tensor of the range, in file order.
    /// Errors: those of scan(), and what the scan's owner throws: rules then read on their own.
    virtual void scan(const scan_options& asked, look rules) = 0;
};

// Reduces every tensor of a run in file order: the fastest way to look at all of a run.

/// Keeps reduced tensors until they can be visited.
class kept_tensors {
public:
    void keep(const scanned_tensor& tensor, reduction_set wanted, const any_kernel& kernel);

    /// Reduces a tensor that is visited immediately; valid until the next call.  Its memory stays in the L1 cache,
    /// unlike that of a whole file's tensors.
    [[nodiscard]] const reduced_tensor& passing(const scanned_tensor& tensor, reduction_set wanted,
                                                const any_kernel& kernel) {
        reduce_into(tensor, wanted, kernel, passing_);
        return passing_;
    }

    /// Visits the kept tensors in the order in which they were added; empty afterwards.
    template <class Visit>
    void hand_out(Visit&& visit) {
        for (std::size_t i = 0; i < size_; ++i) {
            one& kept = kept_[i];
            kept.tensor.shape = kept.tensor.shape != nullptr ? &kept.shape : nullptr;
            kept.tensor.saved_failures = kept.saved_failures;
            visit(std::as_const(kept.tensor));
        }
        size_ = 0;
    }

private:
    // Names belong to the catalog, which outlives the walk; the rest is copied into reused memory.
    struct one {
        reduced_tensor tensor;
        shape_type shape;
        std::vector<scan_failure> saved_failures;
    };
    std::vector<one> kept_;
    std::size_t size_ = 0;
    reduced_tensor passing_;
};

}  // namespace detail

/// Calls visit(const reduced_tensor&) for every selected tensor of a trial as it is now, with at least those of the
/// `wanted` reductions that exist: by global step, then worker, then as in the file.  Always on the calling thread,
/// however many threads read and reduce.  The trial's kernel computes; results do not depend on the number of threads.
/// With one thread a tensor is mostly visited before the next one is read.
///
///     for_each_tensor(run, {.collection = "gradients"}, reduction::l2, [&](const reduced_tensor& found) { ... });
///
/// Errors: collection_unavailable, value_error for a bad regex, what `visit` throws.  Unreadable data are passed on as
///         a failure: a damaged tensor does not affect the others.
/// Memory: as scan_parts; independent of the run's size.
/// Cost:   as scan_parts, and one pass over the values while they are in the CPU's cache.
template <scannable_trial Trial, std::invocable<const reduced_tensor&> Visit>
detail::walk_end for_each_tensor(const Trial& run, const tensor_selection& which, reduction_set wanted, Visit&& visit,
                                 const walk_options& how = {}) {
    const auto state = run.state();
    const detail::any_kernel& kernel = state->kernel();
    // No file is held during `visit`, whatever it does: where one would be, the visited tensor is a copy.
    const scan_options options{.which = which,
                               .saved = wanted,
                               .how = how,
                               .defer_checks = true,
                               .keep_repeats = state->kernel().abilities().repeats,
                               .in_place = true,
                               .stream = true};
    return scan_parts(
        run, options, detail::kept_tensors{},
        [&](detail::kept_tensors& kept, const detail::scanned_tensor& tensor) {
            if (tensor.may_block) {
                visit(kept.passing(tensor, wanted, kernel));
            } else {
                kept.keep(tensor, wanted, kernel);
            }
        },
        [&](detail::kept_tensors& kept) { kept.hand_out(visit); });
}

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/impl/scan.ipp>
#endif
