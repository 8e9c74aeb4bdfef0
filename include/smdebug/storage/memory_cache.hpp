// A cache of whole objects in this process's memory: the least recently used ones go first.
// Used by: storage/cached_storage.hpp, storage/disk_cache.hpp.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/text_hash.hpp>
#include <smdebug/storage/object_cache.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace smdebug {
inline namespace v1 {

/// Holds at most `most_bytes` of objects, each with 256 bytes for what is noted of it.  Of one storage alone: it goes
/// by keys, and has one version of each.  Copies nothing: what it holds is shared with those who read it, and what it
/// lets go stays whole for them. Threads: everything may be called at once.  Cost: a look-up by hash, whatever is in
/// it.
class memory_cache {
public:
    static constexpr bool needs_versions = false;
    static constexpr std::uint64_t usual_bytes = std::uint64_t{256} << 20U;

    explicit memory_cache(std::uint64_t most_bytes = usual_bytes) : state_(std::make_unique<state>()) {
        state_->most = most_bytes;
    }

    /// The object, if it is there in this version; counts as a use.
    [[nodiscard]] std::optional<byte_buffer> find(const object_identity& what) {
        const std::lock_guard lock{state_->guard};
        const auto found = state_->places.find(what.key);
        if (found == state_->places.end() || found->second->version != what.version) {
            return std::nullopt;
        }
        state_->uses.splice(state_->uses.begin(), state_->uses, found->second);
        return found->second->bytes;
    }

    [[nodiscard]] bool holds(const object_identity& what) const {
        const std::lock_guard lock{state_->guard};
        const auto found = state_->places.find(what.key);
        return found != state_->places.end() && found->second->version == what.version;
    }

    /// Keeps the object, in the place of another version.  The buffer should be all of what it keeps alive.
    void keep(const object_identity& what, const byte_buffer& bytes) {
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
        state_->held += cost_of(bytes);
        while (state_->held > state_->most) {
            state_->remove(std::string_view{state_->uses.back().key});
        }
    }

    void drop(const object_identity& what) {
        const std::lock_guard lock{state_->guard};
        const auto found = state_->places.find(what.key);
        if (found != state_->places.end() && found->second->version == what.version) {
            state_->remove(what.key);
        }
    }
    void forget(std::string_view key) {
        const std::lock_guard lock{state_->guard};
        state_->remove(key);
    }
    void clear() {
        const std::lock_guard lock{state_->guard};
        state_->places.clear();
        state_->uses.clear();
        state_->held = 0;
    }

    [[nodiscard]] std::uint64_t largest() const noexcept {
        return state_->most > note_bytes ? state_->most - note_bytes : 0;
    }
    /// What counts against the bound now.
    [[nodiscard]] std::uint64_t held_bytes() const {
        const std::lock_guard lock{state_->guard};
        return state_->held;
    }

private:
    static constexpr std::uint64_t note_bytes = 256;

    struct entry {
        std::string key;
        std::string version;
        byte_buffer bytes;
    };
    [[nodiscard]] static std::uint64_t cost_of(const byte_buffer& bytes) noexcept { return bytes.size() + note_bytes; }

    struct state {
        std::mutex guard;
        std::uint64_t most = 0;
        std::uint64_t held = 0;
        std::list<entry> uses;  // the last used one first
        // By key, which the entry holds.
        std::unordered_map<std::string_view, std::list<entry>::iterator> places;

        void remove(std::string_view key) {
            if (const auto found = places.find(key); found != places.end()) {
                const auto gone = found->second;
                held -= cost_of(gone->bytes);
                places.erase(found);
                uses.erase(gone);
            }
        }
    };
    std::unique_ptr<state> state_;
};

static_assert(object_cache<memory_cache>);

}  // namespace v1
}  // namespace smdebug
