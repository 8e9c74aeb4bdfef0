// A storage that is a map in memory: the reference of what a storage does, and a place for runs that never see a disk.
// Used by: tests, rules inside the training process.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/storage/announcer.hpp>
#include <smdebug/storage/change_signal.hpp>
#include <smdebug/storage/concepts.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// Objects in memory.  Copies are handles on the same objects, so that a writer and a trial can share one.
/// Reading shares the bytes: no copy, and an object that is replaced stays whole for those who hold it.
/// Threads: everything may be called at once.
class memory_storage {
    struct state;

public:
    class follower;

    /// `label` is what name() gives, as "memory:<label>".
    memory_storage() : memory_storage("run") {}
    explicit memory_storage(const std::string& label) : name_("memory:" + label), state_(std::make_shared<state>()) {}

    /// The whole object.  Errors: not_found.
    [[nodiscard]] byte_buffer read(std::string_view key) const {
        const std::shared_lock lock{state_->guard};
        const auto found = state_->objects.find(key);
        if (found == state_->objects.end()) {
            throw not_found("there is no object " + std::string{key} + " in " + name_, {.where = std::string{key}});
        }
        return found->second.bytes;
    }

    /// A part of it, cut at its end.  Errors: not_found.
    [[nodiscard]] byte_buffer read(std::string_view key, byte_range where) const { return read(key).slice(where); }

    /// The whole object, as read() gives it; nothing where it is not there.
    [[nodiscard]] std::optional<byte_buffer> view(std::string_view key) const {
        const std::shared_lock lock{state_->guard};
        const auto found = state_->objects.find(key);
        return found == state_->objects.end() ? std::nullopt : std::optional{found->second.bytes};
    }

    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const {
        const std::shared_lock lock{state_->guard};
        const std::string_view start = after > prefix ? after : prefix;
        std::vector<std::string> keys;
        for (auto at = state_->objects.lower_bound(start); at != state_->objects.end(); ++at) {
            if (!at->first.starts_with(prefix)) {
                break;
            }
            if (at->first != after) {
                keys.push_back(at->first);
            }
        }
        return keys;
    }

    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const {
        const std::shared_lock lock{state_->guard};
        const auto found = state_->objects.find(key);
        return found == state_->objects.end() ? std::nullopt : std::optional<std::uint64_t>{found->second.bytes.size()};
    }

    /// When the object was last written, by this machine's clock.
    [[nodiscard]] std::optional<std::chrono::system_clock::time_point> modified(std::string_view key) const {
        const std::shared_lock lock{state_->guard};
        const auto found = state_->objects.find(key);
        return found == state_->objects.end() ? std::nullopt : std::optional{found->second.written};
    }

    /// Gives each key that starts with `prefix` when it has appeared; one that went and came back comes again.
    [[nodiscard]] follower follow(std::string_view prefix) const;

    /// A signal that wakes at each write and removal of a key that starts with one of the prefixes.
    [[nodiscard]] std::unique_ptr<change_signal> watch(std::span<const std::string> prefixes) const {
        return state_->announces.watch(prefixes);
    }

    [[nodiscard]] std::string name() const { return name_; }

    /// Puts an object there, or another in its place.  Copies the bytes.
    void write(std::string_view key, byte_view bytes) {
        auto buffer = byte_buffer::take(std::vector<std::byte>(bytes.begin(), bytes.end()));
        {
            const std::unique_lock lock{state_->guard};
            const auto [at, is_new] = state_->objects.try_emplace(std::string{key});
            if (is_new) {
                try {
                    state_->arrivals.emplace_hint(state_->arrivals.end(), state_->next_arrival, at->first);
                } catch (...) {
                    state_->objects.erase(at);
                    throw;
                }
                at->second.arrival = state_->next_arrival++;
            }
            at->second.bytes = std::move(buffer);
            at->second.written = std::chrono::system_clock::now();
        }
        state_->announces.announce(key);
    }

    /// Takes an object away.  Returns whether it was there.
    bool remove(std::string_view key) {
        {
            const std::unique_lock lock{state_->guard};
            const auto found = state_->objects.find(key);
            if (found == state_->objects.end()) {
                return false;
            }
            state_->arrivals.erase(found->second.arrival);
            state_->objects.erase(found);
        }
        state_->announces.announce(key);
        return true;
    }

private:
    struct object {
        byte_buffer bytes;
        std::chrono::system_clock::time_point written;
        std::uint64_t arrival = 0;
    };
    struct state {
        mutable std::shared_mutex guard;
        std::map<std::string, object, std::less<>> objects;
        std::map<std::uint64_t, std::string_view> arrivals;  // the objects' keys in the order of their coming
        std::uint64_t next_arrival = 1;
        announcer announces;
    };
    std::string name_;
    std::shared_ptr<state> state_;
};

/// Lists what has come into a memory_storage, which it keeps alive; models key_follower.  Never gives a key twice,
/// unless it went in between.
/// Cost: one step for each key that has come, whatever its prefix.  Threads: one at a time.
class memory_storage::follower {
public:
    [[nodiscard]] std::vector<std::string> next() {
        const std::shared_lock lock{state_->guard};
        std::vector<std::string> keys;
        for (auto at = state_->arrivals.lower_bound(next_arrival_); at != state_->arrivals.end(); ++at) {
            if (at->second.starts_with(prefix_)) {
                keys.emplace_back(at->second);
            }
        }
        std::sort(keys.begin(), keys.end());
        next_arrival_ = state_->next_arrival;
        return keys;
    }

    /// Makes the next call list everything.
    void forget() noexcept { next_arrival_ = 0; }

private:
    friend class memory_storage;
    follower(std::shared_ptr<const state> followed, std::string_view prefix)
        : state_(std::move(followed)), prefix_(prefix) {}

    std::shared_ptr<const state> state_;
    std::string prefix_;
    std::uint64_t next_arrival_ = 0;
};

inline memory_storage::follower memory_storage::follow(std::string_view prefix) const {
    return follower{state_, prefix};
}

static_assert(writable_storage<memory_storage> && viewing_storage<memory_storage>);
static_assert(followable_storage<memory_storage> && announcing_storage<memory_storage> &&
              dated_storage<memory_storage>);

}  // namespace v1
}  // namespace smdebug
