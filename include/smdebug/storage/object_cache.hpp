// What a cache of whole objects must offer, and how it identifies them.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/storage/concepts.hpp>

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

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
template <class Cache>
concept object_cache = std::movable<Cache> && requires(Cache& cache, const Cache& seen, const object_identity& what,
                                                       const byte_buffer& bytes, std::string_view key) {
    { cache.find(what) } -> std::same_as<std::optional<byte_buffer>>;
    { cache.holds(what) } -> std::same_as<bool>;
    { cache.keep(what, bytes) } -> std::same_as<void>;
    { cache.drop(what) } -> std::same_as<void>;
    { cache.forget(key) } -> std::same_as<void>;
    { cache.clear() } -> std::same_as<void>;
    { seen.largest() } -> std::same_as<std::uint64_t>;
    { Cache::needs_versions } -> std::convertible_to<bool>;
};

/// A cache that may be used for a storage.
template <class Cache, class Inner>
concept cache_of = object_cache<Cache> && (!Cache::needs_versions || versioned_storage<Inner>);

/// Optional: keep_aside(what, bytes) and find_aside(what) do the same for a scan, which reads everything once: they
/// evict nothing that is used repeatedly, and the bytes are borrowed. A cache without them keeps nothing of scans.
template <class Cache>
concept scan_cache = object_cache<Cache> && requires(Cache& cache, const object_identity& what, byte_view bytes) {
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
    memory_cache(memory_cache&&) noexcept;
    memory_cache& operator=(memory_cache&&) noexcept;
    ~memory_cache();

    /// The object, if it is cached in this version; counts as a use.
    [[nodiscard]] std::optional<byte_buffer> find(const object_identity& what);

    [[nodiscard]] bool holds(const object_identity& what) const;

    /// Caches the object and replaces another version. The buffer should not keep more memory alive than its own bytes.
    void keep(const object_identity& what, const byte_buffer& bytes);

    void drop(const object_identity& what);
    void forget(std::string_view key);
    void clear();

    [[nodiscard]] std::uint64_t largest() const noexcept;
    /// The number of bytes that count against the bound now.
    [[nodiscard]] std::uint64_t held_bytes() const;

private:
    struct state;
    std::unique_ptr<state> state_;
};

static_assert(object_cache<memory_cache>);

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/impl/object_cache.ipp>
#endif
