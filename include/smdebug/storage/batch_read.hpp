// Reads many objects or ranges: by the storage's batch operation if it has one, else one by one. And past those that it
// fails to read.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/storage/concepts.hpp>

#include <algorithm>
#include <cstddef>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace smdebug::inline v1 {

namespace detail {

/// Thrown from the sinks of a storage, which return nothing, to end its reading.
struct reading_ended {};

/// Calls a sink that takes, or does not take, the object's version; returns false if it wants no more.
template <class Sink>
[[nodiscard]] bool pass_object(Sink& sink, std::size_t place, std::optional<byte_view> bytes,
                               [[maybe_unused]] const object_version& version) {
    if constexpr (std::is_invocable_v<Sink&, std::size_t, std::optional<byte_view>, const object_version&>) {
        return goes_on(sink, place, bytes, version);
    } else {
        return goes_on(sink, place, bytes);
    }
}

/// How often a read is restarted because the object was replaced meanwhile, before throw_replaced().
inline constexpr int most_versions = 5;

/// Throws unavailable: the object was replaced again and again.
[[noreturn]] inline void throw_replaced(const std::string& name) {
    throw unavailable("reading " + name + " failed: it is replaced again and again while it is read. Try again later",
                      {.where = name});
}

}  // namespace detail

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
            sink(i, object ? std::optional{object->view()} : std::nullopt, {});
        }
    }
}

/// The same, but continues after objects that the storage fails to read or has no memory for (unavailable): calls
/// failed(place, error) for each of them.  `sink` may leave out the version. Either function may return false to end
/// the reading, which then returns false.
/// Errors: what `sink` and `failed` throw; in `failed`, `throw;` rethrows the storage's error.
template <storage Storage, class Sink, class Failed>
bool read_each_past_errors(const Storage& store, std::span<const std::string> keys, Sink&& sink, Failed&& failed) {
    std::size_t next = 0;
    bool in_sink = false;
    while (next < keys.size()) {
        const std::size_t first = next;
        try {
            read_each(store, keys.subspan(first),
                      [&](std::size_t i, std::optional<byte_view> bytes, const object_version& version) {
                          next = first + i;
                          in_sink = true;
                          if (!detail::pass_object(sink, next, bytes, version)) {
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
            sink(i, std::move(part), {});
        }
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
            read_ranges(store, ranges.subspan(first, count),
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

}  // namespace smdebug::inline v1
