// The thread that prefetches the parts of a cached storage's objects for a holder.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/storage/batch_read.hpp>
#include <smdebug/storage/cache/cached_batch.hpp>
#include <smdebug/storage/cache/held_parts.hpp>
#include <smdebug/storage/concepts.hpp>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace smdebug::inline v1::detail {

/// Fetches parts in the order of the requests, many with one call: from the cache if possible, the rest from the inner
/// storage. A disk_cache keeps objects that are fetched whole; a memory_cache does not, as they are held in memory
/// anyway.
/// Destruction waits only for the request in flight. A forked child has no thread: a holder that has started must not
/// be used or destroyed there.
template <class Reader>
class object_holder final : public pinned_ranges {
public:
    explicit object_holder(std::shared_ptr<Reader> reader) : reader_(std::move(reader)) {}
    object_holder(const object_holder&) = delete;
    object_holder& operator=(const object_holder&) = delete;
    ~object_holder() override;

    void prefetch(std::span<const object_range> parts) override;

    void release(std::string_view key) override;

private:
    using handle = held_parts::part_handle;
    struct has_no_holder {};                          // ends a batch whose holder is being destroyed
    static constexpr std::size_t most_at_once = 256;  // the most parts passed to the storage in one call

    [[nodiscard]] held_parts& table() noexcept { return reader_->parts(); }

    void release_all();
    void give_up();

    void work();

    /// Waits for parts that are still held; false at the end.
    [[nodiscard]] bool next(std::vector<handle>& batch);
    [[nodiscard]] bool has_ended();

    std::shared_ptr<Reader> reader_;  // shared: this may outlive the storage that made it
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

template <class Reader>
object_holder<Reader>::~object_holder() {
    {
        const std::lock_guard lock{guard_};
        ended_ = true;
        release_all();
    }
    wake_.notify_all();
    if (thread_.joinable()) {
        thread_.join();
    }
}

template <class Reader>
void object_holder<Reader>::prefetch(std::span<const object_range> parts) {
    const std::lock_guard lock{guard_};
    for (const object_range& each : parts) {
        auto [part, fresh] = table().promise(each.key, each.where);
        by_key_[std::string{each.key}].push_back(part);
        if (fresh) {
            to_bring_.push_back(std::move(part));
        }
    }
    if (!to_bring_.empty() && !thread_.joinable()) {
        try {
            thread_ = std::thread{[this] { work(); }};
        } catch (const std::system_error&) {
            give_up();  // no thread available: readers fetch the parts themselves
        }
    }
    wake_.notify_all();
}

template <class Reader>
void object_holder<Reader>::release(std::string_view key) {
    const std::lock_guard lock{guard_};
    if (const auto parts = by_key_.find(std::string{key}); parts != by_key_.end()) {
        for (const handle& each : parts->second) {
            table().release(each);
        }
        by_key_.erase(parts);
    }
}

template <class Reader>
void object_holder<Reader>::release_all() {
    give_up();
    for (const auto& [key, parts] : by_key_) {
        for (const handle& each : parts) {
            table().release(each);
        }
    }
    by_key_.clear();
}

template <class Reader>
void object_holder<Reader>::give_up() {
    for (const handle& each : std::exchange(to_bring_, {})) {
        table().put(each, std::nullopt);
    }
}

template <class Reader>
void object_holder<Reader>::work() {
    std::vector<handle> batch;
    std::vector<object_range> ranges;
    while (next(batch)) {
        ranges.clear();
        for (const handle& each : batch) {
            ranges.push_back({each->key(), each->asked()});
        }
        std::size_t come = 0;
        const auto take = [&](std::size_t place, std::optional<byte_buffer> bytes, const object_version& version) {
            table().put(batch[place], std::move(bytes), version);
            come = place + 1;
            if (has_ended()) {
                throw has_no_holder{};
            }
        };
        try {
            cached_batch{*reader_}.prefetch(ranges, take);
        } catch (const has_no_holder&) {
        } catch (const std::exception&) {
            // Reading them reports the error.
        }
        for (; come < batch.size(); ++come) {
            table().put(batch[come], std::nullopt);
        }
    }
}

template <class Reader>
bool object_holder<Reader>::next(std::vector<handle>& batch) {
    batch.clear();
    std::unique_lock lock{guard_};
    while (batch.empty()) {
        wake_.wait(lock, [this] { return ended_ || !to_bring_.empty(); });
        if (ended_) {
            return false;
        }
        for (; !to_bring_.empty() && batch.size() < most_at_once; to_bring_.pop_front()) {
            if (table().is_held(to_bring_.front())) {
                batch.push_back(std::move(to_bring_.front()));
            } else {
                table().put(to_bring_.front(), std::nullopt);
            }
        }
    }
    return true;
}

template <class Reader>
bool object_holder<Reader>::has_ended() {
    const std::lock_guard lock{guard_};
    return ended_;
}

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/cache/impl/object_holder.ipp>
#endif
