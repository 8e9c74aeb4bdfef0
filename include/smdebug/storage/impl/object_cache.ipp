// The bodies of <smdebug/storage/object_cache.hpp>.
#pragma once

#include <smdebug/storage/object_cache.hpp>

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace smdebug::inline v1 {

struct memory_cache::state {
    static constexpr std::uint64_t note_bytes = 256;

    struct entry {
        std::string key;
        std::string version;
        byte_buffer bytes;
    };
    [[nodiscard]] static std::uint64_t cost_of(const byte_buffer& bytes) noexcept { return bytes.size() + note_bytes; }

    std::mutex guard;
    std::uint64_t most = 0;
    std::uint64_t bytes = 0;  // of all entries, plus note_bytes for each
    std::list<entry> uses;    // most recently used first
    // By key, which the entry owns.
    std::unordered_map<std::string_view, std::list<entry>::iterator> places;

    void remove(std::string_view key) {
        if (const auto found = places.find(key); found != places.end()) {
            const auto gone = found->second;
            bytes -= cost_of(gone->bytes);
            places.erase(found);
            uses.erase(gone);
        }
    }
};

SMDEBUG_INLINE memory_cache::memory_cache(std::uint64_t most_bytes) : state_(std::make_unique<state>()) {
    state_->most = most_bytes;
}

SMDEBUG_INLINE memory_cache::memory_cache(memory_cache&&) noexcept = default;
SMDEBUG_INLINE memory_cache& memory_cache::operator=(memory_cache&&) noexcept = default;
SMDEBUG_INLINE memory_cache::~memory_cache() = default;

SMDEBUG_INLINE std::optional<byte_buffer> memory_cache::find(const object_identity& what) {
    const std::lock_guard lock{state_->guard};
    const auto found = state_->places.find(what.key);
    if (found == state_->places.end() || found->second->version != what.version) {
        return std::nullopt;
    }
    state_->uses.splice(state_->uses.begin(), state_->uses, found->second);
    return found->second->bytes;
}

SMDEBUG_INLINE bool memory_cache::holds(const object_identity& what) const {
    const std::lock_guard lock{state_->guard};
    const auto found = state_->places.find(what.key);
    return found != state_->places.end() && found->second->version == what.version;
}

SMDEBUG_INLINE void memory_cache::keep(const object_identity& what, const byte_buffer& bytes) {
    const std::lock_guard lock{state_->guard};
    state_->remove(what.key);
    if (bytes.size() > largest()) {
        return;
    }
    state_->uses.push_front({.key = std::string{what.key}, .version = std::string{what.version}, .bytes = bytes});
    try {
        state_->places.emplace(state_->uses.front().key, state_->uses.begin());
    } catch (...) {
        state_->uses.pop_front();
        throw;
    }
    state_->bytes += state::cost_of(bytes);
    while (state_->bytes > state_->most) {
        state_->remove(std::string_view{state_->uses.back().key});
    }
}

SMDEBUG_INLINE void memory_cache::drop(const object_identity& what) {
    const std::lock_guard lock{state_->guard};
    const auto found = state_->places.find(what.key);
    if (found != state_->places.end() && found->second->version == what.version) {
        state_->remove(what.key);
    }
}

SMDEBUG_INLINE void memory_cache::forget(std::string_view key) {
    const std::lock_guard lock{state_->guard};
    state_->remove(key);
}

SMDEBUG_INLINE void memory_cache::clear() {
    const std::lock_guard lock{state_->guard};
    state_->places.clear();
    state_->uses.clear();
    state_->bytes = 0;
}

SMDEBUG_INLINE std::uint64_t memory_cache::held_bytes() const {
    const std::lock_guard lock{state_->guard};
    return state_->bytes;
}

SMDEBUG_INLINE std::uint64_t memory_cache::largest() const noexcept {
    return state_->most > state::note_bytes ? state_->most - state::note_bytes : 0;
}

}  // namespace smdebug::inline v1
