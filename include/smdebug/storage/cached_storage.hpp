// A storage around any other that keeps whole objects near: in memory, or on this machine's disk.
// For storages far away, where each request takes its time: an event file is fetched once, and its tensors read from
// it.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/storage/abilities.hpp>
#include <smdebug/storage/cache/cached_batch.hpp>
#include <smdebug/storage/cache/caching_reader.hpp>
#include <smdebug/storage/cache/fetch_crew.hpp>
#include <smdebug/storage/cache/object_holder.hpp>
#include <smdebug/storage/change_signal.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/memory_cache.hpp>
#include <smdebug/storage/object_cache.hpp>
#include <smdebug/storage/read_each.hpp>
#include <smdebug/storage/read_ranges.hpp>
#include <smdebug/storage/versioned_read.hpp>
#include <smdebug/storage/writable.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

namespace detail {

/// Forgets what is cached of an object when it ends, whatever became of the change to it.
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
    std::shared_ptr<Reader> reader_;  // outlives what it made
    std::string key_;
    Output inner_;
};

}  // namespace detail

/// `inner`, and a cache of its objects.  Copies are handles on the same cache, and share the inner storage.
///
/// What is cached: objects whose keys options.cacheable says (all, unless it is given: for a run
/// is_written_once) of at most options.largest_object bytes (16 MiB), whole: a read of a part brings the
/// whole, once, however many threads want it.  Listings and sizes are always asked for; that an object is missing is
/// not remembered; nothing is asked for that nobody wants.
///
/// Which version is seen: what is written, committed or removed through this storage or its copies is seen at once.
/// What others replace is seen when the object's version is learnt anew: after its key came in an answer of list() or
/// entries(), or after forget(); a whole object of the older version may be given until then, never parts of two.  A
/// read that begins behind a cached object's end looks whether it has grown; one that has is not cached any more.  An
/// inner storage without entries() has no versions: there sizes alone tell, and forget().
/// A disk_cache gives only what has the version that this process has learnt.
///
/// Cost beyond the reads: a listing of the next thousand objects' sizes and versions for a key of which nothing is
/// known yet (without entries(): a size).  A hit copies nothing and makes no request. Errors: those of the inner
/// storage; who waits for another's fetch gets its error.  Caches have none. Threads: everything may be called at once,
/// as far as the inner storage lets be.  Destroying the last copy ends reading ahead: it waits for the requests that
/// are under way.  A forked child is to make its own.
template <storage Inner, cache_of<Inner> Cache = memory_cache>
class cached_storage {
    using reader = detail::caching_reader<Inner, Cache>;

public:
    using inner_type = Inner;
    using cache_type = Cache;

    explicit cached_storage(Inner inner, Cache cache = Cache{}, detail::cache_options options = {})
        : state_(std::make_shared<state>(std::move(inner), std::move(cache), std::move(options))) {}

    // Reading ----------------------------------------------------------------------------------------------------

    [[nodiscard]] byte_buffer read(std::string_view key) const { return state_->objects.read(key); }
    [[nodiscard]] byte_buffer read(std::string_view key, byte_range where) const {
        return state_->objects.read(key, where);
    }
    /// What is cached comes from there, the rest by one call of the inner storage, in order.  What that brings a
    /// disk_cache keeps; a memory_cache does not, as a scan would push out everything.
    void read_each(std::span<const std::string> keys, object_sink sink) const {
        read_each_versioned(
            keys, [&](std::size_t i, std::optional<byte_view> bytes, const object_version&) { sink(i, bytes); });
    }
    void read_ranges(std::span<const object_range> ranges, range_sink sink) const {
        read_ranges_versioned(ranges, [&](std::size_t i, std::optional<byte_buffer> bytes, const object_version&) {
            sink(i, std::move(bytes));
        });
    }
    /// The same with versions: those that are known of what is cached, and those that the inner storage tells.
    void read_each_versioned(std::span<const std::string> keys, versioned_object_sink sink) const {
        detail::cached_batch{state_->objects}.read_each_versioned(keys, sink);
    }
    void read_ranges_versioned(std::span<const object_range> ranges, versioned_range_sink sink) const {
        detail::cached_batch{state_->objects}.read_ranges_versioned(ranges, sink);
    }
    /// What is cached, or what the inner storage shows; asks for nothing.
    [[nodiscard]] std::optional<byte_buffer> view(std::string_view key) const;
    /// Begins to bring an object on another thread, if it is to be cached; whether it is cached already.  Asks the
    /// inner storage to read it ahead otherwise, if it can.
    [[nodiscard]] bool read_ahead(std::string_view key) const;
    /// Parts that stay near whatever the cache has room for; see object_holder.
    [[nodiscard]] std::unique_ptr<held_objects> hold() const {
        return std::make_unique<detail::object_holder<reader>>(objects());
    }
    [[nodiscard]] versioned_object read_versioned(std::string_view key) const
        requires versioned_reader<Inner>
    {
        return inner().read_versioned(key);
    }

    /// The inner storage's, and reading ahead where there are threads for it.
    [[nodiscard]] storage_abilities abilities() const {
        storage_abilities can = abilities_of(inner());
        can.reads_ahead = state_->objects.options().threads_ahead > 0;
        return can;
    }

    // Listing: passed on ------------------------------------------------------------------------------------------

    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const;
    [[nodiscard]] std::vector<object_entry> entries(std::string_view prefix, std::string_view after,
                                                    std::size_t most) const
        requires entry_lister<Inner>;
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const { return inner().size(key); }
    [[nodiscard]] std::string name() const { return std::string(inner().name()); }
    [[nodiscard]] bool exists() const
        requires place_prober<Inner>
    {
        return inner().exists();
    }
    [[nodiscard]] bool is_file() const { return detail::is_file(inner()); }
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
    [[nodiscard]] std::chrono::milliseconds look_interval() const {
        return smdebug::look_interval(inner(), std::chrono::milliseconds{0});
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

    // Writing: passed on, and what is cached of it forgotten ------------------------------------------------------

    void write(std::string_view key, byte_view bytes)
        requires writable_storage<Inner>;
    [[nodiscard]] auto create(std::string_view key)
        requires appending_storage<Inner>
    {
        using output = decltype(state_->objects.inner().create(key));
        return detail::cached_output<reader, output>{objects(), std::string{key}, state_->objects.inner().create(key)};
    }
    bool remove(std::string_view key)
        requires removing_storage<Inner>;
    void settle(std::string_view key)
        requires removing_storage<Inner>
    {
        settle_removal(state_->objects.inner(), key);
    }
    [[nodiscard]] auto claim(std::string_view key, durability how = durability::cached)
        requires claiming_storage<Inner>
    {
        state_->objects.pass(key);  // it goes without our being told
        return take_claim(state_->objects.inner(), key, how);
    }
    [[nodiscard]] bool claimed(std::string_view key) const
        requires claiming_storage<Inner>
    {
        return inner().claimed(key);
    }

    // The cache ---------------------------------------------------------------------------------------------------

    /// The next read of the object, or of any, learns anew which version is there.
    void forget(std::string_view key) const { state_->objects.forget(key); }
    void forget() const { state_->objects.forget(); }
    [[nodiscard]] const Inner& inner() const noexcept { return state_->objects.inner(); }

private:
    struct state {
        state(Inner inner, Cache cache, detail::cache_options options);
        reader objects;
        detail::fetch_crew crew;  // ends first
    };

    [[nodiscard]] std::shared_ptr<reader> objects() const { return {state_, &state_->objects}; }

    std::shared_ptr<state> state_;
};

/// The same: as cached_storage{cached_storage{...}} would be a copy.
template <storage Inner, cache_of<Inner> Cache = memory_cache>
[[nodiscard]] cached_storage<Inner, Cache> cached(Inner inner, Cache cache = Cache{},
                                                  detail::cache_options options = {}) {
    return cached_storage<Inner, Cache>{std::move(inner), std::move(cache), std::move(options)};
}

}  // namespace v1
}  // namespace smdebug

#include <smdebug/storage/impl/cached_storage.tpp>
