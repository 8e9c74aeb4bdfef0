// The bodies of <smdebug/batch/ranks/side_threads.hpp>.
#pragma once

#include <smdebug/batch/ranks/side_threads.hpp>

#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE run_feeder::run_feeder(source from, std::size_t ahead, std::function<void()> wake)
    : ahead_(ahead), wake_(std::move(wake)), thread_([this, from] { feed(from); }) {}

SMDEBUG_INLINE void run_feeder::feed(source from) {
    std::unique_lock lock{mutex_};
    for (;;) {
        if (runs_.size() >= ahead_) {  // then many at once: to wake this thread for one costs more than the run
            changed_.wait(lock, [&] { return stopped_ || runs_.size() <= ahead_ / 2; });
        }
        if (stopped_) {
            break;
        }
        lock.unlock();
        std::optional<batch_run> run;
        std::exception_ptr failure;
        try {
            run = from();
        } catch (...) {
            failure = std::current_exception();
        }
        lock.lock();
        if (!run) {
            failure_ = failure;
            has_all_ = failure == nullptr;
            break;
        }
        runs_.push_back(*std::move(run));
        if (runs_.size() == 1) {
            wake_();
        }
    }
    ended_ = true;
    lock.unlock();
    wake_();
}

SMDEBUG_INLINE std::optional<batch_run> run_feeder::take() {
    std::optional<batch_run> run;
    {
        const std::lock_guard lock{mutex_};
        if (runs_.empty()) {
            return std::nullopt;
        }
        run = std::move(runs_.front());
        runs_.pop_front();
        if (runs_.size() > ahead_ / 2) {
            return run;
        }
    }
    changed_.notify_one();
    return run;
}

SMDEBUG_INLINE std::size_t run_feeder::size() const {
    const std::lock_guard lock{mutex_};
    return runs_.size();
}

SMDEBUG_INLINE bool run_feeder::is_empty() const {
    const std::lock_guard lock{mutex_};
    return ended_ && runs_.empty();
}

SMDEBUG_INLINE bool run_feeder::has_all() const {
    const std::lock_guard lock{mutex_};
    return has_all_;
}

SMDEBUG_INLINE bool run_feeder::has_ended() const {
    const std::lock_guard lock{mutex_};
    return ended_;
}

SMDEBUG_INLINE std::exception_ptr run_feeder::failure() const {
    const std::lock_guard lock{mutex_};
    return failure_;
}

SMDEBUG_INLINE void run_feeder::stop() {
    {
        const std::lock_guard lock{mutex_};
        stopped_ = true;
    }
    changed_.notify_all();
}

SMDEBUG_INLINE result_writer::result_writer(sink to, std::function<void()> wake, std::size_t few)
    : wake_(std::move(wake)), few_(few), thread_([this, to] { write(to); }) {}

SMDEBUG_INLINE result_writer::~result_writer() {
    {
        const std::lock_guard lock{mutex_};
        closed_ = true;
    }
    changed_.notify_all();
}

SMDEBUG_INLINE void result_writer::write(sink to) {
    std::unique_lock lock{mutex_};
    for (;;) {
        changed_.wait(lock, [&] { return closed_ || !results_.empty(); });
        if (results_.empty()) {
            return;
        }
        run_result result = std::move(results_.front());
        results_.pop_front();
        busy_ = true;
        lock.unlock();
        std::exception_ptr failure;
        try {
            to(std::move(result));
        } catch (...) {
            failure = std::current_exception();
        }
        lock.lock();
        busy_ = false;
        if (failure) {
            failure_ = failure;
            results_.clear();
            lock.unlock();
            wake_();
            return;
        }
        if (results_.empty() || results_.size() == few_) {
            wake_();
        }
    }
}

SMDEBUG_INLINE void result_writer::push(run_result result) {
    {
        const std::lock_guard lock{mutex_};
        if (failure_) {
            return;
        }
        results_.push_back(std::move(result));
    }
    changed_.notify_one();
}

SMDEBUG_INLINE std::size_t result_writer::waiting() const {
    const std::lock_guard lock{mutex_};
    return results_.size() + (busy_ ? 1 : 0);
}

SMDEBUG_INLINE std::exception_ptr result_writer::failure() const {
    const std::lock_guard lock{mutex_};
    return failure_;
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
