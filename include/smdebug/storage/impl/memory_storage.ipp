// The bodies of <smdebug/storage/memory_storage.hpp>.
#pragma once

#include <smdebug/storage/announcer.hpp>
#include <smdebug/storage/memory_storage.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <shared_mutex>

namespace smdebug::inline v1 {

struct memory_storage::object {
    byte_buffer bytes;
    std::chrono::system_clock::time_point written;
    std::uint64_t arrival = 0;
    std::uint64_t write = 0;  // its number

    [[nodiscard]] std::string version() const {
        return std::to_string(write) + "@" + std::to_string(written.time_since_epoch().count());
    }
};

struct memory_storage::state {
    mutable std::shared_mutex guard;
    std::map<std::string, object, std::less<>> objects;
    std::map<std::uint64_t, std::string_view> arrivals;  // the objects' keys in order of arrival
    std::uint64_t next_arrival = 1;
    std::uint64_t writes = 0;
    detail::announcer announces;

    // The object, which shares its bytes; nothing if there is none.
    [[nodiscard]] std::optional<object> find(std::string_view key) const {
        const std::shared_lock lock{guard};
        const auto found = objects.find(key);
        return found == objects.end() ? std::nullopt : std::optional{found->second};
    }

    // The object, which must exist. Errors: not_found, with the storage's name.
    [[nodiscard]] object at(std::string_view key, const std::string& name) const {
        if (auto found = find(key)) {
            return *std::move(found);
        }
        throw not_found{"there is no object " + std::string{key} + " in " + name, {.where = std::string{key}}};
    }

    // Stores an object, and replaces another unless that is to stay; returns whether it did.
    bool put(std::string_view key, byte_buffer bytes, bool replace = true);

    // Removes an object; with `only`, unless it has been replaced by bytes other than these.
    bool take_away(std::string_view key, const byte_buffer* only = nullptr);
};

SMDEBUG_INLINE memory_storage::memory_storage(const std::string& label)
    : name_("memory:" + label), state_(std::make_shared<state>()) {}

SMDEBUG_INLINE byte_buffer memory_storage::read(std::string_view key, byte_range where) const {
    return state_->at(key, name_).bytes.slice(where);
}

SMDEBUG_INLINE versioned_object memory_storage::read_versioned(std::string_view key) const {
    const object found = state_->at(key, name_);
    return {.bytes = found.bytes, .version = found.version()};
}

SMDEBUG_INLINE std::optional<byte_buffer> memory_storage::view(std::string_view key) const {
    const auto found = state_->find(key);
    return found ? std::optional{found->bytes} : std::nullopt;
}

SMDEBUG_INLINE std::vector<std::string> memory_storage::list(std::string_view prefix, std::string_view after) const {
    const std::shared_lock lock{state_->guard};
    return detail::listed_keys(state_->objects, prefix, after);
}

SMDEBUG_INLINE std::optional<std::vector<object_entry>> memory_storage::entries(std::string_view prefix,
                                                                                std::string_view after,
                                                                                std::size_t most) const {
    const std::shared_lock lock{state_->guard};
    std::vector<object_entry> found;
    detail::each_listed(state_->objects, prefix, after, [&](const std::string& key, const object& stored) {
        if (found.size() == most) {
            return false;
        }
        found.push_back({.key = key, .size = stored.bytes.size(), .version = stored.version()});
        return true;
    });
    return found;
}

SMDEBUG_INLINE std::optional<std::uint64_t> memory_storage::size(std::string_view key) const {
    const auto found = state_->find(key);
    return found ? std::optional<std::uint64_t>{found->bytes.size()} : std::nullopt;
}

SMDEBUG_INLINE std::optional<std::chrono::system_clock::time_point> memory_storage::modified(
    std::string_view key) const {
    const auto found = state_->find(key);
    return found ? std::optional{found->written} : std::nullopt;
}

SMDEBUG_INLINE std::unique_ptr<change_signal> memory_storage::watch(std::span<const std::string> prefixes) const {
    return state_->announces.watch(prefixes);
}

SMDEBUG_INLINE void memory_storage::write(std::string_view key, byte_view bytes) {
    state_->put(key, byte_buffer::take(std::vector<std::byte>(bytes.begin(), bytes.end())));
}

SMDEBUG_INLINE bool memory_storage::remove(std::string_view key, durability /*none is more than another*/) {
    return state_->take_away(key);
}

SMDEBUG_INLINE bool memory_storage::state::put(std::string_view key, byte_buffer bytes, bool replace) {
    {
        const std::unique_lock lock{guard};
        const auto [at, is_new] = objects.try_emplace(std::string{key});
        if (is_new) {
            try {
                arrivals.emplace_hint(arrivals.end(), next_arrival, at->first);
            } catch (...) {
                objects.erase(at);
                throw;
            }
        } else if (!replace) {
            return false;
        } else {  // its key arrives once more
            auto again = arrivals.extract(at->second.arrival);
            again.key() = next_arrival;
            arrivals.insert(std::move(again));
        }
        at->second.arrival = next_arrival++;
        at->second.bytes = std::move(bytes);
        at->second.written = std::chrono::system_clock::now();
        at->second.write = ++writes;
    }
    announces.announce(key);
    return true;
}

SMDEBUG_INLINE bool memory_storage::state::take_away(std::string_view key, const byte_buffer* only) {
    {
        const std::unique_lock lock{guard};
        const auto found = objects.find(key);
        if (found == objects.end() || (only != nullptr && found->second.bytes.owner() != only->owner())) {
            return false;
        }
        arrivals.erase(found->second.arrival);
        objects.erase(found);
    }
    announces.announce(key);
    return true;
}

/// Returns a key again each time it was written since.
class memory_storage::follower final : public key_follower {
public:
    follower(std::shared_ptr<const state> followed, std::string_view prefix)
        : state_(std::move(followed)), prefix_(prefix) {}

    [[nodiscard]] std::vector<std::string> next() override {
        const std::shared_lock lock{state_->guard};
        std::vector<std::string> keys;
        for (auto arrival = state_->arrivals.lower_bound(next_arrival_); arrival != state_->arrivals.end(); ++arrival) {
            if (arrival->second.starts_with(prefix_)) {
                keys.emplace_back(arrival->second);
            }
        }
        std::sort(keys.begin(), keys.end());
        next_arrival_ = state_->next_arrival;
        return keys;
    }
    void forget() override { next_arrival_ = 0; }

private:
    std::shared_ptr<const state> state_;
    std::string prefix_;
    std::uint64_t next_arrival_ = 0;
};

SMDEBUG_INLINE std::unique_ptr<key_follower> memory_storage::follow(std::string_view prefix) const {
    return std::make_unique<follower>(state_, prefix);
}

class memory_storage::output final : public object_output {
public:
    output(std::shared_ptr<state> place, std::string_view key) : state_(std::move(place)), key_(key) {}

    void append(std::span<const byte_view> pieces) override { detail::gather(bytes_, pieces); }
    void commit(durability /*none is more than another*/) override {
        state_->put(key_, byte_buffer::take(std::exchange(bytes_, {})));
    }

private:
    std::shared_ptr<state> state_;
    std::string key_;
    std::vector<std::byte> bytes_;
};

SMDEBUG_INLINE std::unique_ptr<object_output> memory_storage::create(std::string_view key) {
    return std::make_unique<output>(state_, key);
}

class memory_storage::held_key final : public object_claim {
public:
    held_key(std::shared_ptr<state> place, std::string_view key)
        : key_(key), object_(byte_buffer::take(std::string{"smdebug, in memory\n"})) {
        if (!place->put(key, object_, false)) {
            throw unavailable(error_code::in_use,
                              "the object " + key_ +
                                  " is held by another writer, or is something else. Wait for its end, "
                                  "remove the object if it is not needed, or write elsewhere.",
                              {.where = key_});
        }
        state_ = std::move(place);
    }
    ~held_key() override { held_key::release(); }

    /// Removes the object, unless others removed or replaced it.
    void release() noexcept override {
        if (const auto place = std::exchange(state_, nullptr)) {
            place->take_away(key_, &object_);
        }
    }

private:
    std::shared_ptr<state> state_;  // null if nothing is held
    std::string key_;
    byte_buffer object_;
};

SMDEBUG_INLINE std::unique_ptr<object_claim> memory_storage::claim(std::string_view key,
                                                                   durability /*none is more than another*/) {
    return std::make_unique<held_key>(state_, key);
}

}  // namespace smdebug::inline v1
