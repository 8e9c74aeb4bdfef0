// Reading whole objects through a cache: which of them are cached, in which version, and who fetches them.
// What cached_storage's copies share.
// Used by: storage/cached_storage.hpp, storage/cached_batch.hpp.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/fetch_table.hpp>
#include <smdebug/storage/held_parts.hpp>
#include <smdebug/storage/known_objects.hpp>
#include <smdebug/storage/object_cache.hpp>
#include <smdebug/storage/object_scout.hpp>
#include <smdebug/storage/versioned_read.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// Whether a key is that of an event file or of an index file, which are never changed while a run is written.  Those
/// of collections files and of the mark of the job's end are not.
[[nodiscard]] inline bool is_written_once(std::string_view key) noexcept {
    const bool index_file = key.ends_with(".json") || key.ends_with(".csv");
    return key.ends_with(".tfevents") ||
           (index_file && (key.starts_with("index/") || key.find("/index/") != std::string_view::npos));
}

/// What is cached.
struct cache_options {
    std::uint64_t largest_object = std::uint64_t{16} << 20U;  ///< bytes: of larger ones the parts are read each time
    /// Which keys may be cached at all.  Called on any thread, often.
    std::function<bool(std::string_view)> cacheable = is_written_once;
    std::size_t threads_ahead = 4;  ///< that read ahead; 0: nothing is read ahead
    std::size_t most_ahead = 64;    ///< wishes that wait: of more the oldest are dropped
};

/// An inner storage and a cache.
/// Threads: everything may be called at once, as far as the inner storage lets be.
template <storage Inner, object_cache Cache>
requires(!Cache::needs_versions || entry_lister<Inner>) class caching_reader {
public:
    static constexpr bool keeps_scans = scan_cache<Cache>;

    caching_reader(Inner inner, Cache cache, cache_options options)
        : inner_(std::move(inner)),
          cache_(std::move(cache)),
          options_(std::move(options)),
          place_(inner_.name()),
          largest_(std::min(options_.largest_object, cache_.largest())),
          scout_(inner_, options_.cacheable, !Cache::needs_versions) {}
    caching_reader(const caching_reader&) = delete;
    caching_reader& operator=(const caching_reader&) = delete;
    ~caching_reader() = default;

    [[nodiscard]] Inner& inner() noexcept { return inner_; }
    [[nodiscard]] const cache_options& options() const noexcept { return options_; }

    /// A part of an object: of what is held of it, else of the cached whole, which is brought first where it is to be
    /// cached.
    /// `told`: is set to the version that it is of, as far as that is known.
    [[nodiscard]] byte_buffer read(std::string_view key, byte_range where, object_version* told = nullptr) {
        if (std::optional<byte_buffer> part = held_.find(key, where, told)) {
            return *std::move(part);
        }
        const std::optional<known_object> known = to_cache(key, true);
        const std::optional<byte_buffer> whole =
            known ? object(key, *known, fetch_table::by::reader, told) : std::nullopt;
        if (whole && where.offset >= whole->size() && where.length > 0 && scout_.has_changed(key, *known)) {
            pass(key);  // it grows: only what has come is read from now on, not the whole again and again
            return read_inner(key, where, told);
        }
        return whole ? whole->slice(where) : read_inner(key, where, told);
    }
    [[nodiscard]] byte_buffer read(std::string_view key) {
        if (std::optional<byte_buffer> whole = held_.find(key, held_parts::whole)) {
            return *std::move(whole);
        }
        const std::optional<known_object> known = to_cache(key, true);
        std::optional<byte_buffer> whole = known ? object(key, *known, fetch_table::by::reader) : std::nullopt;
        return whole ? *std::move(whole) : std::as_const(inner_).read(key);
    }

    /// Past the cache, and which version it is, where the storage tells.
    [[nodiscard]] byte_buffer read_inner(std::string_view key, object_version& told) const {
        if constexpr (versioned_reader<Inner>) {
            versioned_object whole = inner_.read_versioned(key);
            told = {.tag = std::move(whole.version), .size = whole.bytes.size()};
            return std::move(whole.bytes);
        } else {
            told = {};
            return inner_.read(key);
        }
    }

    /// What is known of an object that is to be cached; nothing for one that is not, or is not there.
    /// With `may_ask` the inner storage is asked where nothing is known.
    [[nodiscard]] std::optional<known_object> to_cache(std::string_view key, bool may_ask) {
        if (!may_cache(key)) {
            return std::nullopt;
        }
        const std::optional<known_object> known = may_ask ? scout_.learn(key) : scout_.known().find(key);
        return known && is_to_cache(*known) ? known : std::nullopt;
    }

    /// Whether an object is in the cache or on its way, as far as is known; nothing for one that is not to be cached.
    [[nodiscard]] std::optional<bool> looks_near(std::string_view key) {
        if (!may_cache(key)) {
            return std::nullopt;
        }
        const std::optional<known_object> known = scout_.known().find(key);
        if (known && !is_to_cache(*known)) {
            return std::nullopt;
        }
        return known && is_near(key, *known);
    }

    /// Whether an object is in the cache, or on its way.
    [[nodiscard]] bool is_near(std::string_view key, const known_object& known) {
        return cache_.holds(identity(key, known)) || fetches_.is_under_way(key, known.version);
    }
    /// The object, if it is; waits for one on its way.
    [[nodiscard]] std::optional<byte_buffer> find_near(std::string_view key, const known_object& known, bool for_scan,
                                                       object_version* told = nullptr) {
        std::optional<byte_buffer> whole = find(key, known, for_scan);
        if (whole) {
            tell(told, {.tag = known.version, .size = known.size});
        } else if ((whole = fetches_.wait(key, known.version))) {
            tell(told, {.tag = {}, .size = whole->size()});  // it may be another one by now
        }
        return whole;
    }
    /// The object, if it is in the cache.
    [[nodiscard]] std::optional<byte_buffer> find(std::string_view key, const known_object& known,
                                                  bool for_scan = false) {
        std::optional<byte_buffer> whole;
        if constexpr (keeps_scans) {
            whole = for_scan ? cache_.find_aside(identity(key, known)) : cache_.find(identity(key, known));
        } else {
            whole = cache_.find(identity(key, known));
        }
        if (whole && whole->size() != known.size) {
            cache_.drop(identity(key, known));  // of an object without a version, that much can be told
            whole.reset();
        }
        return whole;
    }

    /// Brings an object into the cache for whoever may want it.
    void bring(const std::string& key) {
        if (const std::optional<known_object> known = to_cache(key, true)) {
            static_cast<void>(object(key, *known, fetch_table::by::ahead));
        }
    }

    /// Keeps a copy of what a scan brought, under the version that was known before; to be confirmed.
    void keep_aside(std::string_view key, const known_object& known, byte_view bytes) requires scan_cache<Cache> {
        if (bytes.size() == known.size) {
            cache_.keep_aside(identity(key, known), bytes);
        }
    }
    /// The same under the version that the reading told; `state` is that of scout().known() before it.  What is known
    /// of the object then.
    known_object keep_aside(std::string_view key, const known_object& known, byte_view bytes,
                            const std::string& version, std::uint64_t state) requires scan_cache<Cache> {
        known_object read{.size = bytes.size(), .version = version};
        if (read.version != known.version) {  // replaced since it was listed
            scout_.known().learn(key, read, state);
        }
        if (bytes.size() <= largest_) {
            cache_.keep_aside(identity(key, read), bytes);
        }
        return read;
    }
    /// Takes away what was kept of objects that have been replaced since they became known: the bytes may be others.
    /// Cost: a listing for some thousand objects whose keys lie near to each other.
    void confirm(const std::vector<std::pair<std::string, known_object>>& kept) requires entry_lister<Inner> {
        std::vector<object_entry> window;
        for (const auto& [key, known] : kept) {
            if (window.empty() || key < window.front().key || key > window.back().key) {
                try {
                    window = scout_.entries_from(key);
                } catch (const error&) {
                    window.clear();
                }
            }
            const object_entry* const now = object_scout<Inner>::entry_of(window, key);
            if (now == nullptr || now->version != known.version) {
                cache_.drop(identity(key, known));
                forget(key);
            }
        }
    }

    [[nodiscard]] object_scout<Inner>& scout() noexcept { return scout_; }
    /// What is held of objects, and on its way.
    [[nodiscard]] held_parts& held() noexcept { return held_; }

    /// Is told of an object that has been, or may have been, replaced or removed.
    void forget(std::string_view key) {
        scout_.known().forget(key);
        drop(key);
    }
    void forget() {
        scout_.forget();
        held_.forget();
        fetches_.forget();
        cache_.clear();
    }
    /// Is told of one that changes: it is not to be cached.
    void pass(std::string_view key) {
        scout_.known().pass(key);
        drop(key);
    }

private:
    [[nodiscard]] bool may_cache(std::string_view key) const { return largest_ > 0 && options_.cacheable(key); }
    [[nodiscard]] bool is_to_cache(const known_object& known) const noexcept {
        return !known.passes && known.size <= largest_;
    }
    [[nodiscard]] object_identity identity(std::string_view key, const known_object& known) const noexcept {
        return {.place = place_, .key = key, .version = known.version};
    }

    void drop(std::string_view key) {
        held_.forget(key);
        fetches_.forget(key);
        cache_.forget(key);
    }

    static void tell(object_version* told, object_version version) {
        if (told != nullptr) {
            *told = std::move(version);
        }
    }

    // A part of what is not cached.
    [[nodiscard]] byte_buffer read_inner(std::string_view key, byte_range where, object_version* told) const {
        if constexpr (versioned_batch_reader<Inner>) {
            if (told != nullptr) {
                std::optional<byte_buffer> part;
                const object_range wanted{key, where};
                inner_.read_ranges_versioned(
                    {&wanted, 1}, [&](std::size_t, std::optional<byte_buffer> bytes, const object_version& version) {
                        part = std::move(bytes);
                        *told = version;
                    });
                if (part) {
                    return *std::move(part);
                }
            }
        }
        tell(told, {});
        return inner_.read(key, where);
    }

    // What a fetch gives.
    struct fetched {
        byte_buffer whole;
        std::optional<std::string> version = {};  // to keep it under; none: not to be kept
    };

    /// The object, fetched where it is not in the cache.  Nothing for who reads ahead of another who fetches it.
    [[nodiscard]] std::optional<byte_buffer> object(std::string_view key, const known_object& known,
                                                    fetch_table::by who, object_version* told = nullptr) {
        tell(told, {.tag = known.version, .size = known.size});
        if (std::optional<byte_buffer> whole = find(key, known)) {
            return whole;
        }
        tell(told, {});  // another thread's fetch may bring another one
        fetched brought;
        const auto keep = [&](const byte_buffer& whole) {
            if (brought.version && whole.size() <= largest_) {
                cache_.keep({.place = place_, .key = key, .version = *brought.version}, whole);
            }
        };
        return fetches_.get(
            key, known.version, who,
            [&] {
                if (std::optional<byte_buffer> whole = find(key, known)) {  // it has just come
                    tell(told, {.tag = known.version, .size = known.size});
                    return *std::move(whole);
                }
                brought = fetch(key, known);
                tell(told, {.tag = brought.version.value_or(""), .size = brought.whole.size()});
                if constexpr (Cache::needs_versions) {  // takes its time; whoever forgets the key, forgets its version
                    keep(brought.whole);
                    if constexpr (!versioned_reader<Inner>) {
                        confirm({{std::string{key}, known}});
                    }
                    brought.version.reset();
                }
                return std::move(brought.whole);
            },
            keep);
    }

    [[nodiscard]] fetched fetch(std::string_view key, const known_object& known) {
        const Inner& from = inner_;
        const std::uint64_t state = scout_.known().state();
        try {
            if constexpr (entry_lister<Inner> && versioned_reader<Inner>) {
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

    Inner inner_;
    Cache cache_;
    cache_options options_;
    std::string place_;
    std::uint64_t largest_;
    object_scout<Inner> scout_;
    held_parts held_;
    fetch_table fetches_;
};

}  // namespace v1
}  // namespace smdebug
