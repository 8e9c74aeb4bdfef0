// What the columns of a block have in common: where they leave their lanes, extrema, and fetching ahead.
// A column is the lanes that fit one vector.
#pragma once

#include <smdebug/reduce/lanes.hpp>
#include <smdebug/reduce/rounded.hpp>
#include <smdebug/reduce/simd_batch.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace smdebug {
inline namespace v1 {
namespace reduce {
namespace detail {

/// What the columns of a block leave behind.
template <class Arch>
struct column_results {
    lane_vectors<Arch> sum, sum_low, magnitudes, magnitudes_low, squares, squares_low, product;
    words<Arch> exponent = words<Arch>(std::uint64_t{0});
};

/// Extrema of one column, in the lanes' own type.
template <class Arch, class Lane, parts Parts>
struct column_extrema {
    using vector = xsimd::batch<Lane, Arch>;
    vector min = vector(static_cast<Lane>(infinity));
    vector max = vector(static_cast<Lane>(-infinity));
    vector abs_min = vector(static_cast<Lane>(infinity));

    void add(vector x) noexcept {
        min = smaller<Arch, Lane>(min, x);
        max = larger<Arch, Lane>(max, x);
        if constexpr (Parts.smallest) {
            abs_min = smaller_size<Arch, Lane>(abs_min, x);
        }
    }

    void leave(block_result& block) const noexcept {
        alignas(64) std::array<Lane, vector::size> low;
        alignas(64) std::array<Lane, vector::size> high;
        alignas(64) std::array<Lane, vector::size> size;
        min.store_aligned(low.data());
        max.store_aligned(high.data());
        abs_min.store_aligned(size.data());
        const auto less = [](auto a, auto b) noexcept { return b < a ? b : a; };
        const auto more = [](auto a, auto b) noexcept { return b > a ? b : a; };
        block.min = less(block.min, static_cast<double>(by_halves<Arch>(low, less)));
        block.max = more(block.max, static_cast<double>(by_halves<Arch>(high, more)));
        block.abs_min = less(block.abs_min, static_cast<double>(by_halves<Arch>(size, less)));
    }
};

/// How far ahead of the row at hand memory is asked for, in bytes.  The processor fetches ahead by itself, but not over
/// the end of a page; the longer a row takes, the farther is right.
template <parts Parts>
inline constexpr std::size_t fetch_distance = Parts == parts{} ? 4096 : 16384;

/// The lines that follow those at hand, one a call.
template <class Arch, parts Parts>
class fetcher {
public:
    /// `soon` null: nothing is to be fetched, and `at`, which is in the cache, is asked for instead: for next to
    /// nothing.
    fetcher(const std::byte* soon, const void* at) noexcept
        : next_(soon != nullptr ? reinterpret_cast<std::uintptr_t>(soon) + fetch_distance<Parts>
                                : reinterpret_cast<std::uintptr_t>(at)) {}

    void row(std::size_t bytes) noexcept {
        for (std::size_t line = 0; line < bytes; line += line_size) {
            fetch<Arch>(next_ + line);
        }
        next_ += bytes;
    }

private:
    static constexpr std::size_t line_size = 64;
    std::uintptr_t next_;
};

}  // namespace detail
}  // namespace reduce
}  // namespace v1
}  // namespace smdebug
