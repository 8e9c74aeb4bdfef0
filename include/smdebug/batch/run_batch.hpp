// Many runs on some threads: each run on one of them, and on those that have nothing else to do; one that breaks, takes
// too long or wants too much memory is a result like the others.
#pragma once

#include <smdebug/batch/run_memory.hpp>
#include <smdebug/batch/run_result.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/spare_threads.hpp>
#include <smdebug/core/stop_token.hpp>

#include <chrono>
#include <cstddef>
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
    /// Makes what counts the memory of a run, as counted_memory() does; empty: nobody does.
    std::function<std::unique_ptr<run_memory>()> memory = {};
    /// Results come in the order of the runs, else as they are ready.
    bool in_order = true;
    /// In order: how many may wait for an earlier one; then threads help with that, or wait.
    std::size_t most_waiting = 1024;
    /// Ends the batch: no further run is begun, those at hand are asked to stop, and become `undone`.
    std::stop_token stop = {};
};

/// What the work on one run may use, and should heed.  Borrowed for the call.
class run_scope {
public:
    run_scope() = default;
    run_scope(const run_scope&) = delete;
    run_scope& operator=(const run_scope&) = delete;
    virtual ~run_scope() = default;

    /// The run's time is over, or the batch's.
    [[nodiscard]] virtual std::stop_token stop() const = 0;
    /// Threads that have nothing else to do: for sharing_options::threads.
    [[nodiscard]] virtual std::shared_ptr<detail::spare_threads> threads() const = 0;
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
