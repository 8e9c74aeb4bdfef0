// The bodies of <smdebug/storage/cache/prefetch.hpp>.
#pragma once

#include <smdebug/storage/cache/prefetch.hpp>

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

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

SMDEBUG_INLINE void fetch_crew::wish(std::string_view key) {
    const std::lock_guard lock{guard_};
    if (most_threads_ == 0 || most_wishes_ == 0 || std::find(wishes_.begin(), wishes_.end(), key) != wishes_.end()) {
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

SMDEBUG_INLINE object_holder::~object_holder() {
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

SMDEBUG_INLINE void object_holder::prefetch(std::span<const object_range> parts) {
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

SMDEBUG_INLINE void object_holder::release(std::string_view key) {
    const std::lock_guard lock{guard_};
    if (const auto parts = by_key_.find(std::string{key}); parts != by_key_.end()) {
        for (const handle& each : parts->second) {
            table().release(each);
        }
        by_key_.erase(parts);
    }
}

SMDEBUG_INLINE void object_holder::release_all() {
    give_up();
    for (const auto& [key, parts] : by_key_) {
        for (const handle& each : parts) {
            table().release(each);
        }
    }
    by_key_.clear();
}

SMDEBUG_INLINE void object_holder::give_up() {
    for (const handle& each : std::exchange(to_bring_, {})) {
        table().put(each, std::nullopt);
    }
}

SMDEBUG_INLINE void object_holder::work() {
    std::vector<handle> batch;
    std::vector<object_range> ranges;
    while (next(batch)) {
        ranges.clear();
        for (const handle& each : batch) {
            ranges.push_back({each->key(), each->asked()});
        }
        std::size_t come = 0;
        try {
            cache_->bring(ranges,
                          [&](std::size_t place, std::optional<byte_buffer> bytes, const object_version& version) {
                              table().put(batch[place], std::move(bytes), version);
                              come = place + 1;
                              return !has_ended();
                          });
        } catch (const std::exception&) {
            // Reading them reports the error.
        }
        for (; come < batch.size(); ++come) {
            table().put(batch[come], std::nullopt);
        }
    }
}

SMDEBUG_INLINE bool object_holder::next(std::vector<handle>& batch) {
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

SMDEBUG_INLINE bool object_holder::has_ended() {
    const std::lock_guard lock{guard_};
    return ended_;
}

}  // namespace smdebug::inline v1::detail
