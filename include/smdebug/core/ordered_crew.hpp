// Tasks on several threads, with the results in the order of the tasks.
#pragma once

#include <smdebug/core/stop_token.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Threads that take one task after another, as soon as each is free; at most some tasks are ahead of the one whose
/// result is due, so memory is bounded however unlike the tasks are.
/// A Part is what the work on a task fills; parts are copies of `empty` and are used again: emit leaves them empty.
template <class Task, class Part>
class ordered_crew {
public:
    ordered_crew(unsigned threads, const Part& empty)
        : threads_(std::max(threads, 1U)), empty_(empty), slots_(2 * std::size_t{threads_} + 2, slot{.part = empty}) {}

    /// How many parts there are: how many tasks can be under way, or done and not yet taken.
    [[nodiscard]] std::size_t parts() const noexcept { return slots_.size(); }

    /// next() gives a task, or nothing when there are no more: on any thread, one at a time.  work(thread, task, part)
    /// does it: thread is 0 and up, and is in no other call at that time.  emit(task, part) takes the result, on the
    /// calling thread, in the order in which next() gave the tasks.
    /// Returns whether all was done: false when `stop` was asked for, after which nothing more is emitted.
    /// Errors: what next, work and emit throw, that of the earliest task; nothing is emitted after it.  All threads
    /// have ended then.
    template <class Next, class Work, class Emit>
    bool run(Next&& next, Work&& work, Emit&& emit, const std::stop_token& stop = {}) {
        begin();
        serving crew{*this, {}};
        crew.threads.reserve(threads_);
        for (std::size_t i = 0; i < threads_; ++i) {
            crew.threads.emplace_back([this, i, &next, &work] { serve(i, next, work); });
        }
        std::unique_lock lock{guard_};
        while (true) {
            slot& due = slots_[emitted_ % slots_.size()];
            const auto something = [&] { return due.done || (over_ && emitted_ == taken_); };
            const bool is_something = ready_.wait(lock, stop, something);
            if (is_something && !due.done) {
                return true;
            }
            if (stop.stop_requested()) {
                return false;
            }
            if (due.failed) {
                std::rethrow_exception(due.failed);
            }
            lock.unlock();
            emit(*due.task, due.part);
            lock.lock();
            due.task.reset();
            due.done = false;
            ++emitted_;
            room_.notify_one();
        }
    }

private:
    struct slot {
        Part part;
        std::optional<Task> task = {};
        std::exception_ptr failed = {};
        bool done = false;
    };

    // The threads of one run: asked to quit, then joined, however the run ends.
    struct serving {
        ordered_crew& of;
        std::vector<std::jthread> threads;
        ~serving();
    };

    void begin();

    template <class Next, class Work>
    void serve(std::size_t thread, Next& next, Work& work) {
        std::unique_lock lock{guard_};
        while (true) {
            room_.wait(lock, [&] { return quit_ || over_ || taken_ - emitted_ < slots_.size(); });
            if (quit_ || over_) {
                return;
            }
            slot& mine = slots_[taken_ % slots_.size()];
            mine.task.reset();
            try {
                mine.task = next();
            } catch (...) {
                mine.failed = std::current_exception();
            }
            if (!mine.task && !mine.failed) {
                over_ = true;
                room_.notify_all();
                ready_.notify_one();
                return;
            }
            ++taken_;
            if (mine.task) {
                lock.unlock();
                try {
                    work(thread, *mine.task, mine.part);
                } catch (...) {
                    mine.failed = std::current_exception();
                }
                lock.lock();
            }
            mine.done = true;
            if (mine.failed) {
                over_ = true;  // nothing behind it will be wanted
                room_.notify_all();
            }
            ready_.notify_one();
        }
    }

    std::size_t threads_;
    Part empty_;
    std::vector<slot> slots_;
    std::mutex guard_;
    std::condition_variable room_;       // for the crew: a slot has become free
    std::condition_variable_any ready_;  // for the caller: the slot that is due is done
    std::size_t taken_ = 0;
    std::size_t emitted_ = 0;
    bool over_ = false;
    bool quit_ = false;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#include <smdebug/core/impl/ordered_crew.tpp>
