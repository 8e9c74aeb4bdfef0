// Many runs on some threads: each run on one of them, and on those that have nothing else to do; one that breaks, takes
// too long or wants too much memory is a result like the others.
#pragma once

#include <smdebug/batch/run_result.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/core/thread_budget.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace smdebug {
inline namespace v1 {

/// How a batch is worked on.
struct batch_options {
    /// That work on runs, in all; 0: as many as there are CPUs.
    unsigned threads = 0;
    /// For one run.  When it is over the run is asked to stop: after the step at hand, or the index file; what waits in
    /// a single system call (a dead NFS server) is not ended.  Unset: no limit.
    std::optional<std::chrono::milliseconds> run_timeout = {};
    /// Bytes that are to do for one run: what is kept of it stays within them (size_limits::within(), sharing_options::within()),
    /// and a run that needs more is a result that says so.  Not counted are mapped files, up to 64 MiB that a thread reads at
    /// once, and what rules allocate themselves.  Unset: no limit.
    std::optional<std::uint64_t> memory = {};
    /// Results come in the order of the runs, else as they are ready.
    bool in_order = true;
    /// In order: how many may wait for an earlier one; then threads help with that, or wait.
    std::size_t most_waiting = 1024;
    /// Ends the batch: no further run is begun, those at hand are asked to stop, and become `undone`.
    std::stop_token stop = {};
};

/// What the work on one run may use, and should heed.
struct run_scope {
    std::stop_token stop = {};  ///< the run's time is over, or the batch's
    /// Threads that have nothing else to do: for sharing_options::threads.
    std::shared_ptr<thread_budget> threads = {};
    std::optional<std::uint64_t> memory = {};  ///< batch_options::memory
};

/// Gives the next run; nothing: there are no more.  Called on any thread, one at a time; may wait.
using run_source = std::function<std::optional<batch_run>()>;
/// Works on a run.  What it throws is the run's error.  Called on many threads at once.
using run_work = std::function<run_result(const batch_run&, const run_scope&)>;
/// Takes a result.  Called on any thread, one at a time.
using result_sink = std::function<void(run_result&&)>;

/// Takes runs from `next`, has `work` done on each, and passes what comes of it to `emit`.
/// A thread that finds no run to begin helps with those that others have: a run that is far larger than the rest has
/// all of them in the end.  Results do not depend on how many there are.
/// Returns whether it came to the end; false where it was stopped.
/// Errors: what `next` and `emit` throw; the batch is then stopped, and all threads have ended.
/// Memory: what the runs at hand take, and `most_waiting` results.
bool run_batch(const batch_options& how, const run_source& next, const run_work& work, const result_sink& emit);

/// The result of a run that broke: from within a catch block, of what was caught.
[[nodiscard]] run_result failed_run(const batch_run& run);

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/batch/impl/run_batch.ipp>
#endif
