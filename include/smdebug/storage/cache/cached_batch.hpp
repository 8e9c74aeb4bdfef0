// Reads many objects or parts of them through a cache: cached ones from there, the rest in one call.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/storage/batch_read.hpp>
#include <smdebug/storage/cache/caching_reader.hpp>
#include <smdebug/storage/cache/held_parts.hpp>
#include <smdebug/storage/cache/metadata_cache.hpp>
#include <smdebug/storage/concepts.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1::detail {

/// Delivers items in order, of which some are cached and others come from one batch call.
/// `far`: the ascending positions of the items that are not cached. call(take) must call take(i, what...) for each of
/// them, where i is an index into `far`; near(place) delivers a cached item, give(place, what...) one of the others.
/// Errors: what these throw. If `call` throws, all items before the failed one have been delivered.
template <class Near, class Give, class Call>
void in_order(std::size_t count, std::span<const std::size_t> far, Near&& near, Give&& give, Call&& call) {
    std::size_t next = 0;
    std::size_t come = 0;
    bool handing = false;
    const auto near_before = [&](std::size_t end) {
        for (; next < end; ++next) {
            near(next);
        }
    };
    try {
        if (!far.empty()) {
            call([&](std::size_t i, auto&&... what) {
                handing = true;
                near_before(far[i]);
                ++next;
                come = i + 1;
                give(far[i], std::forward<decltype(what)>(what)...);
                handing = false;
            });
        }
    } catch (...) {
        if (!handing && come < far.size()) {
            near_before(far[come]);
        }
        throw;
    }
    near_before(count);
}

/// One batch.  Borrows the reader.
template <class Reader>
class cached_batch {
public:
    explicit cached_batch(Reader& reader) : reader_(reader) {}

    /// As read_each(). Objects read from the inner storage are kept only by a cache for scans: in another
    /// they would evict everything.
    void read_each(std::span<const std::string> keys, object_sink sink);

    /// As read_ranges(). With a cache for scans, objects that are small or of which much is wanted are first
    /// fetched whole.
    void read_ranges(std::span<const object_range> ranges, range_sink sink);

    /// Fetches parts for object_holder, without looking into held_parts. Delivers nothing if an object does not exist
    /// or cannot be read. Whole objects are kept only by a cache for scans.
    /// Errors: what `sink` throws.
    void prefetch(std::span<const object_range> parts, range_sink sink);

private:
    static constexpr bool keeps_scans = Reader::keeps_scans;

    struct no_room {};
    using kept_list = std::vector<std::pair<std::string, known_object>>;

    template <class Near, class Give>
    void read_far(std::span<const std::string> keys, std::span<const std::size_t> far, Near&& near, Give&& give) {
        const auto call = [&](std::span<const std::string> asked) {
            detail::in_order(keys.size(), far, near, give,
                             [&](auto&& take) { smdebug::read_each(std::as_const(reader_.inner()), asked, take); });
        };
        try {
            if (far.size() == keys.size()) {
                call(keys);
            } else {
                std::vector<std::string> asked;
                asked.reserve(far.size());
                for (const std::size_t place : far) {
                    asked.push_back(keys[place]);
                }
                call(asked);
            }
        } catch (...) {
            confirm();
            throw;
        }
        confirm();
    }

    /// Fetches whole those objects of which much is wanted, if the cache keeps objects of scans.
    void bring_wholes(std::span<const object_range> ranges);

    /// Returns what is now known of the object.
    known_object keep([[maybe_unused]] const std::string& key, const known_object& known,
                      [[maybe_unused]] byte_view bytes, [[maybe_unused]] const object_version& version);
    void confirm();

    /// Whether all ranges of the first one's object, up to the next object, are in held_parts. If one is not, all are
    /// read elsewhere, so that they are of one version.
    [[nodiscard]] bool holds_all(std::span<const object_range> ranges) const;

    // The cache may have dropped an object since: it is then read. Nothing if the storage does not have it.
    [[nodiscard]] std::optional<byte_buffer> whole_of(const std::string& key, const std::optional<known_object>& known,
                                                      object_version& version);
    [[nodiscard]] std::optional<byte_buffer> cached_whole(const std::string& key, const known_object& known,
                                                          object_version& version);
    [[nodiscard]] std::optional<byte_buffer> part_of(const object_range& wanted,
                                                     const std::optional<known_object>& known, object_version& version);

    // The number of bytes that take about as long as a round trip to a remote server.
    static constexpr std::uint64_t worth_a_request = std::uint64_t{1} << 20U;
    static constexpr std::uint64_t most_counted = std::uint64_t{1} << 40U;  // per range: the sum must not overflow

    Reader& reader_;
    kept_list kept_;
    std::uint64_t state_ = 0;  // state() when the batch began
};

template <class Reader>
void cached_batch<Reader>::read_each(std::span<const std::string> keys, object_sink sink) {
    state_ = reader_.scout().known().state();
    std::vector<std::optional<known_object>> known(keys.size());
    std::vector<std::size_t> far;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (reader_.parts().covers(keys[i], whole_object)) {
            continue;
        }
        known[i] = reader_.to_cache(keys[i], keeps_scans);
        if (!known[i] || !reader_.is_near(keys[i], *known[i])) {
            far.push_back(i);
        }
    }
    const auto near = [&](std::size_t place) {
        object_version version;
        const std::optional<byte_buffer> whole = whole_of(keys[place], known[place], version);
        sink(place, whole ? std::optional{whole->view()} : std::nullopt, version);
    };
    const auto give = [&](std::size_t place, std::optional<byte_view> bytes, const object_version& version) {
        if (bytes && known[place]) {
            keep(keys[place], *known[place], *bytes, version);
        }
        sink(place, bytes, version);
    };
    read_far(keys, far, near, give);
}

template <class Reader>
void cached_batch<Reader>::read_ranges(std::span<const object_range> ranges, range_sink sink) {
    state_ = reader_.scout().known().state();
    if constexpr (keeps_scans) {
        bring_wholes(ranges);
    }
    std::vector<std::optional<known_object>> known(ranges.size());
    std::vector<std::size_t> far;
    bool is_far = false;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        if (i > 0 && ranges[i].key == ranges[i - 1].key) {  // all ranges of an object come from one place
            known[i] = known[i - 1];
        } else {
            const bool is_held = holds_all(ranges.subspan(i));
            known[i] = is_held ? std::nullopt : reader_.to_cache(ranges[i].key, false);
            is_far = !is_held && (!known[i] || !reader_.is_near(ranges[i].key, *known[i]));
        }
        if (is_far) {
            far.push_back(i);
        }
    }
    std::vector<object_range> asked;
    asked.reserve(far.size());
    for (const std::size_t place : far) {
        asked.push_back(ranges[place]);
    }
    detail::in_order(
        ranges.size(), far,
        [&](std::size_t place) {
            object_version version;
            std::optional<byte_buffer> bytes = part_of(ranges[place], known[place], version);
            sink(place, std::move(bytes), version);
        },
        [&](std::size_t place, std::optional<byte_buffer> bytes, const object_version& version) {
            sink(place, std::move(bytes), version);
        },
        [&](auto&& take) { smdebug::read_ranges(std::as_const(reader_.inner()), asked, take); });
}

template <class Reader>
void cached_batch<Reader>::prefetch(std::span<const object_range> parts, range_sink sink) {
    state_ = reader_.scout().known().state();
    std::vector<std::optional<known_object>> known(parts.size());
    std::vector<std::size_t> far;
    std::vector<object_range> asked;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        known[i] = reader_.to_cache(parts[i].key, keeps_scans);
        if (!known[i] || !reader_.is_near(parts[i].key, *known[i])) {
            far.push_back(i);
            asked.push_back(parts[i]);
        }
    }
    const auto near = [&](std::size_t place) {
        object_version version;
        std::optional<byte_buffer> part;
        try {
            const auto whole = cached_whole(std::string{parts[place].key}, *known[place], version);
            part = whole ? std::optional{whole->slice(parts[place].where)} : std::nullopt;
        } catch (const error&) {
            part.reset();  // reading the part reports the error
        }
        sink(place, std::move(part), version);
    };
    const auto give = [&](std::size_t place, std::optional<byte_buffer> bytes, const object_version& version) {
        if (bytes && known[place] && parts[place].where.offset == 0 &&
            bytes->size() == version.size.value_or(known[place]->size)) {
            keep(std::string{parts[place].key}, *known[place], bytes->view(), version);
        }
        sink(place, std::move(bytes), version);
    };
    const auto call = [&](auto&& take) {
        read_ranges_past_errors(
            std::as_const(reader_.inner()), asked,
            [&](std::size_t i, std::optional<byte_buffer> bytes, const object_version& version) {
                take(i, std::move(bytes), version);
            },
            [&](std::size_t i) { take(i, std::optional<byte_buffer>{}, object_version{}); });
    };
    try {
        detail::in_order(parts.size(), far, near, give, call);
    } catch (...) {
        confirm();
        throw;
    }
    confirm();
}

template <class Reader>
void cached_batch<Reader>::bring_wholes(std::span<const object_range> ranges) {
    std::vector<std::string> keys;
    std::vector<known_object> known;
    for (std::size_t i = 0; i < ranges.size();) {
        const std::string_view key = ranges[i].key;
        if (holds_all(ranges.subspan(i))) {
            while (i < ranges.size() && ranges[i].key == key) {
                ++i;
            }
            continue;
        }
        std::uint64_t asked = 0;
        for (; i < ranges.size() && ranges[i].key == key; ++i) {
            asked += std::min(ranges[i].where.length, most_counted);
        }
        const std::optional<known_object> listed = reader_.to_cache(key, true);
        if (listed && (listed->size <= worth_a_request || asked >= listed->size / 4) &&
            !reader_.is_near(key, *listed)) {
            keys.emplace_back(key);
            known.push_back(*listed);
        }
    }
    if (keys.empty()) {
        return;
    }
    try {
        smdebug::read_each(std::as_const(reader_.inner()), keys,
                           [&](std::size_t i, std::optional<byte_view> bytes, const object_version& version) {
                               if (bytes) {
                                   const known_object kept = keep(keys[i], known[i], *bytes, version);
                                   if (!reader_.is_near(keys[i], kept)) {
                                       throw no_room{};
                                   }
                               }
                           });
    } catch (const no_room&) {
        // The cache is full: the parts are read from the inner storage.
    } catch (const error&) {
        // Reading the parts throws the error again.
    }
    confirm();
}

template <class Reader>
known_object cached_batch<Reader>::keep([[maybe_unused]] const std::string& key, const known_object& known,
                                        [[maybe_unused]] byte_view bytes,
                                        [[maybe_unused]] const object_version& version) {
    if constexpr (keeps_scans) {
        if (!version.tag.empty()) {
            return reader_.keep_aside(key, known, bytes, version.tag, state_);
        }
        reader_.keep_aside(key, known, bytes);
        kept_.emplace_back(key, known);
    }
    return known;
}

template <class Reader>
void cached_batch<Reader>::confirm() {
    if constexpr (keeps_scans) {
        reader_.confirm(std::exchange(kept_, {}));
    }
}

template <class Reader>
bool cached_batch<Reader>::holds_all(std::span<const object_range> ranges) const {
    for (const object_range& each : ranges) {
        if (each.key != ranges.front().key) {
            break;
        }
        if (!reader_.parts().covers(each.key, each.where)) {
            return false;
        }
    }
    return true;
}

template <class Reader>
std::optional<byte_buffer> cached_batch<Reader>::whole_of(const std::string& key,
                                                          const std::optional<known_object>& known,
                                                          object_version& version) {
    if (std::optional<byte_buffer> whole = reader_.parts().find(key, whole_object, &version)) {
        return whole;
    }
    if (known) {
        return cached_whole(key, *known, version);
    }
    try {
        return reader_.read_inner(key, version);
    } catch (const not_found&) {
        return std::nullopt;
    }
}

template <class Reader>
std::optional<byte_buffer> cached_batch<Reader>::cached_whole(const std::string& key, const known_object& known,
                                                              object_version& version) {
    if (std::optional<byte_buffer> whole = reader_.find_near(key, known, true, &version)) {
        return whole;
    }
    try {
        byte_buffer read = reader_.read_inner(key, version);
        keep(key, known, read.view(), version);  // the cached copy was damaged or dropped
        return read;
    } catch (const not_found&) {
        return std::nullopt;
    }
}

template <class Reader>
std::optional<byte_buffer> cached_batch<Reader>::part_of(const object_range& wanted,
                                                         const std::optional<known_object>& known,
                                                         object_version& version) {
    try {
        if (std::optional<byte_buffer> part = reader_.parts().find(wanted.key, wanted.where, &version)) {
            return part;
        }
        if (const std::optional<byte_buffer> whole =
                known ? reader_.find_near(wanted.key, *known, false, &version) : std::nullopt;
            whole && (wanted.where.offset < whole->size() || wanted.where.length == 0)) {
            return whole->slice(wanted.where);
        }
        // Not cached, or behind the end of the cached copy: read() checks whether the object has grown.
        return reader_.read(wanted.key, wanted.where, &version);
    } catch (const not_found&) {
        return std::nullopt;
    }
}

}  // namespace smdebug::inline v1::detail
