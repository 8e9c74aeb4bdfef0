// Reading many objects or parts of them through a cache: what is near from there, the rest in one call.
// Used by: storage/cached_storage.hpp.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/storage/caching_reader.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/held_parts.hpp>
#include <smdebug/storage/known_objects.hpp>
#include <smdebug/storage/read_each.hpp>
#include <smdebug/storage/read_ranges.hpp>
#include <smdebug/storage/versioned_read.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

namespace detail {

/// Hands over things in their order, of which some are near and others come from a call that gives them all.
/// `far`: the places of the others, ascending.  call(take) is to call take(i, what...) for each of them, i counting
/// within `far`; near(place) hands over one that is near, give(place, what...) one of the others.
/// Errors: what these throw.  When it is `call`, all that stands before what it failed at has been handed over.
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

}  // namespace detail

/// One batch.  Borrows the reader.
template <class Reader>
class cached_batch {
public:
    explicit cached_batch(Reader& reader) : reader_(reader) {}

    /// As read_each.  What is not near is kept by a cache for scans, and by no other: it would push out everything.
    void read_each(std::span<const std::string> keys, object_sink sink) {
        read_each_versioned(keys, [&](std::size_t i, std::optional<byte_view> bytes,
                                      const object_version& /*version*/) { sink(i, bytes); });
    }
    void read_each_versioned(std::span<const std::string> keys, versioned_object_sink sink) {
        state_ = reader_.scout().known().state();
        std::vector<std::optional<known_object>> known(keys.size());
        std::vector<std::size_t> far;
        for (std::size_t i = 0; i < keys.size(); ++i) {
            if (reader_.held().covers(keys[i], held_parts::whole)) {
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

    /// As read_ranges.  A cache for scans brings the objects of which much is wanted, or which are small, whole, first.
    void read_ranges(std::span<const object_range> ranges, range_sink sink) {
        read_ranges_versioned(ranges, [&](std::size_t i, std::optional<byte_buffer> bytes,
                                          const object_version& /*version*/) { sink(i, std::move(bytes)); });
    }
    void read_ranges_versioned(std::span<const object_range> ranges, versioned_range_sink sink) {
        state_ = reader_.scout().known().state();
        if constexpr (keeps_scans) {
            bring_wholes(ranges);
        }
        std::vector<std::optional<known_object>> known(ranges.size());
        std::vector<std::size_t> far;
        bool is_far = false;
        for (std::size_t i = 0; i < ranges.size(); ++i) {
            if (i > 0 && ranges[i].key == ranges[i - 1].key) {  // all come from the same place
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

    /// Brings parts for who holds them: looks at nothing that is held.  Hands over nothing where an object is not
    /// there, or cannot be read.  What comes whole is kept by a cache for scans, and by no other.
    /// Errors: what `sink` throws.
    void bring(std::span<const object_range> parts, versioned_range_sink sink) {
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
                part.reset();  // who reads it is told
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

private:
    static constexpr bool keeps_scans = Reader::keeps_scans;

    struct no_room {};
    using kept_list = std::vector<std::pair<std::string, known_object>>;

    template <class Near, class Give>
    void read_far(std::span<const std::string> keys, std::span<const std::size_t> far, Near&& near, Give&& give) {
        const auto call = [&](std::span<const std::string> asked) {
            detail::in_order(keys.size(), far, near, give, [&](auto&& take) {
                smdebug::read_each_versioned(std::as_const(reader_.inner()), asked, take);
            });
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

    /// Brings whole those objects of which much is asked for, where the cache keeps what a scan brings.
    void bring_wholes(std::span<const object_range> ranges) {
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
            const std::optional<known_object> told = reader_.to_cache(key, true);
            if (told && (told->size <= worth_a_request || asked >= told->size / 4) && !reader_.is_near(key, *told)) {
                keys.emplace_back(key);
                known.push_back(*told);
            }
        }
        if (keys.empty()) {
            return;
        }
        try {
            smdebug::read_each_versioned(
                std::as_const(reader_.inner()), keys,
                [&](std::size_t i, std::optional<byte_view> bytes, const object_version& version) {
                    if (bytes) {
                        const known_object kept = keep(keys[i], known[i], *bytes, version);
                        if (!reader_.is_near(keys[i], kept)) {
                            throw no_room{};
                        }
                    }
                });
        } catch (const no_room&) {
            // The parts are read, then.
        } catch (const error&) {
            // Reading the parts will tell.
        }
        confirm();
    }

    /// What is known of the object then.
    known_object keep([[maybe_unused]] const std::string& key, const known_object& known,
                      [[maybe_unused]] byte_view bytes, [[maybe_unused]] const object_version& version) {
        if constexpr (keeps_scans) {
            if (!version.tag.empty()) {
                return reader_.keep_aside(key, known, bytes, version.tag, state_);
            }
            reader_.keep_aside(key, known, bytes);
            kept_.emplace_back(key, known);
        }
        return known;
    }
    void confirm() {
        if constexpr (keeps_scans) {
            reader_.confirm(std::exchange(kept_, {}));
        }
    }

    /// Whether all ranges at the front that are of one object are held: else they come from another place together, so
    /// that they are of one version of it.
    [[nodiscard]] bool holds_all(std::span<const object_range> ranges) const {
        for (const object_range& each : ranges) {
            if (each.key != ranges.front().key) {
                break;
            }
            if (!reader_.held().covers(each.key, each.where)) {
                return false;
            }
        }
        return true;
    }

    // What was near may be gone by now: then it is read, and nothing where it is not there either.
    [[nodiscard]] std::optional<byte_buffer> whole_of(const std::string& key, const std::optional<known_object>& known,
                                                      object_version& version) {
        if (std::optional<byte_buffer> whole = reader_.held().find(key, held_parts::whole, &version)) {
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
    [[nodiscard]] std::optional<byte_buffer> cached_whole(const std::string& key, const known_object& known,
                                                          object_version& version) {
        if (std::optional<byte_buffer> whole = reader_.find_near(key, known, true, &version)) {
            return whole;
        }
        try {
            byte_buffer read = reader_.read_inner(key, version);
            keep(key, known, read.view(), version);  // it may have been damaged
            return read;
        } catch (const not_found&) {
            return std::nullopt;
        }
    }
    [[nodiscard]] std::optional<byte_buffer> part_of(const object_range& wanted,
                                                     const std::optional<known_object>& known,
                                                     object_version& version) {
        try {
            if (std::optional<byte_buffer> part = reader_.held().find(wanted.key, wanted.where, &version)) {
                return part;
            }
            if (const std::optional<byte_buffer> whole =
                    known ? reader_.find_near(wanted.key, *known, false, &version) : std::nullopt;
                whole && (wanted.where.offset < whole->size() || wanted.where.length == 0)) {
                return whole->slice(wanted.where);
            }
            // Looks whether it has grown, if it is there.
            return reader_.read(wanted.key, wanted.where, &version);
        } catch (const not_found&) {
            return std::nullopt;
        }
    }

    // What takes about as long to come as a request to a server far away does.
    static constexpr std::uint64_t worth_a_request = std::uint64_t{1} << 20U;
    static constexpr std::uint64_t most_counted = std::uint64_t{1} << 40U;  // of a length that nobody meant

    Reader& reader_;
    kept_list kept_;
    std::uint64_t state_ = 0;  // of what was known when the batch began
};

}  // namespace v1
}  // namespace smdebug
