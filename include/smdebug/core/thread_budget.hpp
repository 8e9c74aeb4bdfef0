// How many threads may work at once, counted for everything that shares them: the runs of a batch, and what helps with one.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>

namespace smdebug {
inline namespace v1 {

class thread_budget;

/// The right of one thread to work, or nothing.  Destroying it, on any thread, gives the right back.
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

/// Counts the threads that work.  Held by shared_ptr.  Threads: all calls may run at once.
class thread_budget : public std::enable_shared_from_this<thread_budget> {
public:
    explicit thread_budget(unsigned threads) : free_(threads) {}

    /// For a piece of work of its own: waits until a thread may work, before anything that would only help.
    [[nodiscard]] thread_permit acquire() {
        std::unique_lock lock{guard_};
        ++waiting_;
        freed_.wait(lock, [&] { return free_ > 0; });
        --waiting_;
        --free_;
        return thread_permit{shared_from_this()};
    }
    /// For help with work that goes on without it, too: nothing where no thread is free.
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

}  // namespace v1
}  // namespace smdebug
