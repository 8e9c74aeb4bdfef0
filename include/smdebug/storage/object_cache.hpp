// What a cache of whole objects must offer, and how it identifies them.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/text_hash.hpp>
#include <smdebug/storage/concepts.hpp>

#include <concepts>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace smdebug::inline v1 {

/// Identifies an object and one of the versions under its key. Borrows.
struct object_identity {
    std::string_view place;    ///< the storage's name
    std::string_view key;      ///< in that storage
    std::string_view version;  ///< as in entries(); empty if the storage has no versions
};

/// Keeps whole objects of one storage, as long as it chooses. A type C models `object_cache` when:
///  1. find(what) returns the bytes that were kept under exactly that identity, or nothing; never others, never a part;
///  2. holds(what) says, at a lower cost, whether find() is likely to return something;
///  3. keep(what, bytes) may keep them; after forget(key) or clear() find() returns nothing for objects without a
///     version, after drop(what) nothing for this one;
///  4. none of them throws an error of the library: a cache that does not work is an empty one;
///  5. largest() is the size in bytes of the largest object that it would keep;
///  6. everything may be called concurrently on many threads.
/// `needs_versions` says that every object must have a version, as the cache outlives the process.
template <class C>
concept object_cache = std::movable<C> && requires(C& cache, const C& seen, const object_identity& what,
                                                   const byte_buffer& bytes, std::string_view key) {
    { cache.find(what) } -> std::same_as<std::optional<byte_buffer>>;
    { cache.holds(what) } -> std::same_as<bool>;
    { cache.keep(what, bytes) } -> std::same_as<void>;
    { cache.drop(what) } -> std::same_as<void>;
    { cache.forget(key) } -> std::same_as<void>;
    { cache.clear() } -> std::same_as<void>;
    { seen.largest() } -> std::same_as<std::uint64_t>;
    { C::needs_versions } -> std::convertible_to<bool>;
};

/// A cache that may be used for a storage.
template <class C, class Inner>
concept cache_of = object_cache<C> && (!C::needs_versions || versioned_storage<Inner>);

/// Optional: keep_aside(what, bytes) and find_aside(what) do the same for a scan, which reads everything once: they
/// evict nothing that is used repeatedly, and the bytes are borrowed. A cache without them keeps nothing of scans.
template <class C>
concept scan_cache = object_cache<C> && requires(C& cache, const object_identity& what, byte_view bytes) {
    { cache.keep_aside(what, bytes) } -> std::same_as<void>;
    { cache.find_aside(what) } -> std::same_as<std::optional<byte_buffer>>;
};

/// A cache of whole objects in this process's memory, which evicts the least recently used ones first.
/// Holds at most `most_bytes` of objects, counting 256 bytes of overhead for each. For one storage only: it identifies
/// objects by key and has one version of each. Copies nothing: it shares its buffers with readers, and an evicted
/// object stays whole for them.
/// Threads: everything may be called concurrently. Cost: a hash look-up, whatever its size.
class memory_cache {
public:
    static constexpr bool needs_versions = false;
    static constexpr std::uint64_t usual_bytes = std::uint64_t{256} << 20U;

    explicit memory_cache(std::uint64_t most_bytes = usual_bytes);

    /// The object, if it is cached in this version; counts as a use.
    [[nodiscard]] std::optional<byte_buffer> find(const object_identity& what);

    [[nodiscard]] bool holds(const object_identity& what) const;

    /// Caches the object and replaces another version. The buffer should not keep more memory alive than its own bytes.
    void keep(const object_identity& what, const byte_buffer& bytes);

    void drop(const object_identity& what);
    void forget(std::string_view key);
    void clear();

    [[nodiscard]] std::uint64_t largest() const noexcept {
        return state_->most > note_bytes ? state_->most - note_bytes : 0;
    }
    /// The number of bytes that count against the bound now.
    [[nodiscard]] std::uint64_t held_bytes() const;

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
        std::uint64_t bytes = 0;  // of all entries, plus note_bytes for each
        std::list<entry> uses;    // most recently used first
        // By key, which the entry owns.
        std::unordered_map<std::string_view, std::list<entry>::iterator> places;

        void remove(std::string_view key);
    };
    std::unique_ptr<state> state_;
};

static_assert(object_cache<memory_cache>);

inline memory_cache::memory_cache(std::uint64_t most_bytes) : state_(std::make_unique<state>()) {
    state_->most = most_bytes;
}

inline std::optional<byte_buffer> memory_cache::find(const object_identity& what) {
    const std::lock_guard lock{state_->guard};
    const auto found = state_->places.find(what.key);
    if (found == state_->places.end() || found->second->version != what.version) {
        return std::nullopt;
    }
    state_->uses.splice(state_->uses.begin(), state_->uses, found->second);
    return found->second->bytes;
}

inline bool memory_cache::holds(const object_identity& what) const {
    const std::lock_guard lock{state_->guard};
    const auto found = state_->places.find(what.key);
    return found != state_->places.end() && found->second->version == what.version;
}

inline void memory_cache::keep(const object_identity& what, const byte_buffer& bytes) {
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
    state_->bytes += cost_of(bytes);
    while (state_->bytes > state_->most) {
        state_->remove(std::string_view{state_->uses.back().key});
    }
}

inline void memory_cache::drop(const object_identity& what) {
    const std::lock_guard lock{state_->guard};
    const auto found = state_->places.find(what.key);
    if (found != state_->places.end() && found->second->version == what.version) {
        state_->remove(what.key);
    }
}

inline void memory_cache::forget(std::string_view key) {
    const std::lock_guard lock{state_->guard};
    state_->remove(key);
}

inline void memory_cache::clear() {
    const std::lock_guard lock{state_->guard};
    state_->places.clear();
    state_->uses.clear();
    state_->bytes = 0;
}

inline std::uint64_t memory_cache::held_bytes() const {
    const std::lock_guard lock{state_->guard};
    return state_->bytes;
}

inline void memory_cache::state::remove(std::string_view key) {
    if (const auto found = places.find(key); found != places.end()) {
        const auto gone = found->second;
        bytes -= cost_of(gone->bytes);
        places.erase(found);
        uses.erase(gone);
    }
}

}  // namespace smdebug::inline v1
