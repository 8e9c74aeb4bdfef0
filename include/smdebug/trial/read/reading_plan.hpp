// How an event file is best read, by what its index file says of it.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/trial/catalog/layout.hpp>
#include <smdebug/trial/selection.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// How much of an event file there is to read.
struct file_extent {
    std::uint64_t end = 0;      ///< where the last record ends
    std::uint64_t wanted = 0;   ///< bytes of the records that are selected
    std::size_t records = 0;    ///< how many those are
    std::uint64_t largest = 0;  ///< bytes of the largest of them
    friend constexpr bool operator==(const file_extent&, const file_extent&) = default;
};

/// The sum, or the largest number there is.
[[nodiscard]] constexpr std::uint64_t bounded_sum(std::uint64_t a, std::uint64_t b) noexcept {
    return a + std::min(b, std::numeric_limits<std::uint64_t>::max() - a);
}

/// Where a record ends.  Numbers that no file can have count as the largest there is.
[[nodiscard]] constexpr std::uint64_t behind(byte_range record) noexcept {
    return bounded_sum(record.offset, record.length);
}

/// What a layout says of its files.  Numbers that no file can have count as the largest there is.
/// Cost: one pass over its entries.
[[nodiscard]] file_extent extent_of(const layout& entries, const selected_tensors& which) noexcept;

/// Sizes from which on a file is read in another way.
struct reading_limits {
    std::uint64_t in_place_from = std::uint64_t{256} << 10U;  ///< below that, looking in place costs more than a copy
    std::uint64_t opened_from = std::uint64_t{256}
                                << 10U;  ///< below that, opening files each costs more than it gives; 0:
                                         ///< never, also where little of one is wanted
    std::uint64_t hot_piece = std::uint64_t{256} << 10U;  ///< of such: it stays in the CPU's second cache
    std::uint64_t stream_from = std::uint64_t{1}
                                << 20U;  ///< larger records are reduced piece by piece, where they may be
    std::uint64_t largest_record = std::uint64_t{16}
                                   << 20U;  ///< beyond that, none is believed to be as long as it claims
    std::uint64_t largest_whole = std::uint64_t{64} << 20U;  ///< beyond that, a file is not copied into memory whole
    std::uint64_t large_piece = std::uint64_t{8} << 20U;     ///< of such
    /// Files from that size on of which less than an eighth is wanted are read in pieces, too, smaller ones.
    std::uint64_t sparse_from = std::uint64_t{256} << 10U;
    std::uint64_t small_piece = std::uint64_t{64} << 10U;
    /// Of a storage that reads ranges in batches: what is wanted of one file is held at once up to that size, and in
    /// pages of that size beyond.
    std::uint64_t largest_page = std::uint64_t{64} << 20U;
};

enum class file_way : std::uint8_t {
    untouched,  ///< nothing in it is wanted
    whole,      ///< read into memory, with others
    in_place,   ///< looked at where it lies
    opened,     ///< in pieces that stay in the CPU's cache, or in place where that is faster
    sparse,     ///< in small pieces, where they are wanted
    large,      ///< in large pieces
};

/// The most bytes that are held of a file which is read with others by its ranges.
[[nodiscard]] constexpr std::uint64_t bytes_held(const file_extent& extent, file_way way) noexcept {
    return way == file_way::whole ? extent.end : extent.wanted;
}

/// The way for a file; `can_view`: it may be looked at in place; `can_open`: it may be opened, and what is wanted of it
/// lies in it as it is asked for.
[[nodiscard]] constexpr file_way way_of(const file_extent& extent, const reading_limits& limits, bool can_view,
                                        bool can_open = false) noexcept {
    if (extent.records == 0) {
        return file_way::untouched;
    }
    const bool is_bounded = extent.end <= limits.largest_whole || extent.largest <= limits.largest_record;
    const bool is_opened = can_open && is_bounded && extent.end >= limits.opened_from;
    if (is_opened && limits.opened_from == 0) {
        return file_way::opened;
    }
    if (extent.end >= limits.sparse_from && extent.wanted < extent.end / 8) {
        return file_way::sparse;
    }
    if (is_opened) {
        return file_way::opened;
    }
    if (can_view && extent.end >= limits.in_place_from) {
        return file_way::in_place;
    }
    return extent.end <= limits.largest_whole ? file_way::whole : file_way::large;
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/read/impl/reading_plan.ipp>
#endif
