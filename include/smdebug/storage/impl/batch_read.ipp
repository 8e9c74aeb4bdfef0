// The bodies of <smdebug/storage/batch_read.hpp>.
#pragma once

#include <smdebug/storage/batch_read.hpp>

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

namespace smdebug::inline v1 {

namespace detail {

/// Passes on what a storage reads, and notes how far it has come.
struct passed_on {
    std::size_t next = 0;
    bool in_sink = false;  ///< what is thrown is the sink's
    bool ended = false;    ///< the sink wants no more

    template <class Sink, class Bytes>
    [[nodiscard]] bool operator()(Sink& sink, std::size_t place, Bytes&& bytes, const object_version& version) {
        next = place;
        in_sink = true;
        ended = !sink(place, std::forward<Bytes>(bytes), version);
        in_sink = false;
        ++next;
        return !ended;
    }
};

SMDEBUG_INLINE void throw_replaced(const std::string& name) {
    throw unavailable("reading " + name + " failed: it is replaced again and again while it is read. Try again later",
                      {.where = name});
}

}  // namespace detail

SMDEBUG_INLINE bool read_each_past_errors(const any_storage& store, std::span<const std::string> keys, object_sink sink,
                                          visitor_ref<std::size_t, const error&> failed) {
    detail::passed_on passed;
    while (passed.next < keys.size()) {
        const std::size_t first = passed.next;
        try {
            try {
                store.read_each(keys.subspan(first),
                                [&](std::size_t i, std::optional<byte_view> bytes, const object_version& version) {
                                    return passed(sink, first + i, bytes, version);
                                });
            } catch (const std::bad_alloc&) {
                if (passed.in_sink) {
                    throw;
                }
                throw unavailable("not enough memory to read " + keys[passed.next], {.where = keys[passed.next]});
            }
            return !passed.ended;
        } catch (const error& why) {
            if (passed.in_sink) {
                throw;
            }
            if (!failed(passed.next, why)) {
                return false;
            }
        }
        ++passed.next;
    }
    return true;
}

SMDEBUG_INLINE bool read_ranges_past_errors(const any_storage& store, std::span<const object_range> ranges,
                                            range_sink sink, visitor_ref<std::size_t> failed) {
    detail::passed_on passed;
    std::size_t at_once = ranges.size();
    const auto go_on = [&](bool alone) {
        if (passed.in_sink) {
            throw;
        }
        at_once = 1;
        return !alone || failed(passed.next++);
    };
    while (passed.next < ranges.size()) {
        const std::size_t first = passed.next;
        const std::size_t count = std::min(at_once, ranges.size() - first);
        try {
            store.read_ranges(ranges.subspan(first, count),
                              [&](std::size_t i, std::optional<byte_buffer> bytes, const object_version& version) {
                                  return passed(sink, first + i, std::move(bytes), version);
                              });
            if (passed.ended) {
                return false;
            }
            at_once = count * 2;
        } catch (const error&) {
            if (!go_on(count == 1)) {
                return false;
            }
        } catch (const std::bad_alloc&) {
            if (!go_on(count == 1)) {
                return false;
            }
        }
    }
    return true;
}

}  // namespace smdebug::inline v1
