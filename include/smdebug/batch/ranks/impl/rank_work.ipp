// The bodies of <smdebug/batch/ranks/rank_work.hpp>.
#pragma once

#include <smdebug/batch/ranks/rank_work.hpp>

#include <utility>

namespace smdebug {
inline namespace v1 {

SMDEBUG_INLINE std::optional<batch_run> rank_work::next() {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return closed_ || !runs_.empty() || stop_.stop_requested(); });
    if (runs_.empty() || stop_.stop_requested()) {
        return std::nullopt;
    }
    batch_run run = std::move(runs_.front());
    runs_.pop_front();
    return run;
}

SMDEBUG_INLINE void rank_work::emit(run_result&& result) {
    {
        const std::lock_guard lock{mutex_};
        results_.push_back(std::move(result));
    }
    wake_();
}

SMDEBUG_INLINE void rank_work::start(engine run) {
    thread_ = std::jthread{[this, run] {
        std::exception_ptr failure;
        try {
            run(*this, stop_.get_token());
        } catch (...) {
            failure = std::current_exception();
        }
        {
            const std::lock_guard lock{mutex_};
            failure_ = failure;
            ended_ = true;
        }
        wake_();
    }};
}

SMDEBUG_INLINE void rank_work::give(batch_run run) {
    {
        const std::lock_guard lock{mutex_};
        runs_.push_back(std::move(run));
    }
    changed_.notify_one();
}

SMDEBUG_INLINE void rank_work::close() {
    {
        const std::lock_guard lock{mutex_};
        closed_ = true;
    }
    changed_.notify_all();
}

SMDEBUG_INLINE void rank_work::stop() {
    stop_.request_stop();
    // Whoever has looked at the token but does not wait yet, holds the mutex.
    { const std::lock_guard lock{mutex_}; }
    changed_.notify_all();
}

SMDEBUG_INLINE std::vector<run_result> rank_work::take() {
    const std::lock_guard lock{mutex_};
    return std::exchange(results_, {});
}

SMDEBUG_INLINE bool rank_work::has_ended() const {
    const std::lock_guard lock{mutex_};
    return ended_;
}

SMDEBUG_INLINE std::exception_ptr rank_work::failure() const {
    const std::lock_guard lock{mutex_};
    return failure_;
}

}  // namespace v1
}  // namespace smdebug
