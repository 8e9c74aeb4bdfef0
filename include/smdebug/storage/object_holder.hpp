// The thread that brings what somebody holds of a cached storage's objects.
// Used by: storage/cached_storage.hpp.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/storage/cached_batch.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/held_parts.hpp>
#include <smdebug/storage/versioned_read.hpp>

#include <algorithm>
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

namespace smdebug {
inline namespace v1 {

/// Brings parts in the order in which they were asked for, many with one call: what is cached from there, the rest from
/// the inner storage.  A disk_cache keeps what comes whole; a memory_cache does not, as it is held anyway.
/// Destruction waits for what is under way, no more.  A forked child has no thread: a holder that has begun must not be
/// used or destroyed there.
template <class Reader>
class object_holder final : public held_objects {
public:
    explicit object_holder(std::shared_ptr<Reader> reader) : reader_(std::move(reader)) {}
    object_holder(const object_holder&) = delete;
    object_holder& operator=(const object_holder&) = delete;
    ~object_holder() override {
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

    void bring(std::span<const object_range> parts) override {
        const std::lock_guard lock{guard_};
        for (const object_range& each : parts) {
            auto [part, fresh] = table().promise(each.key, each.where);
            held_[std::string{each.key}].push_back(part);
            if (fresh) {
                to_bring_.push_back(std::move(part));
            }
        }
        if (!to_bring_.empty() && !thread_.joinable()) {
            try {
                thread_ = std::thread{[this] { work(); }};
            } catch (const std::system_error&) {
                give_up();  // no thread to be had: who wants them reads them
            }
        }
        wake_.notify_all();
    }

    void release(std::string_view key) override {
        const std::lock_guard lock{guard_};
        if (const auto held = held_.find(std::string{key}); held != held_.end()) {
            for (const handle& each : held->second) {
                table().release(each);
            }
            held_.erase(held);
        }
    }

private:
    using handle = held_parts::part_handle;
    struct nobody_waits {};
    static constexpr std::size_t most_at_once = 256;  // parts that are named to the storage in one call

    [[nodiscard]] held_parts& table() noexcept { return reader_->held(); }

    void release_all() {
        give_up();
        for (const auto& [key, parts] : held_) {
            for (const handle& each : parts) {
                table().release(each);
            }
        }
        held_.clear();
    }
    void give_up() {
        for (const handle& each : std::exchange(to_bring_, {})) {
            table().put(each, std::nullopt);
        }
    }

    void work() {
        std::vector<handle> batch;
        std::vector<object_range> ranges;
        while (next(batch)) {
            ranges.clear();
            for (const handle& each : batch) {
                ranges.push_back({each->key(), each->asked()});
            }
            std::size_t come = 0;
            object_version last;
            const auto take = [&](std::size_t place, std::optional<byte_buffer> bytes, const object_version& version) {
                const bool is_replaced =
                    place > 0 && batch[place]->key() == batch[place - 1]->key() && version.differs_from(last);
                last = version;
                if (is_replaced) {
                    table().forget(batch[place]->key());  // of two versions: who reads the parts reads them together
                    bytes.reset();
                }
                table().put(batch[place], std::move(bytes), version);
                come = place + 1;
                if (has_ended()) {
                    throw nobody_waits{};
                }
            };
            try {
                cached_batch{*reader_}.bring(ranges, take);
            } catch (const nobody_waits&) {
            } catch (const std::exception&) {
                // Who reads them is told.
            }
            for (; come < batch.size(); ++come) {
                table().put(batch[come], std::nullopt);
            }
        }
    }

    /// Waits for parts that are still held; false at the end.
    [[nodiscard]] bool next(std::vector<handle>& batch) {
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
    [[nodiscard]] bool has_ended() {
        const std::lock_guard lock{guard_};
        return ended_;
    }

    std::shared_ptr<Reader> reader_;  // outlives what it made
    std::mutex guard_;
    std::condition_variable wake_;
    std::unordered_map<std::string, std::vector<handle>> held_;
    std::deque<handle> to_bring_;
    bool ended_ = false;
    std::thread thread_;
};

}  // namespace v1
}  // namespace smdebug
