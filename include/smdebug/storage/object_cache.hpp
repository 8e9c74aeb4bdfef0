// What a cache of whole objects has to offer, and how it tells them apart.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/storage/concepts.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>

namespace smdebug {
inline namespace v1 {

/// Which object it is, and which of those that were ever under its key.  Borrows.
struct object_identity {
    std::string_view place;    ///< what the storage calls itself
    std::string_view key;      ///< in that storage
    std::string_view version;  ///< as entries() tells it; empty where the storage tells none
};

/// Keeps whole objects of one storage, as long as it likes.  A type C models `object_cache` when:
///  1. find(what) gives the bytes that were kept under just that identity, or nothing; never others, never a part;
///  2. holds(what) tells, for less, whether find() is likely to give something;
///  3. keep(what, bytes) keeps them, or does not; forget(key) and clear() make find() give nothing for objects without
///     a version, and drop(what) for this one;
///  4. none of them throws an error of the library: a cache that does not work is one that holds nothing;
///  5. largest() is the size in bytes of the largest object that it would keep;
///  6. everything may be called at once on many threads.
/// `needs_versions` says that it may only be used where every object has a version, as it outlives the process.
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
concept cache_of = object_cache<C> && (!C::needs_versions || entry_lister<Inner>);

/// Optional: keep_aside(what, bytes) and find_aside(what) do the same for a scan, which wants everything once: they
/// push nothing out that is wanted again and again, and the bytes are borrowed.  A cache that has no such thing keeps
/// nothing of scans.
template <class C>
concept scan_cache = object_cache<C> && requires(C& cache, const object_identity& what, byte_view bytes) {
    { cache.keep_aside(what, bytes) } -> std::same_as<void>;
    { cache.find_aside(what) } -> std::same_as<std::optional<byte_buffer>>;
};

}  // namespace v1
}  // namespace smdebug
