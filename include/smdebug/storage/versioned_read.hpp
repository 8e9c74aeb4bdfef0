// Reads objects, or parts of them, together with their versions.
// A listing shows the version that an object had; only the read itself can report the version of its bytes. Parts from
// several reads belong together only if their versions are equal.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/storage/concepts.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace smdebug::inline v1 {

/// An object and its version, as entries() would have reported it at that moment.
struct versioned_object {
    byte_buffer bytes;
    std::string version;  ///< never empty
};

/// Optional, beside entries(): read_versioned(key) reads a whole object as read(key) does, and reports its version.
template <class S>
concept versioned_reader = requires(const S& store, std::string_view key) {
    { store.read_versioned(key) } -> std::same_as<versioned_object>;
};

/// The version of an object that some bytes are of, as far as their read reports it.
struct object_version {
    std::string tag = {};                    ///< as in entries(); empty: unknown
    std::optional<std::uint64_t> size = {};  ///< of the whole object
    friend bool operator==(const object_version&, const object_version&) = default;

    /// Whether they are known to differ. An unknown field counts as equal.
    [[nodiscard]] bool differs_from(const object_version& other) const noexcept {
        return (!tag.empty() && !other.tag.empty() && tag != other.tag) || (size && other.size && *size != *other.size);
    }

    /// Adds what another part of the same object reports. Returns false, and adds nothing, if the two are of different
    /// versions.
    [[nodiscard]] bool merge(const object_version& other);
};

namespace detail {

/// Thrown from the sinks of a storage, which return nothing, to end its reading.
struct reading_ended {};

/// How often a read is restarted because the object was replaced meanwhile, before throw_replaced().
inline constexpr int most_versions = 5;

/// Throws unavailable: the object was replaced again and again.
[[noreturn]] void throw_replaced(const std::string& name);

}  // namespace detail

/// As object_sink and range_sink, with the version of the bytes; it is empty if there is no object.
using versioned_object_sink = function_ref<void(std::size_t, std::optional<byte_view>, const object_version&)>;
using versioned_range_sink = function_ref<void(std::size_t, std::optional<byte_buffer>, const object_version&)>;

/// Optional: read_each_versioned(keys, sink) and read_ranges_versioned(ranges, sink) do what read_each() and
/// read_ranges() do, and report versions. Two parts of one object may be of two versions of it; each part is of one.
template <class S>
concept versioned_batch_reader =
    requires(const S& store, std::span<const std::string> keys, std::span<const object_range> ranges,
             versioned_object_sink object, versioned_range_sink part) {
        { store.read_each_versioned(keys, object) } -> std::same_as<void>;
        { store.read_ranges_versioned(ranges, part) } -> std::same_as<void>;
    };

// Reads many whole objects, with the storage's own batch read if it has one.

/// Calls `sink` for each key, in order, with the object, or with nothing if it does not exist.
/// Errors: what the storage throws, except not_found; what `sink` throws ends the reading.
template <storage Storage>
void read_each(const Storage& store, std::span<const std::string> keys, object_sink sink) {
    if constexpr (batch_reader<Storage>) {
        store.read_each(keys, sink);
    } else {
        for (std::size_t i = 0; i < keys.size(); ++i) {
            std::optional<byte_buffer> object;
            try {
                object = store.read(keys[i]);
            } catch (const not_found&) {
                object.reset();
            }
            sink(i, object ? std::optional{object->view()} : std::nullopt);
        }
    }
}

/// The same with the version of each object, if the storage reports it.
template <storage Storage>
void read_each_versioned(const Storage& store, std::span<const std::string> keys, versioned_object_sink sink) {
    if constexpr (versioned_batch_reader<Storage>) {
        store.read_each_versioned(keys, sink);
    } else {
        read_each(store, keys, [&](std::size_t i, std::optional<byte_view> bytes) { sink(i, bytes, {}); });
    }
}

/// The same, but continues after objects that the storage fails to read or has no memory for (unavailable): calls
/// failed(place, error) for each of them. Either function may return false to end the reading, which then returns
/// false.
/// Errors: what `sink` and `failed` throw; in `failed`, `throw;` rethrows the storage's error.
template <storage Storage, class Sink, class Failed>
bool read_each_past_errors(const Storage& store, std::span<const std::string> keys, Sink&& sink, Failed&& failed) {
    std::size_t next = 0;
    bool in_sink = false;
    while (next < keys.size()) {
        const std::size_t first = next;
        try {
            read_each(store, keys.subspan(first), [&](std::size_t i, std::optional<byte_view> bytes) {
                next = first + i;
                in_sink = true;
                if (!detail::goes_on(sink, next, bytes)) {
                    throw detail::reading_ended{};
                }
                in_sink = false;
                ++next;
            });
            return true;
        } catch (const detail::reading_ended&) {
            return false;
        } catch (const error& why) {
            if (in_sink) {
                throw;
            }
            if (!detail::goes_on(failed, next, why)) {
                return false;
            }
            ++next;
        } catch (const std::bad_alloc&) {
            if (in_sink) {
                throw;
            }
            try {
                throw unavailable("not enough memory to read " + keys[next], {.where = keys[next]});
            } catch (const error& why) {
                if (!detail::goes_on(failed, next, why)) {
                    return false;
                }
            }
            ++next;
        }
    }
    return true;
}

// Reads many parts of objects, with the storage's own batch read if it has one.

/// Calls `sink` for each range, in order, with its bytes, or with nothing if there is no such object.
/// Errors: what the storage throws, except not_found; what `sink` throws ends the reading.
template <storage Storage>
void read_ranges(const Storage& store, std::span<const object_range> ranges, range_sink sink) {
    if constexpr (range_batch_reader<Storage>) {
        store.read_ranges(ranges, sink);
    } else {
        for (std::size_t i = 0; i < ranges.size(); ++i) {
            std::optional<byte_buffer> part;
            try {
                part = store.read(ranges[i].key, ranges[i].where);
            } catch (const not_found&) {
                part.reset();
            }
            sink(i, std::move(part));
        }
    }
}

/// The same with the version of each part, if the storage reports it.
template <storage Storage>
void read_ranges_versioned(const Storage& store, std::span<const object_range> ranges, versioned_range_sink sink) {
    if constexpr (versioned_batch_reader<Storage>) {
        store.read_ranges_versioned(ranges, sink);
    } else {
        read_ranges(store, ranges,
                    [&](std::size_t i, std::optional<byte_buffer> bytes) { sink(i, std::move(bytes), {}); });
    }
}

/// The same, but continues after ranges that the storage fails to read or has no memory for: calls failed(place) for
/// each of them, in which `throw;` rethrows the error. A range that fails in a batch is read again alone, since a
/// neighbour may be the cause; then the next one alone, then twice as many each time. So if everything fails, each
/// range is read alone once. Either function may return false to end the reading, which then returns false.
/// Errors: what `sink` and `failed` throw.
template <storage Storage, class Sink, class Failed>
bool read_ranges_past_errors(const Storage& store, std::span<const object_range> ranges, Sink&& sink, Failed&& failed) {
    std::size_t next = 0;
    std::size_t at_once = ranges.size();
    bool in_sink = false;
    const auto pass = [&](bool alone) {
        if (in_sink) {
            throw;
        }
        at_once = 1;
        return !alone || detail::goes_on(failed, next++);
    };
    while (next < ranges.size()) {
        const std::size_t first = next;
        const std::size_t count = std::min(at_once, ranges.size() - first);
        try {
            read_ranges_versioned(store, ranges.subspan(first, count),
                                  [&](std::size_t i, std::optional<byte_buffer> bytes, const object_version& version) {
                                      next = first + i;
                                      in_sink = true;
                                      if (!detail::goes_on(sink, next, std::move(bytes), version)) {
                                          throw detail::reading_ended{};
                                      }
                                      in_sink = false;
                                      ++next;
                                  });
            at_once = count * 2;
        } catch (const detail::reading_ended&) {
            return false;
        } catch (const error&) {
            if (!pass(count == 1)) {
                return false;
            }
        } catch (const std::bad_alloc&) {
            if (!pass(count == 1)) {
                return false;
            }
        }
    }
    return true;
}

inline bool object_version::merge(const object_version& other) {
    if (differs_from(other)) {
        return false;
    }
    tag = other.tag.empty() ? std::move(tag) : other.tag;
    size = other.size ? other.size : size;
    return true;
}

namespace detail {

inline void throw_replaced(const std::string& name) {
    throw unavailable("reading " + name + " failed: it is replaced again and again while it is read. Try again later",
                      {.where = name});
}

}  // namespace detail

}  // namespace smdebug::inline v1
