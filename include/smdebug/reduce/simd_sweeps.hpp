// Sweeps of one block with SIMD, in the order that lanes.hpp defines.
// The sweep runs down a block in L1 once a column (the lanes that fit one vector), sums in registers.
#pragma once

#include <smdebug/reduce/lanes.hpp>
#include <smdebug/reduce/rounded.hpp>
#include <smdebug/reduce/scaled_product.hpp>
#include <smdebug/reduce/simd_batch.hpp>
#include <smdebug/reduce/simd_columns.hpp>
#include <smdebug/reduce/simd_narrow.hpp>
#include <smdebug/reduce/simd_wide.hpp>
#include <smdebug/reduce/simd_widen.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace smdebug {
inline namespace v1 {
namespace reduce {
namespace detail {

/// The SIMD kernel's part of the walk, see block_walk.
template <class Arch>
struct simd_sweeps {
    template <class Lane, parts Parts>
    [[nodiscard]] static block_result sweep(const std::byte* at, std::size_t count, const std::byte* soon) noexcept {
        block_result block;
        column_results<Arch> results;
        const auto* lanes = reinterpret_cast<const Lane*>(at);  // only ever read by unaligned vector loads and memcpy
        const std::size_t rows = count / lane_count;
        if (count % lane_count == 0) {
            sweep_columns<Lane, Parts>(lanes, rows, nullptr, soon, results, block);
        } else {
            const padded_row<Arch, Lane> last(lanes + rows * lane_count, count % lane_count);
            sweep_columns<Lane, Parts>(lanes, rows, &last, soon, results, block);
        }
        merge_lanes<Lane, Parts>(results, block);
        if constexpr (Parts.product) {
            finish_product<Lane>(at, count, results, block);
        }
        return block;
    }

    template <class Lane>
    [[nodiscard]] static centred_result centre(const std::byte* at, std::size_t count, double about,
                                               bool magnitudes) noexcept {
        // Several vectors of a row side by side: one alone would wait for each of its additions.
        constexpr std::size_t side_by_side = vectors_per_row<Arch> < 4 ? vectors_per_row<Arch> : 4;
        constexpr std::size_t width = doubles<Arch>::size;
        const auto* lanes = reinterpret_cast<const Lane*>(at);
        const std::size_t rows = count / lane_count;
        const doubles<Arch> centre_of_all(about);
        alignas(64) lane_array<double> first;
        alignas(64) lane_array<double> second;
        for (std::size_t lane = 0; lane < lane_count; lane += side_by_side * width) {
            std::array<doubles<Arch>, side_by_side> sum;
            std::array<doubles<Arch>, side_by_side> squares;
            sum.fill(doubles<Arch>(0.0));
            squares.fill(doubles<Arch>(0.0));
            for (std::size_t row = 0; row < rows; ++row) {
                for (std::size_t i = 0; i < side_by_side; ++i) {
                    const doubles<Arch> x = load_doubles<Arch>(lanes + row * lane_count + lane + i * width);
                    const doubles<Arch> d = (magnitudes ? xsimd::abs(x) : x) - centre_of_all;
                    sum[i] = sum[i] + d;
                    squares[i] = squares[i] + rounded_product<Arch>(d, d);
                }
            }
            for (std::size_t i = 0; i < side_by_side; ++i) {
                sum[i].store_aligned(&first[lane + i * width]);
                squares[i].store_aligned(&second[lane + i * width]);
            }
        }
        for (std::size_t i = rows * lane_count; i < count; ++i) {
            const double x = lane_at<Arch, Lane>(at, i);
            const double d = (magnitudes ? magnitude<Arch>(x) : x) - about;
            first[i % lane_count] += d;
            second[i % lane_count] += rounded<Arch>(d * d);
        }
        return {tree_sum<Arch>(first), tree_sum<Arch>(second)};
    }

    template <class Lane>
    [[nodiscard]] static std::uint64_t count_zeros(const std::byte* at, std::size_t count) noexcept {
        using vector = xsimd::batch<Lane, Arch>;
        const auto* lanes = reinterpret_cast<const Lane*>(at);
        vector zeros = vector(Lane{0});  // at most 2048 a lane: exact in a float
        std::size_t i = 0;
        for (; i + vector::size <= count; i += vector::size) {
            const vector x = vector::load_unaligned(lanes + i);
            zeros = zeros + xsimd::select(x == vector(Lane{0}), vector(Lane{1}), vector(Lane{0}));
        }
        alignas(64) std::array<Lane, vector::size> counts;
        zeros.store_aligned(counts.data());
        std::uint64_t all = 0;
        for (const Lane lane : counts) {
            all += static_cast<std::uint64_t>(lane);
        }
        for (; i < count; ++i) {
            all += lane_at<Arch, Lane>(at, i) == 0 ? 1U : 0U;
        }
        return all;
    }

    template <class Conversion>
    static void widen(const std::byte* from, std::size_t count, double scale, typename Conversion::lane* to) noexcept {
        simd_widen<Arch, Conversion>(from, count, scale, to);
    }

private:
    template <class Lane, parts Parts>
    static void sweep_columns(const Lane* at, std::size_t rows, const padded_row<Arch, Lane>* last,
                              const std::byte* soon, column_results<Arch>& results, block_result& block) noexcept {
        constexpr std::size_t width = xsimd::batch<Lane, Arch>::size;
        for (std::size_t lane = 0; lane < lane_count; lane += width) {
            if constexpr (std::same_as<Lane, float>) {
                narrow_column<Arch, Parts>(at, rows, lane, last, soon, results, block);
            } else {
                wide_column<Arch, Parts>(at, rows, lane, last, soon, results, block);
            }
        }
    }

    /// Sixteen lanes to one, by halves.
    template <class Lane, parts Parts>
    static void merge_lanes(column_results<Arch>& results, block_result& block) noexcept {
        if constexpr (std::same_as<Lane, float>) {
            block.sum = {vector_tree_sum<Arch>(results.sum), 0};
            if constexpr (Parts.norms) {
                block.magnitudes = {vector_tree_sum<Arch>(results.magnitudes), 0};
                block.squares = {vector_tree_sum<Arch>(results.squares), 0};
            }
        } else {
            block.sum = wide_vector_tree_sum<Arch>(results.sum, results.sum_low);
            if constexpr (Parts.norms) {
                block.magnitudes = wide_vector_tree_sum<Arch>(results.magnitudes, results.magnitudes_low);
                block.squares = wide_vector_tree_sum<Arch>(results.squares, results.squares_low);
            }
        }
    }

    /// The sweep multiplied eight rows before it normalised: right while each element is within 2^+-120.
    template <class Lane>
    static void finish_product(const std::byte* at, std::size_t count, column_results<Arch>& results,
                               block_result& block) noexcept {
        const double larger = block.max > -block.min ? block.max : -block.min;
        if (block.abs_min == 0) {
            return;  // the walk knows what a zero does to a product
        }
        if (!(block.abs_min >= 0x1p-120 && larger <= 0x1p120)) {
            block.product = careful_product<Arch, Lane>(at, count);
            return;
        }
        const std::size_t rows = count / lane_count;
        const std::size_t padded_rows = (count + lane_count - 1) / lane_count;
        // One call of normalise a full group, and one at the end: always for narrow lanes, for a partial group if wide.
        const std::size_t calls =
            std::same_as<Lane, float> ? rows / group_rows + 1 : (padded_rows + group_rows - 1) / group_rows;
        alignas(64) std::array<std::uint64_t, words<Arch>::size> biased;
        results.exponent.store_aligned(biased.data());
        std::int64_t exponent = -1023 * static_cast<std::int64_t>(calls * lane_count);
        for (const std::uint64_t part : biased) {
            exponent += static_cast<std::int64_t>(part);
        }
        block.product = vector_tree_product<Arch>(results.product, exponent);
    }
};

}  // namespace detail
}  // namespace reduce
}  // namespace v1
}  // namespace smdebug
