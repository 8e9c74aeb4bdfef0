// The threads that prefetch for a cached storage: parts for a holder, and whole objects.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/storage/cache/held_parts.hpp>
#include <smdebug/storage/cache/object_cache.hpp>
#include <smdebug/storage/concepts.hpp>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace smdebug::inline v1::detail {

/// Fetches parts in the order of the requests, many with one call: from the cache if possible, the rest from the inner
/// storage. A folder keeps objects that are fetched whole; the memory does not, as they are held there anyway.
/// Destruction waits only for the request in flight. A forked child has no thread: a holder that has started must not
/// be used or destroyed there.
class object_holder final : public pinned_ranges {
public:
    explicit object_holder(std::shared_ptr<object_cache> cache) : cache_(std::move(cache)) {}
    object_holder(const object_holder&) = delete;
    object_holder& operator=(const object_holder&) = delete;
    SMDEBUG_INLINE ~object_holder() override;

    SMDEBUG_INLINE void prefetch(std::span<const object_range> parts) override;

    SMDEBUG_INLINE void release(std::string_view key) override;

private:
    using handle = held_parts::part_handle;
    static constexpr std::size_t most_at_once = 256;  // the most parts passed to the storage in one call

    [[nodiscard]] held_parts& table() noexcept { return cache_->parts(); }

    void release_all();
    void give_up();

    void work();

    /// Waits for parts that are still held; false at the end.
    [[nodiscard]] bool next(std::vector<handle>& batch);
    [[nodiscard]] bool has_ended();

    std::shared_ptr<object_cache> cache_;  // shared: this may outlive the storage that made it
    std::mutex guard_;
    std::condition_variable wake_;
    std::unordered_map<std::string, std::vector<handle>> by_key_;
    std::deque<handle> to_bring_;
    bool ended_ = false;
    std::thread thread_;
};

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

    /// Returns at once. A key that is already queued is not queued again.
    void wish(std::string_view key);

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
#include <smdebug/storage/cache/impl/prefetch.ipp>
#endif
