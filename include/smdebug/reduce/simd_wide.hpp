// One column of a block of doubles: eight rows in a tree, then into sums of two doubles.
#pragma once

#include <smdebug/reduce/lanes.hpp>
#include <smdebug/reduce/simd_batch.hpp>
#include <smdebug/reduce/simd_columns.hpp>

#include <cstddef>

namespace smdebug {
inline namespace v1 {
namespace reduce {
namespace detail {

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
            magnitudes.add({xsimd::abs(x[0]), xsimd::abs(x[1]), xsimd::abs(x[2]), xsimd::abs(x[3]), xsimd::abs(x[4]),
                            xsimd::abs(x[5]), xsimd::abs(x[6]), xsimd::abs(x[7])});
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

}  // namespace detail
}  // namespace reduce
}  // namespace v1
}  // namespace smdebug
