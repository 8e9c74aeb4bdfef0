// A storage around any other that caches whole objects in memory and in a local folder.
// For remote storages, where each request takes time: an event file is fetched once, and its tensors are read from the
// cache.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/cache/object_cache.hpp>
#include <smdebug/storage/storage_base.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1 {

/// `inner`, and a cache of its objects: the last used ones in memory, below that those in options.folder, if one is
/// named. Copies are handles on the same cache and share the inner storage.
///
/// What is cached: whole objects of at most options.largest_object bytes (16 MiB) whose keys options.cacheable accepts
/// (all by default; for a run is_written_once). A read of a part fetches the whole object, once, however many threads
/// want it. Listings and sizes are always requested; a missing object is not remembered; nothing is fetched that no
/// caller wants. The states of an object, and what each call does in them, are a table at detail::object_cache.
///
/// Which version is seen: changes through this storage or its copies are seen at once. A replacement by others is seen
/// when the object's version is learnt again: after its key appeared in an answer of list() or entries(), or after
/// forget(). Until then a whole object of the older version may be returned, never parts of two. A read that begins
/// behind a cached object's end checks whether it has grown; a grown object is no longer cached. An inner storage
/// without entries() has no versions: changes are found only by their size, or after forget(), and nothing is kept in
/// the folder.  The folder returns only objects of the version that this process has learnt.
///
/// Cost beyond the reads: for a key of which nothing is known yet, one listing of sizes and versions of the next
/// thousand objects (without entries(): one size). A hit in memory copies nothing and makes no request; one in the
/// folder reads and checks a file.
/// Errors: those of the inner storage; a thread that waits for another's fetch gets its error. The cache has none: if
/// the folder cannot be used, nothing is kept there.
/// Threads: everything may be called concurrently, if the inner storage allows it. Destroying the last copy, and
/// what it gave to hold or to write, stops prefetching: it waits for the requests in flight. A forked child must make
/// its own.
class cached_storage : public storage_base {
public:
    explicit cached_storage(any_storage inner, cache_options options = {});

    /// The inner storage's abilities; reads ahead if there are threads for it.
    [[nodiscard]] SMDEBUG_INLINE storage_abilities abilities() const override;

    // Reading ----------------------------------------------------------------------------------------------------

    [[nodiscard]] byte_buffer read(std::string_view key, byte_range where = whole_object) const override {
        return cache_->read(key, where);
    }
    /// Reads what is cached from the cache and the rest by one call of the inner storage, in order. The folder keeps
    /// what that call returns; the memory does not, as a scan would evict everything.
    /// The version is the known one of a cached object, or the one that the inner storage reports.
    void read_each(std::span<const std::string> keys, object_sink sink) const override {
        cache_->read_each(keys, sink);
    }
    void read_ranges(std::span<const object_range> ranges, range_sink sink) const override {
        cache_->read_ranges(ranges, sink);
    }
    [[nodiscard]] versioned_object read_versioned(std::string_view key) const override {
        return inner().read_versioned(key);
    }
    /// The cached object, or a view of the inner storage; makes no request.
    [[nodiscard]] SMDEBUG_INLINE std::optional<byte_buffer> view(std::string_view key) const override;
    /// Begins to prefetch an object on another thread, if it is to be cached; returns whether it is cached already.
    /// Otherwise calls read_ahead() of the inner storage.
    [[nodiscard]] SMDEBUG_INLINE bool read_ahead(std::string_view key) const override;
    /// Parts that stay in memory regardless of the cache's size.
    [[nodiscard]] SMDEBUG_INLINE std::unique_ptr<pinned_ranges> hold() const override;

    // Listing: passed on ------------------------------------------------------------------------------------------

    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const override {
        return cache_->list(prefix, after);
    }
    [[nodiscard]] std::optional<std::vector<object_entry>> entries(std::string_view prefix, std::string_view after,
                                                                   std::size_t most) const override {
        return cache_->entries(prefix, after, most);
    }
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const override { return inner().size(key); }
    [[nodiscard]] std::optional<std::chrono::system_clock::time_point> modified(std::string_view key) const override {
        return inner().modified(key);
    }
    [[nodiscard]] std::unique_ptr<key_follower> follow(std::string_view prefix) const override {
        return inner().follow(prefix);
    }
    [[nodiscard]] std::unique_ptr<change_signal> watch(std::span<const std::string> prefixes) const override {
        return inner().watch(prefixes);
    }
    [[nodiscard]] std::string name() const override { return inner().name(); }
    [[nodiscard]] place_kind place() const override { return inner().place(); }
    [[nodiscard]] std::vector<problem> problems() const override { return inner().problems(); }
    [[nodiscard]] source_handle source() const override { return inner().source(); }

    // Writing: passed on; the cached copy is forgotten -----------------------------------------------------------

    SMDEBUG_INLINE void write(std::string_view key, byte_view bytes) override;
    [[nodiscard]] SMDEBUG_INLINE std::unique_ptr<object_output> create(std::string_view key) override;
    SMDEBUG_INLINE bool remove(std::string_view key, durability how = durability::cached) override;
    std::vector<std::string> remove_unfinished(std::string_view prefix,
                                               function_ref<bool(std::string_view)> which) override {
        return cache_->inner().remove_unfinished(prefix, which);
    }
    /// The claim is not cached: another process may remove it.
    [[nodiscard]] SMDEBUG_INLINE std::unique_ptr<object_claim> claim(std::string_view key,
                                                                     durability how = durability::cached) override;
    [[nodiscard]] bool claimed(std::string_view key) const override { return inner().claimed(key); }

    // The cache ---------------------------------------------------------------------------------------------------

    /// Forces the next read of this object, or of any, to learn its version again.
    void forget(std::string_view key) const { cache_->forget(key); }
    void forget() const { cache_->forget(); }
    [[nodiscard]] const any_storage& inner() const noexcept { return cache_->inner(); }

private:
    std::shared_ptr<detail::object_cache> cache_;
};

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/impl/cached_storage.ipp>
#endif
