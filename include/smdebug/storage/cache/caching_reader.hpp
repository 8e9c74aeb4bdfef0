// Reading whole objects through a cache: which of them are cached, in which version, and who fetches them.
// What cached_storage's copies share.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/storage/cache/fetch_table.hpp>
#include <smdebug/storage/cache/held_parts.hpp>
#include <smdebug/storage/cache/known_objects.hpp>
#include <smdebug/storage/cache/object_scout.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/object_cache.hpp>
#include <smdebug/storage/versioned_read.hpp>

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
namespace detail {

/// What is cached.
struct cache_options {
    std::uint64_t largest_object = std::uint64_t{16} << 20U;  ///< bytes: of larger ones the parts are read each time
    /// Which keys may be cached at all; empty: all.  Called on any thread, often.  For runs:
    /// is_written_once.
    std::function<bool(std::string_view)> cacheable = {};
    std::size_t threads_ahead = 4;  ///< that read ahead; 0: nothing is read ahead
    std::size_t most_ahead = 64;    ///< wishes that wait: of more the oldest are dropped
};

/// An inner storage and a cache.
/// Threads: everything may be called at once, as far as the inner storage lets be.
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

    /// A part of an object: of what is held of it, else of the cached whole, which is brought first where it is to be
    /// cached.
    /// `version`: set to the version that it is of, as far as that is known.
    [[nodiscard]] byte_buffer read(std::string_view key, byte_range where, object_version* version = nullptr);
    [[nodiscard]] byte_buffer read(std::string_view key);

    /// Reads an object past the cache, and its version, where the storage tells.
    [[nodiscard]] byte_buffer read_inner(std::string_view key, object_version& version) const;

    /// What is known of an object that is to be cached; nothing for one that is not, or is not there.
    /// With `may_ask` the inner storage is asked where nothing is known.
    [[nodiscard]] std::optional<known_object> to_cache(std::string_view key, bool may_ask);

    /// Whether an object is in the cache or on its way, as far as is known; nothing for one that is not to be cached.
    [[nodiscard]] std::optional<bool> looks_near(std::string_view key);

    /// Whether an object is in the cache, or on its way.
    [[nodiscard]] bool is_near(std::string_view key, const known_object& known) {
        return cache_.holds(identity(key, known)) || fetches_.is_under_way(key, known.version);
    }
    /// The object, if it is; waits for one on its way.
    [[nodiscard]] std::optional<byte_buffer> find_near(std::string_view key, const known_object& known, bool for_scan,
                                                       object_version* version = nullptr);
    /// The object, if it is in the cache.
    [[nodiscard]] std::optional<byte_buffer> find(std::string_view key, const known_object& known,
                                                  bool for_scan = false);

    /// Prefetches an object into the cache.
    void bring(const std::string& key);

    /// Keeps a copy of what a scan brought, under the version that was known before; to be confirmed.
    void keep_aside(std::string_view key, const known_object& known, byte_view bytes)
        requires scan_cache<Cache>;
    /// The same under the version that the reading told; `state` is that of scout().known() before it.  Returns what is
    /// now known of the object.
    known_object keep_aside(std::string_view key, const known_object& known, byte_view bytes,
                            const std::string& version, std::uint64_t state)
        requires scan_cache<Cache>;
    /// Drops what was kept of objects that were replaced since they were listed: the bytes may be of another version.
    /// Cost: a listing for some thousand objects whose keys lie near to each other.
    void confirm(const std::vector<std::pair<std::string, known_object>>& kept)
        requires entry_lister<Inner>;

    [[nodiscard]] object_scout<Inner>& scout() noexcept { return scout_; }
    /// What is held of objects, and on its way.
    [[nodiscard]] held_parts& parts() noexcept { return parts_; }

    /// An object has been, or may have been, replaced or removed: nothing that is cached of it is given any more.
    void forget(std::string_view key);
    void forget();
    /// Stops caching an object, as it changes while it is read.
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

    static void tell(object_version* to, object_version version);

    // A part of what is not cached.
    [[nodiscard]] byte_buffer read_inner(std::string_view key, byte_range where, object_version* version) const;

    // What a fetch gives.
    struct fetched {
        byte_buffer whole;
        std::optional<std::string> version = {};  // to keep it under; none: not to be kept
    };

    /// The object, fetched where it is not in the cache.  Where another thread fetches it already, a
    /// reader waits for that, and a prefetch gets nothing.
    [[nodiscard]] std::optional<byte_buffer> object(std::string_view key, const known_object& known,
                                                    fetch_table::by who, object_version* version = nullptr);

    [[nodiscard]] fetched fetch(std::string_view key, const known_object& known);

    Inner inner_;
    Cache cache_;
    cache_options options_;
    std::string place_;
    std::uint64_t largest_;
    object_scout<Inner> scout_;
    held_parts parts_;
    fetch_table fetches_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#include <smdebug/storage/cache/impl/caching_reader.tpp>
