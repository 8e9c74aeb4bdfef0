// The one cache: whole objects of a storage, in memory and below that on disk, each fetched once.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/cache/disk_cache.hpp>
#include <smdebug/storage/cache/in_flight.hpp>
#include <smdebug/storage/cache/known_objects.hpp>
#include <smdebug/storage/cache/memory_cache.hpp>
#include <smdebug/storage/concepts.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1 {

/// What is cached, and where.
struct cache_options {
    std::uint64_t memory_bytes = std::uint64_t{256} << 20U;  ///< whole objects in memory, the last used ones
    /// A local folder that keeps objects between programs; many programs may share it; made when there is something to
    /// store. If empty, there is none. Objects of a storage without versions are not stored there.
    std::string folder = {};
    std::uint64_t folder_bytes = std::uint64_t{10} << 30U;
    std::uint64_t largest_object = std::uint64_t{16} << 20U;  ///< bytes: of larger objects the parts are read each time
    /// Which keys may be cached; all if empty. Called often, on any thread. For runs: is_written_once.
    std::function<bool(std::string_view)> cacheable = {};
    std::size_t threads_ahead = 4;  ///< threads that prefetch; with 0 nothing is prefetched
    std::size_t most_ahead = 64;    ///< queued prefetches: beyond these the oldest are dropped
};

namespace detail {

/// A storage's objects are in one of these states; versions come from listings, see learn():
///
/// | state | read() | batch | prefetch() |
/// |---|---|---|---|
/// | not to be cached: by its key, too large, changing, a claim | each part from the storage | the same | nothing |
/// | unknown | asks for a listing of neighbours: then one of the others | from the storage; with a folder as read() | as read() |
/// | missing | the storage's error | nothing | nothing |
/// | listed | fetches the whole object | with a folder: kept there | fetches it |
/// | in flight (being fetched whole) | waits | waits | nothing |
/// | held, in memory or in the folder | from there | from there | nothing |
/// | a part of it pinned to a holder | from there; waits | from there; waits | |
///
/// forget(key) makes it unknown, whatever it was; a listing with another version makes it listed; a read behind the end
/// of a held one asks again, and makes it changing if it has grown.  A fetch that brings another version than the
/// listed one is held under that version.
/// Threads: everything may be called concurrently, if the inner storage allows it; one thread asks for listings at a
/// time, as its answer usually covers the others' keys. Destruction waits for prefetches that have begun.
class object_cache {
public:
    object_cache(any_storage inner, cache_options options);
    object_cache(const object_cache&) = delete;
    object_cache& operator=(const object_cache&) = delete;
    ~object_cache() = default;

    [[nodiscard]] any_storage& inner() noexcept { return inner_; }
    [[nodiscard]] const any_storage& inner() const noexcept { return inner_; }
    [[nodiscard]] const cache_options& options() const noexcept { return options_; }

    // Reading ----------------------------------------------------------------------------------------------------

    /// A part of an object: from its pinned parts, or else from the cached whole, which is fetched first if it is to
    /// be cached.
    [[nodiscard]] byte_buffer read(std::string_view key, byte_range where);

    /// Many whole objects: cached ones from the cache, the rest in one call. Objects read from the inner storage are
    /// kept only in a folder: in memory they would evict everything.
    void read_each(std::span<const std::string> keys, object_sink sink);
    /// Many parts. With a folder, objects that are small or of which much is wanted are first fetched whole.
    void read_ranges(std::span<const object_range> ranges, range_sink sink);
    /// Fetches pinned parts, without looking for them in flight. Delivers nothing if an object does not exist or
    /// cannot be read.
    void fetch_parts(std::span<const object_range> parts, range_sink sink);

    /// The object, if it is cached; makes no request.
    [[nodiscard]] std::optional<byte_buffer> view(std::string_view key);
    /// Whether an object is known to be cached or on its way; if not, a thread begins to prefetch it. Nothing if it is
    /// not to be cached.
    std::optional<bool> read_ahead(std::string_view key);
    /// Prefetches an object into the cache, on this thread.
    void prefetch(std::string_view key);

    [[nodiscard]] in_flight& flights() noexcept { return flights_; }

    // What is known of objects -----------------------------------------------------------------------------------

    /// As the inner storage, and remembers what they list.
    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after);
    [[nodiscard]] std::optional<std::vector<object_entry>> entries(std::string_view prefix, std::string_view after,
                                                                   std::size_t most);

    /// What is known of an object; if nothing is, the storage lists it and its neighbours with sizes and versions, or
    /// reports its size alone if it has no versions, or if the right to list is missing.
    /// Nothing if it does not exist, or the storage does not report it: reading it will show the error.
    [[nodiscard]] std::optional<known_object> learn(std::string_view key);
    /// Whether an object was replaced or removed since the state `was`.
    [[nodiscard]] bool has_changed(std::string_view key, const known_object& was);

    /// Call it when an object has been, or may have been, replaced or removed: its cached copy is no longer returned.
    void forget(std::string_view key);
    void forget();
    /// Stops caching an object because it changes while it is read.
    void pass(std::string_view key);

private:
    using known = std::optional<known_object>;
    using found = std::optional<versioned_part>;
    struct batch;

    [[nodiscard]] object_identity identity(std::string_view key, std::string_view version) const noexcept {
        return {.store = name_, .key = key, .version = version};
    }
    [[nodiscard]] bool may_cache(std::string_view key) const { return largest_ > 0 && options_.cacheable(key); }
    [[nodiscard]] bool is_to_cache(const known_object& of) const noexcept { return !of.passes && of.size <= largest_; }
    void drop(std::string_view key);

    // Lists entries from the key on, below its top folder; or some just before it if there are too many; nothing if the
    // storage has no versions. Errors: those of the storage.
    [[nodiscard]] std::optional<std::vector<object_entry>> entries_from(std::string_view key);

    // What is known of an object that is to be cached; nothing if it is not to be cached or does not exist.
    // With `may_ask` the inner storage is queried if nothing is known.
    [[nodiscard]] known to_cache(std::string_view key, bool may_ask);
    // Whether it is cached or on its way.
    [[nodiscard]] bool is_near(std::string_view key, const known_object& of) const;
    // The object, if it is cached; a scan leaves the memory as it is.
    [[nodiscard]] found find(std::string_view key, const known_object& of, bool for_scan = false);
    // From the inner storage.
    [[nodiscard]] versioned_part read_whole(std::string_view key) const;
    // An object from the inner storage, for the cache: it is put into the folder, with what it shows of the object.
    [[nodiscard]] versioned_part fetch(std::string_view key, const known_object& of);
    // The object, fetched if it is not cached. If another thread is already fetching it, a reader waits for the result
    // and a prefetch returns nothing.
    [[nodiscard]] found object(std::string_view key, const known_object& of, in_flight::by who);
    // A part of a pinned part or of a cached object, which is fetched first; nothing if the caller has to read it
    // from the inner storage.
    [[nodiscard]] found cached_part(std::string_view key, byte_range where);

    // A part from the cache, or else from the inner storage; nothing if there is no object.
    [[nodiscard]] found part_if_there(const object_range& wanted);

    // Fetches whole, for the folder, those objects of which much is wanted.
    void fetch_wholes(std::span<const object_range> ranges);
    // Whether all ranges of the first one's object, up to the next object, are pinned. If one is not, all are read
    // elsewhere, so that they are of one version.
    [[nodiscard]] bool holds_all(std::span<const object_range> ranges) const;

    any_storage inner_;
    cache_options options_;  // cacheable is never empty
    std::string name_;
    memory_cache memory_;
    std::optional<disk_cache> disk_;
    std::uint64_t largest_;
    known_objects known_;
    std::mutex asking_;
    std::atomic<bool> cannot_list_{false};
    in_flight flights_;
    fetch_crew crew_;  // destroyed first
};

}  // namespace detail
}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/cache/impl/object_cache.ipp>
#endif
