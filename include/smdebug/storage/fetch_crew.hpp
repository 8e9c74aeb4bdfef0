// Some threads that fetch what will be wanted soon.
// Used by: storage/cached_storage.hpp.
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

namespace smdebug {
inline namespace v1 {

/// Calls fetch(key) for the keys that are wished for, on threads that are started when they are needed.
/// Of too many wishes the oldest are dropped.  What fetch throws is swallowed: whoever reads the object will be told.
/// Threads: wish() may be called at once; destruction drops the wishes, and waits for the fetches that are under way.
/// A forked child has no threads: a crew that has begun must not be used or destroyed there.
class fetch_crew {
public:
    fetch_crew(std::function<void(const std::string&)> fetch, std::size_t most_threads, std::size_t most_wishes)
        : fetch_(std::move(fetch)), most_threads_(most_threads), most_wishes_(most_wishes) {}
    fetch_crew(const fetch_crew&) = delete;
    fetch_crew& operator=(const fetch_crew&) = delete;
    ~fetch_crew() {
        {
            const std::lock_guard lock{guard_};
            ended_ = true;
        }
        wake_.notify_all();
        for (std::thread& one : threads_) {
            one.join();
        }
    }

    /// Returns at once.  A key that is wished for already is wished for once.
    void wish(std::string_view key) {
        const std::lock_guard lock{guard_};
        if (most_threads_ == 0 || most_wishes_ == 0 ||
            std::find(wishes_.begin(), wishes_.end(), key) != wishes_.end()) {
            return;
        }
        if (wishes_.size() >= most_wishes_) {
            wishes_.pop_front();
        }
        wishes_.emplace_back(key);
        if (wishes_.size() > idle_ && threads_.size() < most_threads_) {
            hire();
        }
        wake_.notify_one();
    }

private:
    void hire() {
        threads_.reserve(most_threads_);
        try {
            threads_.emplace_back([this] { work(); });
        } catch (const std::system_error&) {
            // No more threads to be had: those that are there have to do, or nothing is read ahead.
        }
    }

    void work() {
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

    std::function<void(const std::string&)> fetch_;
    std::size_t most_threads_;
    std::size_t most_wishes_;
    std::mutex guard_;
    std::condition_variable wake_;
    std::deque<std::string> wishes_;  // the oldest first
    std::size_t idle_ = 0;
    bool ended_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace v1
}  // namespace smdebug
