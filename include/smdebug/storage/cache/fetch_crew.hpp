// Threads that fetch what is wanted soon.
#pragma once

#include <smdebug/core/form.hpp>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
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

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/cache/impl/fetch_crew.ipp>
#endif
