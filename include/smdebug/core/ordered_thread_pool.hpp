// Runs tasks on several threads and delivers the results in the order of the tasks.
#pragma once

#include <smdebug/core/stop_token.hpp>

#include <algorithm>
#include <concepts>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
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
/// Work on a task fills a Part. Parts are copies of `empty` and are reused: the caller leaves them empty.
/// Threads: next() is called on one thread.
template <class Task, class Part>
class ordered_thread_pool {
public:
    using next_task = std::function<std::optional<Task>()>;
    using work_on = std::function<void(std::size_t thread, const Task& task, Part& part)>;

    struct result {
        const Task& task;
        Part& part;
    };

    /// Begins.
    /// `threads`: 0: tasks run on the calling thread, inside next().
    /// `tasks`: returns a task, or nothing when there are no more; called on any thread, by one thread at a time.
    /// `work`: runs a task; `thread` is 0 and up, and no two calls at once have the same one.
    /// Errors: std::system_error if no thread can be started.
    ordered_thread_pool(unsigned threads, const Part& empty, next_task tasks, work_on work)
        : tasks_(std::move(tasks)),
          work_(std::move(work)),
          slots_(threads > 0 ? 2 * std::size_t{threads} + 2 : 1, slot{.part = empty}) {
        threads_.reserve(threads);
        try {
            for (std::size_t i = 0; i < threads; ++i) {
                threads_.emplace_back([this, i] { serve(i); });
            }
        } catch (...) {
            stop();
            throw;
        }
    }
    ordered_thread_pool(const ordered_thread_pool&) = delete;
    ordered_thread_pool& operator=(const ordered_thread_pool&) = delete;
    /// Waits for the tasks that are running.
    ~ordered_thread_pool() { stop(); }

    /// Begins no more tasks, and waits for those that are running.
    void stop() {
        {
            const std::scoped_lock lock{guard_};
            quits_ = true;
        }
        room_.notify_all();
        threads_.clear();
    }

    /// The number of parts: how many tasks can be running, or done and not yet taken.
    [[nodiscard]] std::size_t parts() const noexcept { return slots_.size(); }

    /// The result of the next task, in the order in which `tasks` returned them; valid until the next call. Nothing
    /// after the last one, and after a request through `stop`.
    /// Errors: what `tasks` and `work` throw, the earliest task's first, after all results before it; each further call
    /// throws it again.
    [[nodiscard]] std::optional<result> next(const std::stop_token& stop = {}) {
        std::unique_lock lock{guard_};
        if (std::exchange(is_lent_, false)) {
            slot& before = slots_[given_++ % slots_.size()];
            before.task.reset();
            before.done = false;
            room_.notify_one();
        }
        if (threads_.empty() && !over_) {
            if (stop.stop_requested()) {
                over_ = !tasks_();
                return std::nullopt;
            }
            take_task(lock, 0);
        }
        slot& due = slots_[given_ % slots_.size()];
        ready_.wait(lock, stop, [&] { return due.done || (over_ && given_ == taken_); });
        if (!due.done || stop.stop_requested()) {
            return std::nullopt;
        }
        if (due.failed) {
            over_ = true;
            std::rethrow_exception(due.failed);
        }
        is_lent_ = true;
        return result{*due.task, due.part};
    }

    /// Whether there are no more results: false after next() ended because of a stop, or of an error.
    [[nodiscard]] bool is_complete() {
        const std::lock_guard lock{guard_};
        return over_ && given_ == taken_;
    }

private:
    struct slot {
        Part part;
        std::optional<Task> task = {};
        std::exception_ptr failed = {};
        bool done = false;
    };

    void serve(std::size_t thread) {
        std::unique_lock lock{guard_};
        while (true) {
            room_.wait(lock, [&] { return quits_ || over_ || taken_ - given_ < slots_.size(); });
            if (quits_ || over_) {
                return;
            }
            take_task(lock, thread);
        }
    }

    // Runs the next task, without the lock; if there is none, all is over.
    void take_task(std::unique_lock<std::mutex>& lock, std::size_t thread) {
        slot& mine = slots_[taken_ % slots_.size()];
        try {
            mine.task = tasks_();
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
                work_(thread, *mine.task, mine.part);
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

    next_task tasks_;
    work_on work_;
    std::vector<slot> slots_;
    std::mutex guard_;
    std::condition_variable room_;       // for the threads: a slot has become free
    std::condition_variable_any ready_;  // for the caller: the slot that is due is done
    std::size_t taken_ = 0;
    std::size_t given_ = 0;
    bool is_lent_ = false;  // the slot at given_ is the caller's
    bool over_ = false;
    bool quits_ = false;
    std::vector<std::jthread> threads_;  // last: they use everything else
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
    void rethrow() const {
        if (what_) {
            std::rethrow_exception(what_);
        }
    }

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
}  // namespace smdebug::inline v1
