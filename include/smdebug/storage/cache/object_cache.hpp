// The one cache: whole objects of a storage, in memory and below that on disk, each fetched once.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/cache/disk_cache.hpp>
#include <smdebug/storage/cache/held_parts.hpp>
#include <smdebug/storage/cache/memory_cache.hpp>
#include <smdebug/storage/cache/metadata_cache.hpp>
#include <smdebug/storage/concepts.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1 {

/// What is cached, and where.
struct cache_options {
    std::uint64_t memory_bytes = std::uint64_t{256} << 20U;  ///< whole objects in memory, the last used ones
    /// A local folder that keeps objects between programs; many programs may share it; made when there is something to
    /// store. Empty: none. Objects of a storage without versions are not stored there.
    std::string folder = {};
    std::uint64_t folder_bytes = std::uint64_t{10} << 30U;
    std::uint64_t largest_object = std::uint64_t{16} << 20U;  ///< bytes: of larger objects the parts are read each time
    /// Which keys may be cached; empty: all. Called often, on any thread. For runs: is_written_once.
    std::function<bool(std::string_view)> cacheable = {};
    std::size_t threads_ahead = 4;  ///< threads that prefetch; 0: no prefetching
    std::size_t most_ahead = 64;    ///< queued prefetches: beyond these the oldest are dropped
};

namespace detail {

/// A storage's objects are in one of these states; versions come from listings (metadata_cache):
///
/// | state | read() | batch | prefetch() |
/// |---|---|---|---|
/// | not to be cached: by its key, too large, changing, a claim | each part from the storage | the same | nothing |
/// | unknown | asks for a listing of neighbours: then one of the others | from the storage; with a folder as read() | as read() |
/// | missing | the storage's error | nothing | nothing |
/// | listed | fetches the whole object | with a folder: kept there | fetches it |
/// | being fetched (single_flight) | waits | waits | nothing |
/// | held, in memory or in the folder | from there | from there | nothing |
/// | a part of it pinned, or on its way (held_parts) | from there; waits | from there; waits | |
///
/// forget(key) makes it unknown, whatever it was; a listing with another version makes it listed; a read behind the end
/// of a held one asks again, and makes it changing if it has grown.  A fetch that brings another version than the
/// listed one is held under that version.
/// Threads: everything may be called concurrently, if the inner storage allows it.
class object_cache {
public:
    object_cache(any_storage inner, cache_options options);
    object_cache(const object_cache&) = delete;
    object_cache& operator=(const object_cache&) = delete;
    ~object_cache() = default;

    [[nodiscard]] any_storage& inner() noexcept { return inner_; }
    [[nodiscard]] const any_storage& inner() const noexcept { return inner_; }
    [[nodiscard]] const cache_options& options() const noexcept { return options_; }
    [[nodiscard]] bool has_folder() const noexcept { return disk_.has_value(); }

    /// A part of an object: from its held parts, or else from the cached whole, which is fetched first if it is to be
    /// cached.
    /// `version`: set to the part's version, if known.
    [[nodiscard]] byte_buffer read(std::string_view key, byte_range where, object_version* version = nullptr);

    /// Many whole objects: cached ones from the cache, the rest in one call. Objects read from the inner storage are
    /// kept only in a folder: in memory they would evict everything.
    void read_each(std::span<const std::string> keys, object_sink sink);
    /// Many parts. With a folder, objects that are small or of which much is wanted are first fetched whole.
    void read_ranges(std::span<const object_range> ranges, range_sink sink);
    /// Fetches parts for a holder, without looking into the held parts. Delivers nothing if an object does not exist or
    /// cannot be read.
    void bring(std::span<const object_range> parts, range_sink sink);

    /// The object, if it is cached; makes no request.
    [[nodiscard]] std::optional<byte_buffer> view(std::string_view key);
    /// Whether an object is known to be cached or on its way; nothing if it is not to be cached.
    [[nodiscard]] std::optional<bool> looks_near(std::string_view key);
    /// Prefetches an object into the cache.
    void prefetch(const std::string& key);

    [[nodiscard]] metadata_cache& scout() noexcept { return scout_; }
    /// The parts of objects that are held or on their way.
    [[nodiscard]] held_parts& parts() noexcept { return parts_; }

    /// Call it when an object has been, or may have been, replaced or removed: its cached copy is no longer returned.
    void forget(std::string_view key);
    void forget();
    /// Stops caching an object because it changes while it is read.
    void pass(std::string_view key);

private:
    using known = std::optional<known_object>;
    struct batch;

    [[nodiscard]] object_identity identity(std::string_view key, const known_object& of) const noexcept {
        return {.place = place_, .key = key, .version = of.version};
    }
    [[nodiscard]] bool may_cache(std::string_view key) const { return largest_ > 0 && options_.cacheable(key); }
    [[nodiscard]] bool is_to_cache(const known_object& of) const noexcept { return !of.passes && of.size <= largest_; }
    void drop(std::string_view key);

    /// What is known of an object that is to be cached; nothing if it is not to be cached or does not exist.
    /// With `may_ask` the inner storage is queried if nothing is known.
    [[nodiscard]] known to_cache(std::string_view key, bool may_ask);
    /// Whether it is cached or on its way.
    [[nodiscard]] bool is_near(std::string_view key, const known_object& of);
    /// The object, if it is cached; a scan leaves the memory as it is.
    [[nodiscard]] std::optional<byte_buffer> find(std::string_view key, const known_object& of, bool for_scan = false);
    /// The same, but waits for one on its way.
    [[nodiscard]] std::optional<byte_buffer> find_near(std::string_view key, const known_object& of, bool for_scan,
                                                       object_version& version);

    /// The object, fetched if it is not cached. If another thread is already fetching it, a reader waits for the result
    /// and a prefetch returns nothing.
    [[nodiscard]] std::optional<byte_buffer> object(std::string_view key, const known_object& of, single_flight::by who,
                                                    object_version& version);
    // From the inner storage, with the version to cache it under; nothing: not cached.
    [[nodiscard]] std::pair<byte_buffer, std::optional<std::string>> fetch(std::string_view key,
                                                                           const known_object& of);
    [[nodiscard]] byte_buffer read_inner(std::string_view key, object_version& version) const;
    [[nodiscard]] byte_buffer read_inner(std::string_view key, byte_range where, object_version* version) const;

    any_storage inner_;
    cache_options options_;
    std::string place_;
    memory_cache memory_;
    std::optional<disk_cache> disk_;
    std::uint64_t largest_;
    metadata_cache scout_;
    held_parts parts_;
    single_flight fetches_;
};

}  // namespace detail
}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/cache/impl/object_cache.ipp>
#endif
