// The threads that prefetch whole objects into a cache.
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

namespace smdebug {
inline namespace v1 {
namespace detail {

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
    ~fetch_crew();

    /// Returns at once.  A key that is wished for already is wished for once.
    void wish(std::string_view key);

private:
    void hire();

    void work();

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

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/cache/impl/fetch_crew.ipp>
#endif
