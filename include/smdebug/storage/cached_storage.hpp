// A storage around any other that caches whole objects in memory or on a local disk.
// For remote storages, where each request takes time: an event file is fetched once, and its tensors are read from the
// cache.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/storage/batch_read.hpp>
#include <smdebug/storage/cache/cached_batch.hpp>
#include <smdebug/storage/cache/caching_reader.hpp>
#include <smdebug/storage/cache/metadata_cache.hpp>
#include <smdebug/storage/cache/object_holder.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/object_cache.hpp>
#include <smdebug/storage/writable.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1 {

namespace detail {

/// Forgets the cached copy of an object on destruction, whether or not the change to it succeeded.
template <class Reader>
class forgetting {
public:
    forgetting(Reader& reader, std::string_view changed) : reader_(reader), key_(changed) {}
    forgetting(const forgetting&) = delete;
    forgetting& operator=(const forgetting&) = delete;
    ~forgetting() { reader_.forget(key_); }

private:
    Reader& reader_;
    std::string_view key_;
};

/// An object being written into a cached storage; models object_output.  Keeps the storage alive.
template <class Reader, object_output Output>
class cached_output {
public:
    cached_output(std::shared_ptr<Reader> reader, std::string key, Output inner)
        : reader_(std::move(reader)), key_(std::move(key)), inner_(std::move(inner)) {}

    void append(std::span<const byte_view> pieces) { inner_.append(pieces); }
    void commit(durability how);

private:
    std::shared_ptr<Reader> reader_;  // outlives the output that it made
    std::string key_;
    Output inner_;
};

}  // namespace detail

/// `inner`, and a cache of its objects. Copies are handles on the same cache and share the inner storage.
///
/// What is cached: whole objects of at most options.largest_object bytes (16 MiB) whose keys options.cacheable accepts
/// (all by default; for a run is_written_once). A read of a part fetches the whole object, once, however many threads
/// want it. Listings and sizes are always requested; a missing object is not remembered; nothing is fetched that no
/// caller wants.
///
/// Which version is seen: changes through this storage or its copies are seen at once. A replacement by others is seen
/// when the object's version is learnt again: after its key appeared in an answer of list() or entries(), or after
/// forget(). Until then a whole object of the older version may be returned, never parts of two. A read that begins
/// behind a cached object's end checks whether it has grown; a grown object is no longer cached. An inner storage
/// without entries() has no versions: changes are found only by their size, or after forget().
/// A disk_cache returns only objects of the version that this process has learnt.
///
/// Cost beyond the reads: for a key of which nothing is known yet, one listing of sizes and versions of the next
/// thousand objects (without entries(): one size). A hit copies nothing and makes no request.
/// Errors: those of the inner storage; a thread that waits for another's fetch gets its error. Caches have none.
/// Threads: everything may be called concurrently, if the inner storage allows it. Destroying the last copy stops
/// prefetching: it waits for the requests in flight. A forked child must make its own.
template <storage Inner, cache_of<Inner> Cache = memory_cache>
class cached_storage {
    using reader = detail::caching_reader<Inner, Cache>;

public:
    explicit cached_storage(Inner inner, Cache cache = Cache{}, detail::cache_options options = {})
        : state_(std::make_shared<state>(std::move(inner), std::move(cache), std::move(options))) {}

    // Reading ----------------------------------------------------------------------------------------------------

    [[nodiscard]] byte_buffer read(std::string_view key, byte_range where = whole_object) const {
        return state_->objects.read(key, where);
    }
    /// Reads what is cached from the cache and the rest by one call of the inner storage, in order. A disk_cache keeps
    /// what that call returns; a memory_cache does not, as a scan would evict everything.
    /// The version is the known one of a cached object, or the one that the inner storage reports.
    void read_each(std::span<const std::string> keys, object_sink sink) const {
        detail::cached_batch{state_->objects}.read_each(keys, sink);
    }
    void read_ranges(std::span<const object_range> ranges, range_sink sink) const {
        detail::cached_batch{state_->objects}.read_ranges(ranges, sink);
    }
    /// The cached object, or a view of the inner storage; makes no request.
    [[nodiscard]] std::optional<byte_buffer> view(std::string_view key) const;
    /// Begins to prefetch an object on another thread, if it is to be cached; returns whether it is cached already.
    /// Otherwise calls read_ahead() of the inner storage, if it has that.
    [[nodiscard]] bool read_ahead(std::string_view key) const;
    /// Parts that stay in memory regardless of the cache's size; see object_holder.
    [[nodiscard]] std::unique_ptr<pinned_ranges> hold() const {
        return std::make_unique<detail::object_holder<reader>>(objects());
    }
    [[nodiscard]] versioned_object read_versioned(std::string_view key) const
        requires versioned_storage<Inner>
    {
        return inner().read_versioned(key);
    }

    /// The inner storage's abilities; reads ahead if there are threads for it.
    [[nodiscard]] storage_abilities abilities() const {
        storage_abilities can = abilities_of(inner());
        can.reads_ahead = state_->objects.options().threads_ahead > 0;
        return can;
    }

    // Listing: passed on ------------------------------------------------------------------------------------------

    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const;
    [[nodiscard]] std::vector<object_entry> entries(std::string_view prefix, std::string_view after,
                                                    std::size_t most) const
        requires versioned_storage<Inner>;
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const { return inner().size(key); }
    [[nodiscard]] std::string name() const { return std::string(inner().name()); }
    [[nodiscard]] place_kind place() const { return place_kind_of(inner()); }
    [[nodiscard]] auto follow(std::string_view prefix) const
        requires followable_storage<Inner>
    {
        return inner().follow(prefix);
    }
    [[nodiscard]] std::vector<problem> problems() const { return problems_of(inner()); }
    [[nodiscard]] auto source() const
        requires requires(const Inner& any) { any.source(); }
    {
        return inner().source();
    }
    [[nodiscard]] std::unique_ptr<change_signal> watch(std::span<const std::string> prefixes) const
        requires announcing_storage<Inner>
    {
        return inner().watch(prefixes);
    }
    [[nodiscard]] std::optional<std::chrono::system_clock::time_point> modified(std::string_view key) const
        requires dated_storage<Inner>
    {
        return inner().modified(key);
    }

    // Writing: passed on; the cached copy is forgotten -----------------------------------------------------------

    void write(std::string_view key, byte_view bytes)
        requires writable_storage<Inner>;
    [[nodiscard]] auto create(std::string_view key)
        requires appending_storage<Inner>
    {
        using output = decltype(state_->objects.inner().create(key));
        return detail::cached_output<reader, output>{objects(), std::string{key}, state_->objects.inner().create(key)};
    }
    bool remove(std::string_view key, durability how = durability::cached)
        requires removing_storage<Inner>;
    std::vector<std::string> remove_unfinished(std::string_view prefix, function_ref<bool(std::string_view)> which) {
        return smdebug::remove_unfinished(state_->objects.inner(), prefix, which);
    }
    [[nodiscard]] auto claim(std::string_view key, durability how = durability::cached)
        requires claiming_storage<Inner>
    {
        state_->objects.pass(key);  // another process may remove it: it is not cached
        return take_claim(state_->objects.inner(), key, how);
    }
    [[nodiscard]] bool claimed(std::string_view key) const
        requires claiming_storage<Inner>
    {
        return inner().claimed(key);
    }

    // The cache ---------------------------------------------------------------------------------------------------

    /// Forces the next read of this object, or of any, to learn its version again.
    void forget(std::string_view key) const { state_->objects.forget(key); }
    void forget() const { state_->objects.forget(); }
    [[nodiscard]] const Inner& inner() const noexcept { return state_->objects.inner(); }

private:
    struct state {
        state(Inner inner, Cache cache, detail::cache_options options);
        reader objects;
        detail::fetch_crew crew;  // destroyed first
    };

    [[nodiscard]] std::shared_ptr<reader> objects() const { return {state_, &state_->objects}; }

    std::shared_ptr<state> state_;
};

/// Always adds a cache, whereas cached_storage{cached_storage{...}} would be a copy.
template <storage Inner, cache_of<Inner> Cache = memory_cache>
[[nodiscard]] cached_storage<Inner, Cache> cached(Inner inner, Cache cache = Cache{},
                                                  detail::cache_options options = {}) {
    return cached_storage<Inner, Cache>{std::move(inner), std::move(cache), std::move(options)};
}

namespace detail {

template <class Reader, object_output Output>
void cached_output<Reader, Output>::commit(durability how) {
    const forgetting changed{*reader_, key_};
    inner_.commit(how);
}

}  // namespace detail

template <storage Inner, cache_of<Inner> Cache>
std::optional<byte_buffer> cached_storage<Inner, Cache>::view(std::string_view key) const {
    if (const std::optional<detail::known_object> known = state_->objects.to_cache(key, false)) {
        if (std::optional<byte_buffer> whole = state_->objects.find(key, *known)) {
            return whole;
        }
    }
    return view_object(inner(), key);
}

template <storage Inner, cache_of<Inner> Cache>
bool cached_storage<Inner, Cache>::read_ahead(std::string_view key) const {
    const std::optional<bool> near = state_->objects.looks_near(key);
    if (near && !*near) {
        state_->crew.wish(key);
    }
    return near ? *near : prefetch_object(inner(), key);
}

template <storage Inner, cache_of<Inner> Cache>
std::vector<std::string> cached_storage<Inner, Cache>::list(std::string_view prefix, std::string_view after) const {
    std::vector<std::string> keys;
    if constexpr (Cache::needs_versions) {  // costs no more than list() where a disk cache is worthwhile
        for (object_entry& one : entries(prefix, after, std::numeric_limits<std::size_t>::max())) {
            keys.push_back(std::move(one.key));
        }
    } else {
        keys = inner().list(prefix, after);
        state_->objects.scout().known().doubt(keys);
    }
    return keys;
}

template <storage Inner, cache_of<Inner> Cache>
std::vector<object_entry> cached_storage<Inner, Cache>::entries(std::string_view prefix, std::string_view after,
                                                                std::size_t most) const
    requires versioned_storage<Inner>
{
    auto& scout = state_->objects.scout();
    const std::uint64_t before = scout.known().state();
    std::vector<object_entry> found = inner().entries(prefix, after, most);
    scout.note(found, before);
    return found;
}

template <storage Inner, cache_of<Inner> Cache>
void cached_storage<Inner, Cache>::write(std::string_view key, byte_view bytes)
    requires writable_storage<Inner>
{
    const detail::forgetting changed{state_->objects, key};
    state_->objects.inner().write(key, bytes);
}

template <storage Inner, cache_of<Inner> Cache>
bool cached_storage<Inner, Cache>::remove(std::string_view key, durability how)
    requires removing_storage<Inner>
{
    const detail::forgetting changed{state_->objects, key};
    return remove_object(state_->objects.inner(), key, how);
}

template <storage Inner, cache_of<Inner> Cache>
cached_storage<Inner, Cache>::state::state(Inner inner, Cache cache, detail::cache_options options)
    : objects(std::move(inner), std::move(cache), std::move(options)),
      crew([this](const std::string& key) { objects.prefetch(key); }, objects.options().threads_ahead,
           objects.options().most_ahead) {}

}  // namespace smdebug::inline v1
