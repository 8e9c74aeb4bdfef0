// Threads that fetch what is wanted soon.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace smdebug::inline v1::detail {

/// Calls fetch(key) for the requested keys, on threads that are started when they are needed.
/// If too many requests are queued, the oldest are dropped. Errors of fetch are swallowed: reading the object reports
/// them.
/// Threads: wish() may be called concurrently; destruction drops queued requests and waits for running fetches.
/// A forked child has no threads: a crew that has started must not be used or destroyed there.
class fetch_crew {
public:
    fetch_crew(std::function<void(const std::string&)> fetch, std::size_t most_threads, std::size_t most_wishes)
        : fetch_(std::move(fetch)), most_threads_(most_threads), most_wishes_(most_wishes) {}
    fetch_crew(const fetch_crew&) = delete;
    fetch_crew& operator=(const fetch_crew&) = delete;
    ~fetch_crew();

    /// Returns at once, with whether there is a thread for it. A key that is already queued is not queued again.
    bool wish(std::string_view key);

private:
    void hire();

    void work();

    std::function<void(const std::string&)> fetch_;
    std::size_t most_threads_;
    std::size_t most_wishes_;
    std::mutex guard_;
    std::condition_variable wake_;
    std::deque<std::string> wishes_;  // oldest first
    std::size_t idle_ = 0;
    bool ended_ = false;
    std::vector<std::thread> threads_;
};

inline fetch_crew::~fetch_crew() {
    {
        const std::lock_guard lock{guard_};
        ended_ = true;
    }
    wake_.notify_all();
    for (std::thread& one : threads_) {
        one.join();
    }
}

inline bool fetch_crew::wish(std::string_view key) {
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

inline void fetch_crew::hire() {
    threads_.reserve(most_threads_);
    try {
        threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
        // No thread can be started: running threads serve the queue; without any, nothing is prefetched.
    }
}

inline void fetch_crew::work() {
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
