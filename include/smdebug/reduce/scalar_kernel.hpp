// The scalar kernel: plain loops, an element at a time, in the order that lanes.hpp defines.
// The reference for the tests of SIMD kernels, and the kernel of machines that xsimd does not support.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/digest.hpp>
#include <smdebug/reduce/lanes.hpp>
#include <smdebug/reduce/reduce_tensor.hpp>
#include <smdebug/reduce/tensor_hash.hpp>
#include <smdebug/reduce/wide_sum.hpp>
#include <smdebug/reduce/widen.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1 {
namespace reduce::detail {

/// Sweeps of one block, written as the definition reads.
struct scalar_sweeps {
    template <class Lane, detail::parts Parts>
    [[nodiscard]] static detail::block_result sweep(const std::byte* at, std::size_t count,
                                                    const std::byte* /*soon*/) noexcept {
        detail::block_result block;
        if constexpr (std::same_as<Lane, float>) {
            sum_narrow<Parts>(at, count, block);
        } else {
            sum_wide<Parts>(at, count, block);
        }
        if constexpr (Parts.extrema) {
            for (std::size_t i = 0; i < count; ++i) {
                const double x = detail::lane_at<scalar_sweeps, Lane>(at, i);
                block.min = x < block.min ? x : block.min;
                block.max = x > block.max ? x : block.max;
                if constexpr (Parts.smallest) {
                    const double size = detail::magnitude<scalar_sweeps>(x);
                    block.abs_min = size < block.abs_min ? size : block.abs_min;
                }
            }
        }
        if constexpr (Parts.product) {
            block.product = detail::careful_product<scalar_sweeps, Lane>(at, count);
        }
        return block;
    }

    template <class Lane>
    [[nodiscard]] static detail::centred_result centre(const std::byte* at, std::size_t count, double about,
                                                       bool magnitudes) noexcept {
        detail::lane_array<double> first{};
        detail::lane_array<double> second{};
        for (std::size_t i = 0; i < count; ++i) {
            const double x = detail::lane_at<scalar_sweeps, Lane>(at, i);
            const double d = (magnitudes ? detail::magnitude<scalar_sweeps>(x) : x) - about;
            first[i % detail::lane_count] += d;
            second[i % detail::lane_count] += detail::rounded<scalar_sweeps>(d * d);
        }
        return {detail::tree_sum<scalar_sweeps>(first), detail::tree_sum<scalar_sweeps>(second)};
    }

    template <class Lane>
    [[nodiscard]] static std::uint64_t count_zeros(const std::byte* at, std::size_t count) noexcept {
        return detail::count_kinds<scalar_sweeps, Lane>(at, count).zeros;
    }

    template <class Conversion>
    static void widen(const std::byte* from, std::size_t count, double scale, typename Conversion::lane* to) noexcept {
        reduce::detail::widen<scalar_sweeps, Conversion>(from, count, scale, to);
    }

private:
    template <detail::parts Parts>
    static void sum_narrow(const std::byte* at, std::size_t count, detail::block_result& block) noexcept {
        detail::lane_array<double> sum{};
        detail::lane_array<double> magnitudes{};
        detail::lane_array<double> squares{};
        for (std::size_t i = 0; i < count; ++i) {
            const double x = detail::lane_at<scalar_sweeps, float>(at, i);
            sum[i % detail::lane_count] += x;
            if constexpr (Parts.norms) {
                magnitudes[i % detail::lane_count] += detail::magnitude<scalar_sweeps>(x);
                squares[i % detail::lane_count] += x * x;  // exact: fused or not, the same bits
            }
        }
        block.sum = {detail::tree_sum<scalar_sweeps>(sum), 0};
        if constexpr (Parts.norms) {
            block.magnitudes = {detail::tree_sum<scalar_sweeps>(magnitudes), 0};
            block.squares = {detail::tree_sum<scalar_sweeps>(squares), 0};
        }
    }

    struct wide_lanes {
        detail::lane_array<double> high{};
        detail::lane_array<double> low{};

        void add(std::size_t lane, const std::array<double, detail::group_rows>& x) noexcept {
            const double tree = ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7]));
            const detail::wide_sum sum = detail::two_sum<scalar_sweeps>(high[lane], tree);
            high[lane] = sum.high;
            low[lane] += sum.low;
        }
    };

    template <detail::parts Parts>
    static void sum_wide(const std::byte* at, std::size_t count, detail::block_result& block) noexcept {
        wide_lanes sum;
        wide_lanes magnitudes;
        wide_lanes squares;
        for (std::size_t group = 0; group < count; group += detail::group_rows * detail::lane_count) {
            for (std::size_t lane = 0; lane < detail::lane_count; ++lane) {
                std::array<double, detail::group_rows> x{};
                std::array<double, detail::group_rows> size{};
                std::array<double, detail::group_rows> square{};
                for (std::size_t row = 0; row < detail::group_rows; ++row) {
                    const std::size_t i = group + row * detail::lane_count + lane;
                    x[row] = i < count ? detail::lane_at<scalar_sweeps, double>(at, i) : 0.0;
                    size[row] = detail::magnitude<scalar_sweeps>(x[row]);
                    square[row] = detail::rounded<scalar_sweeps>(x[row] * x[row]);
                }
                sum.add(lane, x);
                if constexpr (Parts.norms) {
                    magnitudes.add(lane, size);
                    squares.add(lane, square);
                }
            }
        }
        block.sum = detail::tree_sum<scalar_sweeps>(sum.high, sum.low);
        if constexpr (Parts.norms) {
            block.magnitudes = detail::tree_sum<scalar_sweeps>(magnitudes.high, magnitudes.low);
            block.squares = detail::tree_sum<scalar_sweeps>(squares.high, squares.low);
        }
    }
};

/// scalar_kernel's functions; a template, so that files that include this without using it pay nothing.
template <class Sweeps>
struct kernel_by_loops {
    /// At least `wanted` of one tensor, see reduction_kernel.  Cost: one pass, no allocation.
    [[nodiscard]] result<reduction_values> reduce(const tensor_view& tensor, reduction_set wanted) const noexcept {
        return reduce_tensor<Sweeps>(tensor, wanted);
    }

    /// Reduces a tensor and calls `watch` with its bytes piece by piece, see watched_reducer.
    [[nodiscard]] result<reduction_values> reduce(const tensor_view& tensor, reduction_set wanted,
                                                  const byte_watch& watch) const noexcept {
        return reduce_tensor<Sweeps>(tensor, wanted, &watch);
    }

    /// Reduces a tensor into `out`, see in_place_reducer.
    [[nodiscard]] status reduce_into(const tensor_view& tensor, reduction_set wanted, const byte_watch* watch,
                                     reduction_values& out) const noexcept {
        return detail::reduce_into<Sweeps>(tensor, wanted, watch, 0, out);
    }

    /// Reduces a tensor whose bytes come from a feed, see fed_reducer.
    [[nodiscard]] result<reduction_values> reduce_fed(const smdebug::detail::fed_tensor& tensor,
                                                      reduction_set wanted) const noexcept {
        return reduce_fed_tensor<Sweeps>(tensor, wanted);
    }

    /// Reduces a tensor with `repeats` more elements, see repeating_reducer.
    [[nodiscard]] result<reduction_values> reduce_repeated(const tensor_view& values, std::size_t repeats,
                                                           reduction_set wanted) const noexcept {
        return reduce_repeated_tensor<Sweeps>(values, repeats, wanted);
    }

    /// Reduces by a set that is known at compile time.
    template <reduction_set Wanted>
    [[nodiscard]] result<reduction_values> reduce(const tensor_view& tensor) const noexcept {
        return reduce_tensor<Sweeps, Wanted>(tensor);
    }

    /// The sum of mixed words of a digest, see word_mixer.
    [[nodiscard]] std::uint64_t mix_words(byte_view words, std::uint64_t first) const noexcept {
        return sum_of_mixed<Sweeps>(words.data(), words.size() / sizeof(std::uint64_t), first);
    }

    /// The stripes of a content hash, see stripe_hasher.
    void hash_stripes(hash_sums sums, byte_view stripes, std::size_t first) const noexcept {
        add_stripes<Sweeps>(sums, stripes.data(), stripes.size() / stripe_size, first);
    }

    [[nodiscard]] std::string name() const { return "scalar"; }
};

}  // namespace reduce::detail

/// Reduces with plain loops.  Models reduction_kernel; computes the same bits as every simd_kernel.
using scalar_kernel = reduce::detail::kernel_by_loops<reduce::detail::scalar_sweeps>;

template <>
inline constexpr bool gives_usual_bits<scalar_kernel> = true;

}  // namespace smdebug::inline v1
#include <smdebug/core/strict_math/end.ipp>
