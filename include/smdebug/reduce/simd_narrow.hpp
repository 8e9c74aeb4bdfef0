// One column of a block of floats: lanes are widened to double in registers and summed there.
#pragma once

#include <smdebug/reduce/lanes.hpp>
#include <smdebug/reduce/simd_batch.hpp>
#include <smdebug/reduce/simd_columns.hpp>

#include <cstddef>

namespace smdebug {
inline namespace v1 {
namespace reduce {
namespace detail {

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
            magnitudes = magnitudes + xsimd::abs(x);
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

/// Sweeps down the column of the lanes from `lane` on, `rows` whole rows and then `last`, where that is not null.
/// The first column fetches what comes after the block, for all of them.
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

}  // namespace detail
}  // namespace reduce
}  // namespace v1
}  // namespace smdebug
