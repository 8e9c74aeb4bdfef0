// Runs tasks on several threads and delivers the results in the order of the tasks.
#pragma once

#include <smdebug/core/stop_token.hpp>

#include <algorithm>
#include <concepts>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace smdebug::inline v1 {
namespace detail {

/// Threads take one task after another as soon as they are free. Only a bounded number of tasks run ahead of the one
/// whose result is due, so memory is bounded however different the tasks are.
/// Work on a task fills a Part. Parts are copies of `empty` and are reused: emit leaves them empty.
template <class Task, class Part>
class ordered_thread_pool {
public:
    ordered_thread_pool(unsigned threads, const Part& empty)
        : threads_(std::max(threads, 1U)), empty_(empty), slots_(2 * std::size_t{threads_} + 2, slot{.part = empty}) {}

    /// The number of parts: how many tasks can be running, or done and not yet emitted.
    [[nodiscard]] std::size_t parts() const noexcept { return slots_.size(); }

    /// next() returns a task, or nothing when there are no more; it is called on any thread, by one thread at a time.
    /// work(thread, task, part) runs the task; `thread` is 0 and up, and no two calls at once have the same one.
    /// emit(task, part) takes the result, on the calling thread, in the order in which next() returned the tasks.
    /// Returns whether all tasks were done: false after a request through `stop`, after which nothing more is emitted.
    /// Errors: what next, work and emit throw; the error of the earliest task wins, and nothing is emitted after it.
    /// All threads have ended by then.
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
        ordered_thread_pool& of;
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
                over_ = true;  // no later result will be wanted
                room_.notify_all();
            }
            ready_.notify_one();
        }
    }

    std::size_t threads_;
    Part empty_;
    std::vector<slot> slots_;
    std::mutex guard_;
    std::condition_variable room_;       // for the threads: a slot has become free
    std::condition_variable_any ready_;  // for the caller: the slot that is due is done
    std::size_t taken_ = 0;
    std::size_t emitted_ = 0;
    bool over_ = false;
    bool quit_ = false;
};

/// Remembers the first exception that several attempts threw.
class exception_collector {
public:
    template <class Doing>
    void attempt(Doing&& doing) noexcept {
        try {
            doing();
        } catch (...) {
            if (!what_) {
                what_ = std::current_exception();
            }
        }
    }

    /// Whether anything was thrown.
    [[nodiscard]] bool happened() const noexcept { return what_ != nullptr; }

    /// Rethrows it, if anything was thrown.
    void rethrow() const;

private:
    std::exception_ptr what_;
};

/// Threads: everything may be called concurrently.
template <class Value>
class synchronized {
public:
    /// Access to the value; other threads wait while this object lives.
    class access {
    public:
        explicit access(synchronized& of) : lock_(of.mutex_), value_(&of.value_) {}
        [[nodiscard]] Value& operator*() const noexcept { return *value_; }
        [[nodiscard]] Value* operator->() const noexcept { return value_; }

    private:
        std::lock_guard<std::mutex> lock_;
        Value* value_;
    };

    template <class... Arguments>
        requires(std::constructible_from<Value, Arguments...>)
    explicit synchronized(Arguments&&... arguments) : value_(std::forward<Arguments>(arguments)...) {}

    /// Keep the lock short: `value.lock()->method()` holds it until the end of the statement.
    [[nodiscard]] access lock() { return access{*this}; }

private:
    std::mutex mutex_;
    Value value_;
};

}  // namespace detail

// A thread budget: how many threads may work at once, counted for all that share it, such as the runs of a batch and
// the helpers of each run.

class thread_budget;

/// A permit for one thread to work, or none. Destroying it, on any thread, returns the permit.
class thread_permit {
public:
    thread_permit() = default;
    thread_permit(thread_permit&&) noexcept = default;
    thread_permit& operator=(thread_permit&& other) noexcept {
        std::swap(of_, other.of_);
        return *this;
    }
    inline ~thread_permit();

    [[nodiscard]] explicit operator bool() const noexcept { return of_ != nullptr; }

private:
    friend thread_budget;
    explicit thread_permit(std::shared_ptr<thread_budget> of) noexcept : of_(std::move(of)) {}

    std::shared_ptr<thread_budget> of_;
};

/// Counts the threads that work. Held by shared_ptr. Threads: all calls may run at once.
class thread_budget : public std::enable_shared_from_this<thread_budget> {
public:
    explicit thread_budget(unsigned threads) : free_(threads) {}

    /// For independent work: waits for a permit, and has priority over helpers.
    [[nodiscard]] thread_permit acquire() {
        std::unique_lock lock{guard_};
        ++waiting_;
        freed_.wait(lock, [&] { return free_ > 0; });
        --waiting_;
        --free_;
        return thread_permit{shared_from_this()};
    }
    /// For a helper, without which the work continues anyway: returns no permit if no thread is free.
    [[nodiscard]] thread_permit try_acquire() {
        const std::lock_guard lock{guard_};
        if (free_ <= waiting_) {
            return {};
        }
        --free_;
        return thread_permit{shared_from_this()};
    }

private:
    friend thread_permit;
    void give_back() {
        const std::lock_guard lock{guard_};
        ++free_;
        freed_.notify_one();
    }

    std::mutex guard_;
    std::condition_variable freed_;
    unsigned free_;
    unsigned waiting_ = 0;
};

thread_permit::~thread_permit() {
    if (of_) {
        of_->give_back();
    }
}

namespace detail {

template <class Task, class Part>
ordered_thread_pool<Task, Part>::serving::~serving() {
    {
        const std::scoped_lock lock{of.guard_};
        of.quit_ = true;
    }
    of.room_.notify_all();
    threads.clear();
}

template <class Task, class Part>
void ordered_thread_pool<Task, Part>::begin() {
    taken_ = emitted_ = 0;
    over_ = quit_ = false;
    for (slot& each : slots_) {
        if (each.task) {  // the last run may have left it half filled
            each.part = empty_;
        }
        each.task.reset();
        each.failed = nullptr;
        each.done = false;
    }
}

inline void exception_collector::rethrow() const {
    if (what_) {
        std::rethrow_exception(what_);
    }
}

}  // namespace detail
}  // namespace smdebug::inline v1
