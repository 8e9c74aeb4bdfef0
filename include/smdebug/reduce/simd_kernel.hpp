// The SIMD kernel: the same definition as the scalar one, with as many lanes at a time as a vector holds.
// Arch is a template parameter, so that kernels for several instruction sets may live in one program.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/lanes.hpp>
#include <smdebug/reduce/reduce_tensor.hpp>
#include <smdebug/reduce/simd_batch.hpp>
#include <smdebug/reduce/simd_digest.hpp>
#include <smdebug/reduce/simd_widen.hpp>
#include <smdebug/reduce/tensor_hash.hpp>
#include <smdebug/reduce/wide_sum.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <smdebug/core/strict_math/begin.ipp>
// One column of a block of floats: lanes are widened to double in registers and summed there.
namespace smdebug::inline v1 {
namespace reduce::detail {

/// Half a narrow column: the sums of as many lanes as fit a vector of doubles.
template <class Arch, parts Parts>
struct narrow_sums {
    doubles<Arch> sum = doubles<Arch>(0.0);
    doubles<Arch> magnitudes = doubles<Arch>(0.0);
    doubles<Arch> squares = doubles<Arch>(0.0);
    lane_product<Arch> product;

    void add(const float* at, const float* factors) noexcept {
        const doubles<Arch> x = load_doubles<Arch>(at);
        sum = sum + x;
        if constexpr (Parts.norms) {
            magnitudes = magnitudes + sizes_of<Arch>(x);
            squares = plus_exact_square<Arch>(squares, x);
        }
        if constexpr (Parts.product) {
            product.mantissa = product.mantissa * (at == factors ? x : load_doubles<Arch>(factors));
        }
    }

    void leave(column_results<Arch>& results, std::size_t vector) const noexcept {
        results.sum[vector] = sum;
        if constexpr (Parts.norms) {
            results.magnitudes[vector] = magnitudes;
            results.squares[vector] = squares;
        }
        if constexpr (Parts.product) {
            results.product[vector] = product.mantissa;
            results.exponent = results.exponent + product.exponent;
        }
    }
};

/// Sweeps down the column of the lanes from `lane` on, `rows` whole rows and then `last`, if not null.
/// The first column prefetches what follows the block, for all columns.
template <class Arch, parts Parts>
inline void narrow_column(const float* at, std::size_t rows, std::size_t lane, const padded_row<Arch, float>* last,
                          const std::byte* soon, column_results<Arch>& results, block_result& block) noexcept {
    constexpr std::size_t half = doubles<Arch>::size;
    narrow_sums<Arch, Parts> lower;
    narrow_sums<Arch, Parts> upper;
    column_extrema<Arch, float, Parts> extrema;
    const auto add = [&](const float* row, const float* factors, const float* extreme) noexcept {
        lower.add(row, factors);
        upper.add(row + half, factors + half);
        if constexpr (Parts.extrema) {
            extrema.add(singles<Arch>::load_unaligned(extreme));
        }
    };
    const auto normalise = [&]() noexcept {
        if constexpr (Parts.product) {
            lower.product.normalise();
            upper.product.normalise();
        }
    };
    fetcher<Arch, Parts> ahead{lane == 0 ? soon : nullptr, at};
    const float* row = at + lane;
    for (std::size_t left = rows / group_rows; left > 0; --left) {
        for (std::size_t i = 0; i < group_rows; ++i, row += lane_count) {
            ahead.row(lane_count * sizeof(float));
            add(row, row, row);
        }
        normalise();
    }
    for (std::size_t left = rows % group_rows; left > 0; --left, row += lane_count) {
        add(row, row, row);
    }
    if (last != nullptr) {
        add(&last->sums[lane], &last->factors[lane], &last->extrema[lane]);
    }
    normalise();
    lower.leave(results, lane / half);
    upper.leave(results, lane / half + 1);
    if constexpr (Parts.extrema) {
        extrema.leave(block);
    }
}

// One column of a block of doubles: eight rows in a tree, then into sums of two doubles.

/// Sweeps down the column of the lanes from `lane` on, as narrow_column does.
template <class Arch, parts Parts>
inline void wide_column(const double* at, std::size_t rows, std::size_t lane, const padded_row<Arch, double>* last,
                        const std::byte* soon, column_results<Arch>& results, block_result& block) noexcept {
    using group = typename wide_lane_sum<Arch>::group;
    wide_lane_sum<Arch> sum;
    wide_lane_sum<Arch> magnitudes;
    wide_lane_sum<Arch> squares;
    lane_product<Arch> product;
    column_extrema<Arch, double, Parts> extrema;
    const auto add_sums = [&](const group& x) noexcept {
        sum.add(x);
        if constexpr (Parts.norms) {
            magnitudes.add({sizes_of<Arch>(x[0]), sizes_of<Arch>(x[1]), sizes_of<Arch>(x[2]), sizes_of<Arch>(x[3]),
                            sizes_of<Arch>(x[4]), sizes_of<Arch>(x[5]), sizes_of<Arch>(x[6]), sizes_of<Arch>(x[7])});
            squares.add({rounded_product<Arch>(x[0], x[0]), rounded_product<Arch>(x[1], x[1]),
                         rounded_product<Arch>(x[2], x[2]), rounded_product<Arch>(x[3], x[3]),
                         rounded_product<Arch>(x[4], x[4]), rounded_product<Arch>(x[5], x[5]),
                         rounded_product<Arch>(x[6], x[6]), rounded_product<Arch>(x[7], x[7])});
        }
    };
    const auto add_others = [&](doubles<Arch> factor, doubles<Arch> extreme) noexcept {
        if constexpr (Parts.extrema) {
            extrema.add(extreme);
        }
        if constexpr (Parts.product) {
            product.mantissa = product.mantissa * factor;
        }
    };
    fetcher<Arch, Parts> ahead{lane == 0 ? soon : nullptr, at};
    const double* row = at + lane;
    for (std::size_t left = rows / group_rows; left > 0; --left) {
        group x;
        for (std::size_t i = 0; i < group_rows; ++i, row += lane_count) {
            ahead.row(lane_count * sizeof(double));
            x[i] = doubles<Arch>::load_unaligned(row);
        }
        add_sums(x);
        for (std::size_t i = 0; i < group_rows; ++i) {
            add_others(x[i], x[i]);
        }
        product.normalise();
    }
    const std::size_t rest = rows % group_rows;
    if (rest != 0 || last != nullptr) {
        group x;
        x.fill(doubles<Arch>(0.0));
        for (std::size_t i = 0; i < rest; ++i, row += lane_count) {
            x[i] = doubles<Arch>::load_unaligned(row);
            add_others(x[i], x[i]);
        }
        if (last != nullptr) {
            x[rest] = doubles<Arch>::load_unaligned(&last->sums[lane]);
            add_others(doubles<Arch>::load_unaligned(&last->factors[lane]),
                       doubles<Arch>::load_unaligned(&last->extrema[lane]));
        }
        add_sums(x);
        product.normalise();
    }
    const std::size_t vector = lane / doubles<Arch>::size;
    results.sum[vector] = sum.high;
    results.sum_low[vector] = sum.low;
    results.magnitudes[vector] = magnitudes.high;
    results.magnitudes_low[vector] = magnitudes.low;
    results.squares[vector] = squares.high;
    results.squares_low[vector] = squares.low;
    results.product[vector] = product.mantissa;
    results.exponent = results.exponent + product.exponent;
    if constexpr (Parts.extrema) {
        extrema.leave(block);
    }
}

// Sweeps of one block with SIMD, in the order that lanes.hpp defines.
// The sweep runs down a block in L1 once a column (the lanes that fit one vector), sums in registers.

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
                    const doubles<Arch> d = (magnitudes ? sizes_of<Arch>(x) : x) - centre_of_all;
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

    /// The sweep multiplied eight rows before it normalised: valid if each element is within 2^+-120.
    template <class Lane>
    static void finish_product(const std::byte* at, std::size_t count, column_results<Arch>& results,
                               block_result& block) noexcept {
        const double larger = block.max > -block.min ? block.max : -block.min;
        if (block.abs_min == 0) {
            return;  // the walk handles the effect of zeros on a product
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

}  // namespace reduce::detail

/// Reduces with the vectors of Arch, one of xsimd's architectures that the file is compiled for.
/// Models reduction_kernel; computes the same bits as scalar_kernel and as every other Arch.
/// The caller ensures that the CPU has the instructions.
template <class Arch = xsimd::default_arch>
struct simd_kernel {
    /// At least `wanted` of one tensor, see reduction_kernel.  Cost: one pass, no allocation.
    [[nodiscard]] result<reduction_values> reduce(const tensor_view& tensor, reduction_set wanted) const noexcept {
        return reduce::detail::reduce_tensor<reduce::detail::simd_sweeps<Arch>>(tensor, wanted);
    }

    /// Reduces a tensor and calls `watch` with its bytes piece by piece, see watched_reducer.
    [[nodiscard]] result<reduction_values> reduce(const tensor_view& tensor, reduction_set wanted,
                                                  const byte_watch& watch) const noexcept {
        return reduce::detail::reduce_tensor<reduce::detail::simd_sweeps<Arch>>(tensor, wanted, &watch);
    }

    /// Reduces a tensor into `out`, see in_place_reducer.
    [[nodiscard]] status reduce_into(const tensor_view& tensor, reduction_set wanted, const byte_watch* watch,
                                     reduction_values& out) const noexcept {
        return reduce::detail::reduce_into<reduce::detail::simd_sweeps<Arch>>(tensor, wanted, watch, 0, out);
    }

    /// Reduces a tensor whose bytes come from a feed, see fed_reducer.
    [[nodiscard]] result<reduction_values> reduce_fed(const detail::fed_tensor& tensor,
                                                      reduction_set wanted) const noexcept {
        return reduce::detail::reduce_fed_tensor<reduce::detail::simd_sweeps<Arch>>(tensor, wanted);
    }

    /// Reduces a tensor with `repeats` more elements, see repeating_reducer.
    [[nodiscard]] result<reduction_values> reduce_repeated(const tensor_view& values, std::size_t repeats,
                                                           reduction_set wanted) const noexcept {
        return reduce::detail::reduce_repeated_tensor<reduce::detail::simd_sweeps<Arch>>(values, repeats, wanted);
    }

    /// Reduces by a set that is known at compile time: only its code is generated and compiled.
    template <reduction_set Wanted>
    [[nodiscard]] result<reduction_values> reduce(const tensor_view& tensor) const noexcept {
        return reduce::detail::reduce_tensor<reduce::detail::simd_sweeps<Arch>, Wanted>(tensor);
    }

    /// The sum of mixed words of a digest, see word_mixer.
    [[nodiscard]] std::uint64_t mix_words(byte_view words, std::uint64_t first) const noexcept {
        return reduce::detail::simd_sum_of_mixed<Arch>(words.data(), words.size() / sizeof(std::uint64_t), first);
    }

    /// The stripes of a content hash, see stripe_hasher.
    void hash_stripes(std::span<std::uint64_t, 8> sums, byte_view stripes, std::size_t first) const noexcept {
        reduce::detail::simd_add_stripes<Arch>(sums, stripes.data(), stripes.size() / reduce::detail::stripe_size,
                                               first);
    }

    /// "simd<avx512bw>": the name is xsimd's.
    [[nodiscard]] std::string name() const { return std::string{"simd<"}.append(Arch::name()).append(">"); }
};

template <class Arch>
inline constexpr bool gives_usual_bits<simd_kernel<Arch>> = true;

}  // namespace smdebug::inline v1
#include <smdebug/core/strict_math/end.ipp>
