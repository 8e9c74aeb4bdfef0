// Reads whole objects through a cache: decides which are cached, in which version, and which thread fetches them.
// The copies of a cached_storage share it.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/storage/batch_read.hpp>
#include <smdebug/storage/cache/held_parts.hpp>
#include <smdebug/storage/cache/metadata_cache.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/object_cache.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1::detail {

/// What is cached.
struct cache_options {
    std::uint64_t largest_object = std::uint64_t{16} << 20U;  ///< bytes: of larger objects the parts are read each time
    /// Which keys may be cached; empty: all. Called often, on any thread. For runs: is_written_once.
    std::function<bool(std::string_view)> cacheable = {};
    std::size_t threads_ahead = 4;  ///< threads that prefetch; 0: no prefetching
    std::size_t most_ahead = 64;    ///< queued prefetches: beyond these the oldest are dropped
};

/// An inner storage and a cache.
/// Threads: everything may be called concurrently, if the inner storage allows it.
template <storage Inner, cache_of<Inner> Cache>
class caching_reader {
public:
    static constexpr bool keeps_scans = scan_cache<Cache>;

    caching_reader(Inner inner, Cache cache, cache_options options);
    caching_reader(const caching_reader&) = delete;
    caching_reader& operator=(const caching_reader&) = delete;
    ~caching_reader() = default;

    [[nodiscard]] Inner& inner() noexcept { return inner_; }
    [[nodiscard]] const cache_options& options() const noexcept { return options_; }

    /// A part of an object: from its held parts, or else from the cached whole, which is fetched first if it is to be
    /// cached.
    /// `version`: set to the part's version, if known.
    [[nodiscard]] byte_buffer read(std::string_view key, byte_range where = whole_object,
                                   object_version* version = nullptr);

    /// Reads an object past the cache, with its version if the storage reports it.
    [[nodiscard]] byte_buffer read_inner(std::string_view key, object_version& version) const;

    /// What is known of an object that is to be cached; nothing if it is not to be cached or does not exist.
    /// With `may_ask` the inner storage is queried if nothing is known.
    [[nodiscard]] std::optional<known_object> to_cache(std::string_view key, bool may_ask);

    /// Whether an object is known to be cached or on its way; nothing if it is not to be cached.
    [[nodiscard]] std::optional<bool> looks_near(std::string_view key);

    /// Whether an object is cached or on its way.
    [[nodiscard]] bool is_near(std::string_view key, const known_object& known) {
        return cache_.holds(identity(key, known)) || fetches_.is_under_way(key, known.version);
    }
    /// The object, if it is cached; waits for one on its way.
    [[nodiscard]] std::optional<byte_buffer> find_near(std::string_view key, const known_object& known, bool for_scan,
                                                       object_version* version = nullptr);
    /// The object, if it is cached.
    [[nodiscard]] std::optional<byte_buffer> find(std::string_view key, const known_object& known,
                                                  bool for_scan = false);

    /// Prefetches an object into the cache.
    void prefetch(const std::string& key);

    /// Keeps a copy of an object that a scan read, under the version known before; to be confirmed.
    void keep_aside(std::string_view key, const known_object& known, byte_view bytes)
        requires scan_cache<Cache>;
    /// The same under the version that the read reported; `state` is that of scout().known() before it. Returns what is
    /// now known of the object.
    known_object keep_aside(std::string_view key, const known_object& known, byte_view bytes,
                            const std::string& version, std::uint64_t state)
        requires scan_cache<Cache>;
    /// Drops the copies of objects that were replaced since they were listed, as the bytes may be of another version.
    /// Cost: a listing for some thousand objects with neighbouring keys.
    void confirm(const std::vector<std::pair<std::string, known_object>>& kept)
        requires versioned_storage<Inner>;

    [[nodiscard]] metadata_cache<Inner>& scout() noexcept { return scout_; }
    /// The parts of objects that are held or on their way.
    [[nodiscard]] held_parts& parts() noexcept { return parts_; }

    /// Call it when an object has been, or may have been, replaced or removed: its cached copy is no longer returned.
    void forget(std::string_view key);
    void forget();
    /// Stops caching an object because it changes while it is read.
    void pass(std::string_view key);

private:
    [[nodiscard]] static cache_options with_predicate(cache_options options) {
        if (!options.cacheable) {
            options.cacheable = [](std::string_view) { return true; };
        }
        return options;
    }

    [[nodiscard]] bool may_cache(std::string_view key) const { return largest_ > 0 && options_.cacheable(key); }
    [[nodiscard]] bool is_to_cache(const known_object& known) const noexcept {
        return !known.passes && known.size <= largest_;
    }
    [[nodiscard]] object_identity identity(std::string_view key, const known_object& known) const noexcept {
        return {.place = place_, .key = key, .version = known.version};
    }

    void drop(std::string_view key);

    static void report(object_version* to, object_version version);

    // Reads a part of an object that is not cached.
    [[nodiscard]] byte_buffer read_inner(std::string_view key, byte_range where, object_version* version) const;

    // The result of a fetch.
    struct fetched {
        byte_buffer whole;
        std::optional<std::string> version = {};  // to cache it under; nothing: not cached
    };

    /// The object, fetched if it is not cached. If another thread is already fetching it, a reader waits for the result
    /// and a prefetch returns nothing.
    [[nodiscard]] std::optional<byte_buffer> object(std::string_view key, const known_object& known,
                                                    single_flight::by who, object_version* version = nullptr);

    [[nodiscard]] fetched fetch(std::string_view key, const known_object& known);

    Inner inner_;
    Cache cache_;
    cache_options options_;
    std::string place_;
    std::uint64_t largest_;
    metadata_cache<Inner> scout_;
    held_parts parts_;
    single_flight fetches_;
};

template <storage Inner, cache_of<Inner> Cache>
caching_reader<Inner, Cache>::caching_reader(Inner inner, Cache cache, cache_options options)
    : inner_(std::move(inner)),
      cache_(std::move(cache)),
      options_(with_predicate(std::move(options))),
      place_(inner_.name()),
      largest_(std::min(options_.largest_object, cache_.largest())),
      scout_(inner_, options_.cacheable, !Cache::needs_versions) {}

template <storage Inner, cache_of<Inner> Cache>
byte_buffer caching_reader<Inner, Cache>::read(std::string_view key, byte_range where, object_version* version) {
    if (std::optional<byte_buffer> part = parts_.find(key, where, version)) {
        return *std::move(part);
    }
    const std::optional<known_object> known = to_cache(key, true);
    const std::optional<byte_buffer> whole =
        known ? object(key, *known, single_flight::by::reader, version) : std::nullopt;
    if (whole && where != whole_object && where.offset >= whole->size() && where.length > 0 &&
        scout_.has_changed(key, *known)) {
        pass(key);  // it grows: from now on its parts are read, not the whole each time
        return read_inner(key, where, version);
    }
    return whole ? whole->slice(where) : read_inner(key, where, version);
}

template <storage Inner, cache_of<Inner> Cache>
byte_buffer caching_reader<Inner, Cache>::read_inner(std::string_view key, object_version& version) const {
    if constexpr (versioned_storage<Inner>) {
        versioned_object whole = inner_.read_versioned(key);
        version = {.tag = std::move(whole.version), .size = whole.bytes.size()};
        return std::move(whole.bytes);
    } else {
        version = {};
        return inner_.read(key);
    }
}

template <storage Inner, cache_of<Inner> Cache>
std::optional<known_object> caching_reader<Inner, Cache>::to_cache(std::string_view key, bool may_ask) {
    if (!may_cache(key)) {
        return std::nullopt;
    }
    const std::optional<known_object> known = may_ask ? scout_.learn(key) : scout_.known().find(key);
    return known && is_to_cache(*known) ? known : std::nullopt;
}

template <storage Inner, cache_of<Inner> Cache>
std::optional<bool> caching_reader<Inner, Cache>::looks_near(std::string_view key) {
    if (!may_cache(key)) {
        return std::nullopt;
    }
    const std::optional<known_object> known = scout_.known().find(key);
    if (known && !is_to_cache(*known)) {
        return std::nullopt;
    }
    return known && is_near(key, *known);
}

template <storage Inner, cache_of<Inner> Cache>
std::optional<byte_buffer> caching_reader<Inner, Cache>::find_near(std::string_view key, const known_object& known,
                                                                   bool for_scan, object_version* version) {
    std::optional<byte_buffer> whole = find(key, known, for_scan);
    if (whole) {
        report(version, {.tag = known.version, .size = known.size});
    } else if ((whole = fetches_.wait(key, known.version))) {
        report(version, {.tag = {}, .size = whole->size()});  // perhaps of a newer version than the known one
    }
    return whole;
}

template <storage Inner, cache_of<Inner> Cache>
std::optional<byte_buffer> caching_reader<Inner, Cache>::find(std::string_view key, const known_object& known,
                                                              bool for_scan) {
    std::optional<byte_buffer> whole;
    if constexpr (keeps_scans) {
        whole = for_scan ? cache_.find_aside(identity(key, known)) : cache_.find(identity(key, known));
    } else {
        whole = cache_.find(identity(key, known));
    }
    if (whole && whole->size() != known.size) {
        cache_.drop(identity(key, known));  // without versions, the size alone shows that the object was replaced
        whole.reset();
    }
    return whole;
}

template <storage Inner, cache_of<Inner> Cache>
void caching_reader<Inner, Cache>::prefetch(const std::string& key) {
    if (const std::optional<known_object> known = to_cache(key, true)) {
        static_cast<void>(object(key, *known, single_flight::by::ahead));
    }
}

template <storage Inner, cache_of<Inner> Cache>
void caching_reader<Inner, Cache>::keep_aside(std::string_view key, const known_object& known, byte_view bytes)
    requires scan_cache<Cache>
{
    if (bytes.size() == known.size) {
        cache_.keep_aside(identity(key, known), bytes);
    }
}

template <storage Inner, cache_of<Inner> Cache>
known_object caching_reader<Inner, Cache>::keep_aside(std::string_view key, const known_object& known, byte_view bytes,
                                                      const std::string& version, std::uint64_t state)
    requires scan_cache<Cache>
{
    known_object read{.size = bytes.size(), .version = version};
    if (read.version != known.version) {  // replaced since it was listed
        scout_.known().learn(key, read, state);
    }
    if (bytes.size() <= largest_) {
        cache_.keep_aside(identity(key, read), bytes);
    }
    return read;
}

template <storage Inner, cache_of<Inner> Cache>
void caching_reader<Inner, Cache>::confirm(const std::vector<std::pair<std::string, known_object>>& kept)
    requires versioned_storage<Inner>
{
    std::vector<object_entry> window;
    for (const auto& [key, known] : kept) {
        if (window.empty() || key < window.front().key || key > window.back().key) {
            try {
                window = scout_.entries_from(key);
            } catch (const error&) {
                window.clear();
            }
        }
        const object_entry* const now = metadata_cache<Inner>::entry_of(window, key);
        if (now == nullptr || now->version != known.version) {
            cache_.drop(identity(key, known));
            forget(key);
        }
    }
}

template <storage Inner, cache_of<Inner> Cache>
void caching_reader<Inner, Cache>::forget(std::string_view key) {
    scout_.known().forget(key);
    drop(key);
}

template <storage Inner, cache_of<Inner> Cache>
void caching_reader<Inner, Cache>::forget() {
    scout_.forget();
    parts_.forget();
    fetches_.forget();
    cache_.clear();
}

template <storage Inner, cache_of<Inner> Cache>
void caching_reader<Inner, Cache>::pass(std::string_view key) {
    scout_.known().pass(key);
    drop(key);
}

template <storage Inner, cache_of<Inner> Cache>
void caching_reader<Inner, Cache>::drop(std::string_view key) {
    parts_.forget(key);
    fetches_.forget(key);
    cache_.forget(key);
}

template <storage Inner, cache_of<Inner> Cache>
void caching_reader<Inner, Cache>::report(object_version* to, object_version version) {
    if (to != nullptr) {
        *to = std::move(version);
    }
}

template <storage Inner, cache_of<Inner> Cache>
byte_buffer caching_reader<Inner, Cache>::read_inner(std::string_view key, byte_range where,
                                                     object_version* version) const {
    if constexpr (range_batch_reader<Inner>) {
        if (version != nullptr) {
            std::optional<byte_buffer> part;
            const object_range wanted{key, where};
            inner_.read_ranges({&wanted, 1},
                               [&](std::size_t, std::optional<byte_buffer> bytes, const object_version& of_part) {
                                   part = std::move(bytes);
                                   *version = of_part;
                               });
            if (part) {
                return *std::move(part);
            }
        }
    }
    report(version, {});
    return inner_.read(key, where);
}

template <storage Inner, cache_of<Inner> Cache>
std::optional<byte_buffer> caching_reader<Inner, Cache>::object(std::string_view key, const known_object& known,
                                                                single_flight::by who, object_version* version) {
    report(version, {.tag = known.version, .size = known.size});
    if (std::optional<byte_buffer> whole = find(key, known)) {
        return whole;
    }
    report(version, {});  // another thread's fetch may bring another version
    fetched brought;
    const auto keep = [&](const byte_buffer& whole) {
        if (brought.version && whole.size() <= largest_) {
            cache_.keep({.place = place_, .key = key, .version = *brought.version}, whole);
        }
    };
    return fetches_.get(
        key, known.version, who,
        [&] {
            if (std::optional<byte_buffer> whole = find(key, known)) {  // cached by another thread meanwhile
                report(version, {.tag = known.version, .size = known.size});
                return *std::move(whole);
            }
            brought = fetch(key, known);
            report(version, {.tag = brought.version.value_or(""), .size = brought.whole.size()});
            if constexpr (Cache::needs_versions) {  // slow; forgetting the key also forgets its version
                keep(brought.whole);
                brought.version.reset();
            }
            return std::move(brought.whole);
        },
        keep);
}

template <storage Inner, cache_of<Inner> Cache>
typename caching_reader<Inner, Cache>::fetched caching_reader<Inner, Cache>::fetch(std::string_view key,
                                                                                   const known_object& known) {
    const Inner& from = inner_;
    const std::uint64_t state = scout_.known().state();
    try {
        if constexpr (versioned_storage<Inner>) {
            versioned_object object = from.read_versioned(key);
            if (object.version != known.version) {  // replaced since it was listed
                scout_.known().learn(key, {.size = object.bytes.size(), .version = object.version}, state);
            }
            return {.whole = std::move(object.bytes), .version = std::move(object.version)};
        } else {
            fetched brought{.whole = from.read(key)};
            if (brought.whole.size() == known.size) {
                brought.version = known.version;
            } else {
                scout_.known().forget(key);
            }
            return brought;
        }
    } catch (const not_found&) {
        scout_.known().forget(key);
        throw;
    }
}

}  // namespace smdebug::inline v1::detail
