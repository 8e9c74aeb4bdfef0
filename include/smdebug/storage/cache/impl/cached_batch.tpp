// The bodies of <smdebug/storage/cache/cached_batch.hpp> that are templates.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/storage/cache/cached_batch.hpp>
#include <smdebug/storage/cache/held_parts.hpp>

#include <algorithm>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace detail {

template <class Reader>
void cached_batch<Reader>::read_each_versioned(std::span<const std::string> keys, versioned_object_sink sink) {
    state_ = reader_.scout().known().state();
    std::vector<std::optional<known_object>> known(keys.size());
    std::vector<std::size_t> far;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (reader_.parts().covers(keys[i], held_parts::whole)) {
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
void cached_batch<Reader>::read_ranges_versioned(std::span<const object_range> ranges, versioned_range_sink sink) {
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
        [&](auto&& take) { smdebug::read_ranges_versioned(std::as_const(reader_.inner()), asked, take); });
}

template <class Reader>
void cached_batch<Reader>::bring(std::span<const object_range> parts, versioned_range_sink sink) {
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
            part.reset();  // whoever reads the part gets the error
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
        smdebug::read_each_versioned(std::as_const(reader_.inner()), keys,
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
        // The error comes again when the parts are read.
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
    if (std::optional<byte_buffer> whole = reader_.parts().find(key, held_parts::whole, &version)) {
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
        // Not cached, or behind the end of what is cached: read() looks whether the object has grown.
        return reader_.read(wanted.key, wanted.where, &version);
    } catch (const not_found&) {
        return std::nullopt;
    }
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
