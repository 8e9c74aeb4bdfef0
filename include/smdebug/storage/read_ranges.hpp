// Reading many parts of objects, by the storage's own batch read where it has one.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/versioned_read.hpp>

#include <algorithm>
#include <cstddef>
#include <new>
#include <optional>
#include <span>
#include <utility>

namespace smdebug {
inline namespace v1 {

/// Calls `sink` for each range, in order, with its bytes or with nothing where there is no such object.
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

/// The same with the version that each part is of, as far as the storage tells.
template <storage Storage>
void read_ranges_versioned(const Storage& store, std::span<const object_range> ranges, versioned_range_sink sink) {
    if constexpr (versioned_batch_reader<Storage>) {
        store.read_ranges_versioned(ranges, sink);
    } else {
        read_ranges(store, ranges,
                    [&](std::size_t i, std::optional<byte_buffer> bytes) { sink(i, std::move(bytes), {}); });
    }
}

/// The same past ranges that the storage fails to read, or has no memory for: calls failed(place) for such a one, in
/// which `throw;` gives why.  What fails among others is asked for again alone, as it may be a neighbour that cannot be
/// read; then the next one alone, then twice as many each time.  So where everything fails, each range is asked for
/// once.  Either may return false, which ends the reading: false is returned then.
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

}  // namespace v1
}  // namespace smdebug
