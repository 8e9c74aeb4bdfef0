// The bodies of <smdebug/storage/cache/object_holder.hpp> that are templates.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/storage/cache/cached_batch.hpp>
#include <smdebug/storage/cache/object_holder.hpp>
#include <smdebug/storage/versioned_read.hpp>

#include <exception>
#include <optional>
#include <system_error>

namespace smdebug {
inline namespace v1 {
namespace detail {

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
void object_holder<Reader>::bring(std::span<const object_range> parts) {
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
            give_up();  // no thread to be had: readers fetch the parts themselves
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
            cached_batch{*reader_}.bring(ranges, take);
        } catch (const has_no_holder&) {
        } catch (const std::exception&) {
            // Reading them will tell why.
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

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
