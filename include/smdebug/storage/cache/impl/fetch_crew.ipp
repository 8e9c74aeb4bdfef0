// The bodies of <smdebug/storage/cache/fetch_crew.hpp>.
#pragma once

#include <smdebug/storage/cache/fetch_crew.hpp>

#include <algorithm>
#include <system_error>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE fetch_crew::~fetch_crew() {
    {
        const std::lock_guard lock{guard_};
        ended_ = true;
    }
    wake_.notify_all();
    for (std::thread& one : threads_) {
        one.join();
    }
}

SMDEBUG_INLINE bool fetch_crew::wish(std::string_view key) {
    const std::lock_guard lock{guard_};
    if (most_threads_ == 0 || most_wishes_ == 0) {
        return false;
    }
    if (std::find(wishes_.begin(), wishes_.end(), key) == wishes_.end()) {
        if (wishes_.size() >= most_wishes_) {
            wishes_.pop_front();
        }
        wishes_.emplace_back(key);
        if (wishes_.size() > idle_ && threads_.size() < most_threads_) {
            hire();
        }
        wake_.notify_one();
    }
    return !threads_.empty();
}

SMDEBUG_INLINE void fetch_crew::hire() {
    threads_.reserve(most_threads_);
    try {
        threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
        // No thread can be started: running threads serve the queue; without any, nothing is prefetched.
    }
}

SMDEBUG_INLINE void fetch_crew::work() {
    std::unique_lock lock{guard_};
    while (true) {
        ++idle_;
        wake_.wait(lock, [this] { return ended_ || !wishes_.empty(); });
        --idle_;
        if (ended_) {
            return;
        }
        const std::string key = std::move(wishes_.front());
        wishes_.pop_front();
        lock.unlock();
        try {
            fetch_(key);
        } catch (...) {
        }
        lock.lock();
    }
}

}  // namespace smdebug::inline v1::detail
