// The bodies of <smdebug/storage/cached_storage.hpp>.
#pragma once

#include <smdebug/storage/cached_storage.hpp>

#include <deque>
#include <exception>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace smdebug::inline v1 {

namespace detail {

/// Forgets the cached copy of an object on destruction, whether or not the change to it succeeded.
class forgetting {
public:
    forgetting(object_cache& cache, std::string_view changed) : cache_(cache), key_(changed) {}
    forgetting(const forgetting&) = delete;
    forgetting& operator=(const forgetting&) = delete;
    ~forgetting() { cache_.forget(key_); }

private:
    object_cache& cache_;
    std::string_view key_;
};

/// An object being written into a cached storage, whose cache it keeps alive.
class cached_output final : public object_output {
public:
    cached_output(std::shared_ptr<object_cache> cache, std::string_view key)
        : cache_(std::move(cache)), key_(key), inner_(cache_->inner().create(key_)) {}

    void append(std::span<const byte_view> pieces) override { inner_->append(pieces); }
    void commit(durability how) override {
        const forgetting changed{*cache_, key_};
        inner_->commit(how);
    }

private:
    std::shared_ptr<object_cache> cache_;
    std::string key_;
    std::unique_ptr<object_output> inner_;
};

/// Fetches pinned parts in the order of the requests, many with one call: from the cache if possible, the rest from
/// the inner storage. A folder keeps objects that are fetched whole; the memory does not, as they are held here anyway.
/// Destruction waits only for the request in flight. A forked child has no thread: a holder that has started must not
/// be used or destroyed there.
class object_holder final : public pinned_ranges {
public:
    explicit object_holder(std::shared_ptr<object_cache> cache)
        : cache_(std::move(cache)), thread_([this](const std::string&) { fetch_all(); }, 1, 1) {}
    object_holder(const object_holder&) = delete;
    object_holder& operator=(const object_holder&) = delete;
    ~object_holder() override {
        const std::lock_guard lock{guard_};
        ended_ = true;
        give_up();
        by_key_.clear();
    }

    void prefetch(std::span<const object_range> parts) override {
        const std::lock_guard lock{guard_};
        for (const object_range& each : parts) {
            const auto [part, fresh] = cache_->flights().pin(each.key, each.where);
            by_key_[std::string{each.key}].push_back(part);
            if (fresh) {
                queue_.push_back({.key = std::string{each.key}, .asked = each.where, .what = part});
            }
        }
        if (!queue_.empty() && !thread_.wish("")) {
            give_up();  // no thread available: readers fetch the parts themselves
        }
    }

    void release(std::string_view key) override {
        const std::lock_guard lock{guard_};
        by_key_.erase(std::string{key});
    }

private:
    static constexpr std::size_t most_at_once = 256;  // the most parts passed to the storage in one call

    struct request {
        std::string key;
        byte_range asked;
        std::weak_ptr<in_flight::part> what;
    };

    /// Fetches what is still wanted of the queue.
    void fetch_all() {
        for (std::vector<request> batch = next(); !batch.empty(); batch = next()) {
            std::vector<object_range> ranges;
            for (const request& each : batch) {
                ranges.push_back({each.key, each.asked});
            }
            std::size_t come = 0;
            try {
                cache_->fetch_parts(ranges,
                                    [&](std::size_t i, std::optional<byte_buffer> bytes, const object_version& of) {
                                        cache_->flights().put(batch[i].what, std::move(bytes), of);
                                        come = i + 1;
                                        return !has_ended();
                                    });
            } catch (const std::exception&) {
                // Reading them reports the error.
            }
            for (; come < batch.size(); ++come) {
                cache_->flights().put(batch[come].what, std::nullopt);
            }
        }
    }

    [[nodiscard]] std::vector<request> next() {
        const std::lock_guard lock{guard_};
        std::vector<request> batch;
        for (; !queue_.empty() && batch.size() < most_at_once; queue_.pop_front()) {
            if (!queue_.front().what.expired()) {  // still wanted
                batch.push_back(std::move(queue_.front()));
            }
        }
        return batch;
    }

    [[nodiscard]] bool has_ended() {
        const std::lock_guard lock{guard_};
        return ended_;
    }

    void give_up() {
        for (const request& each : std::exchange(queue_, {})) {
            cache_->flights().put(each.what, std::nullopt);
        }
    }

    std::shared_ptr<object_cache> cache_;  // shared: this may outlive the storage that made it
    std::mutex guard_;
    std::unordered_map<std::string, std::vector<in_flight::handle>> by_key_;
    std::deque<request> queue_;
    bool ended_ = false;
    fetch_crew thread_;  // destroyed first
};

}  // namespace detail

SMDEBUG_INLINE cached_storage::cached_storage(any_storage inner, cache_options options)
    : cache_(std::make_shared<detail::object_cache>(std::move(inner), std::move(options))) {}

SMDEBUG_INLINE storage_abilities cached_storage::abilities() const {
    storage_abilities can = inner().abilities();
    can.reads_ahead = cache_->options().threads_ahead > 0;
    can.opens_small = false;
    return can;
}

SMDEBUG_INLINE std::optional<byte_buffer> cached_storage::view(std::string_view key) const {
    std::optional<byte_buffer> whole = cache_->view(key);
    return whole ? whole : inner().view(key);
}

SMDEBUG_INLINE bool cached_storage::read_ahead(std::string_view key) const {
    const std::optional<bool> near = cache_->read_ahead(key);
    return near ? *near : inner().read_ahead(key);
}

SMDEBUG_INLINE std::unique_ptr<pinned_ranges> cached_storage::hold() const {
    return std::make_unique<detail::object_holder>(cache_);
}

SMDEBUG_INLINE void cached_storage::write(std::string_view key, byte_view bytes) {
    const detail::forgetting changed{*cache_, key};
    cache_->inner().write(key, bytes);
}

SMDEBUG_INLINE std::unique_ptr<object_output> cached_storage::create(std::string_view key) {
    return std::make_unique<detail::cached_output>(cache_, key);
}

SMDEBUG_INLINE bool cached_storage::remove(std::string_view key, durability how) {
    const detail::forgetting changed{*cache_, key};
    return cache_->inner().remove(key, how);
}

SMDEBUG_INLINE std::unique_ptr<object_claim> cached_storage::claim(std::string_view key, durability how) {
    cache_->pass(key);
    return cache_->inner().claim(key, how);
}

}  // namespace smdebug::inline v1
