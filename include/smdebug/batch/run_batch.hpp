// Processes many runs on some threads: each run on one of them, and on idle ones; a run that fails, takes too long or
// needs too much memory is a result like any other.
#pragma once

#include <smdebug/batch/run_result.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/ordered_thread_pool.hpp>
#include <smdebug/core/stop_token.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace smdebug::inline v1 {

/// How a batch is processed.
struct batch_options {
    /// Threads for all runs together; 0 means as many as there are CPUs.
    unsigned threads = 0;
    /// The time limit of one run.  After it the run is requested to stop, at the end of the current step or index file;
    /// a single system call that blocks (a dead NFS server) is not interrupted.  If unset, there is no limit.
    std::optional<std::chrono::milliseconds> run_timeout = {};
    /// The memory limit of one run in bytes: its caches stay below it (size_limits::within(),
    /// sharing_options::within()), and a run that needs more is a result that says so.  Not included are mapped files,
    /// up to 64 MiB that a thread reads at once, and memory that rules allocate themselves.  If unset, there is no
    /// limit.
    std::optional<std::uint64_t> memory = {};
    /// Whether results are passed on in the order of the runs, or else as they are ready.
    bool in_order = true;
    /// In order: how many may wait for an earlier one; beyond that, threads help with the earlier run, or wait.
    std::size_t most_waiting = 1024;
    /// Ends the batch: no further run begins, running ones are requested to stop, and become `undone`.
    std::stop_token stop = {};
};

/// The resources of the work on one run.
struct run_scope {
    std::stop_token stop = {};  ///< the time limit of the run, or the end of the batch
    /// Idle threads, for sharing_options::threads.
    std::shared_ptr<thread_budget> threads = {};
    std::optional<std::uint64_t> memory = {};  ///< batch_options::memory
};

/// Returns the next run, or nothing if there are no more.  Called on any thread, by one at a time; may block.
using run_source = std::function<std::optional<batch_run>()>;
/// Processes a run.  Its exception is the run's error.  Called on many threads concurrently.
using run_work = std::function<run_result(const batch_run&, const run_scope&)>;
/// Receives a result.  Called on any thread, by one at a time.
using result_sink = std::function<void(run_result&&)>;

/// Takes runs from `next`, calls `work` for each, and passes the results to `emit`.
/// A thread that finds no further run helps with the runs of others: a run that is far larger than the rest finally
/// uses all threads.  Results do not depend on the number of threads.
/// Returns whether the batch was completed; false if it was stopped.
/// Errors: what `next` and `emit` throw; the batch is then stopped, and all threads have ended.
/// Memory: that of the running runs, and `most_waiting` results.
bool run_batch(const batch_options& how, const run_source& next, const run_work& work, const result_sink& emit);

/// The result of a failed run: call it in a catch block; describes the caught exception.
[[nodiscard]] run_result failed_run(const batch_run& run);

namespace detail {

/// Passes results on in the order of the runs, whatever order they arrive in.
/// Threads: all functions may be called concurrently; `emit` is called by one thread at a time.
class ordered_results {
public:
    /// Borrows emit.  `most`: how many results may wait for an earlier one.
    ordered_results(const std::function<void(run_result&&)>& emit, bool in_order, std::size_t most)
        : in_order_(in_order), most_(most), emit_(emit) {}

    /// Waits until there is room for another result.  Returns false if the batch has ended.
    [[nodiscard]] bool wait_for_room(std::uint64_t taken) {
        std::unique_lock lock{guard_};
        room_.wait(lock, [&] { return ended_ || !in_order_ || taken - due_ < most_; });
        return !ended_;
    }
    /// Adds the result of the run of that number, counted from 0.  Errors: what emit throws.
    void take(std::uint64_t number, run_result&& result) {
        const std::lock_guard lock{guard_};
        if (ended_) {
            return;
        }
        if (!in_order_) {
            return emit_(std::move(result));
        }
        waiting_.emplace(number, std::move(result));
        while (!waiting_.empty() && waiting_.begin()->first == due_) {
            auto next = waiting_.extract(waiting_.begin());
            emit_(std::move(next.mapped()));
            ++due_;
        }
        room_.notify_all();
    }
    /// Drops all further results.
    void end() {
        const std::lock_guard lock{guard_};
        ended_ = true;
        room_.notify_all();
    }

private:
    bool in_order_;
    std::size_t most_;
    const std::function<void(run_result&&)>& emit_;
    std::mutex guard_;
    std::condition_variable room_;
    std::map<std::uint64_t, run_result> waiting_;
    std::uint64_t due_ = 0;
    bool ended_ = false;
};

}  // namespace detail
}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/batch/impl/run_batch.ipp>
#endif
