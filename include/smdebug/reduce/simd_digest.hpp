// Digests and content hashes with SIMD: as many words at a time as a vector holds.
#pragma once

#include <smdebug/reduce/digest.hpp>
#include <smdebug/reduce/simd_batch.hpp>
#include <smdebug/reduce/tensor_hash.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace smdebug::inline v1::reduce::detail {

/// Whether vectors of Arch mix words faster than plain loops.  NEON has no product of 64-bit lanes, and two of them are
/// too few to make up for that.
template <class Arch>
inline constexpr bool mixes_words_in_vectors =
#if defined(__x86_64__)
    std::derived_from<Arch, xsimd::avx2> || has_avx512<Arch>;
#else
    false;
#endif

#if defined(__x86_64__)

/// Each lane times Factor, modulo 2^64.
template <class Arch, std::uint64_t Factor>
[[nodiscard]] inline words<Arch> times(words<Arch> x) noexcept {
    const words<Arch> factor(Factor);
    if constexpr (std::derived_from<Arch, xsimd::avx512dq>) {
        return words<Arch>(_mm512_maskz_mullo_epi64(every_lane<Arch>, x.data, factor.data));
    } else {  // by halves: low * low + ((high * low + low * high) << 32)
        const words<Arch> crossed = lower_products<Arch>(shifted_right<Arch, 32>(x), factor) +
                                    lower_products<Arch>(x, words<Arch>(Factor >> 32U));
        return lower_products<Arch>(x, factor) + to_upper_half<Arch>(crossed);
    }
}

/// The function mixed(), lane by lane.
template <class Arch>
[[nodiscard]] inline words<Arch> mixed_lanes(words<Arch> x) noexcept {
    x = times<Arch, first_factor>(x ^ shifted_right<Arch, 30>(x));
    x = times<Arch, second_factor>(x ^ shifted_right<Arch, 27>(x));
    return x ^ shifted_right<Arch, 31>(x);
}

#endif

/// See sum_of_mixed.
template <class Arch>
[[nodiscard]] inline std::uint64_t simd_sum_of_mixed(const std::byte* at, std::size_t count,
                                                     std::uint64_t first) noexcept {
    std::uint64_t sum = 0;
#if defined(__x86_64__)
    if constexpr (mixes_words_in_vectors<Arch>) {
        constexpr std::size_t width = words<Arch>::size;
        constexpr std::size_t side_by_side = 4;  // one alone would wait for each of its multiplications
        constexpr std::size_t row = side_by_side * width;
        if (count >= row) {
            alignas(64) std::array<std::uint64_t, row> lanes;
            for (std::size_t i = 0; i < row; ++i) {
                lanes[i] = (first + i + 1) * digest_stride;
            }
            std::array<words<Arch>, side_by_side> sums;
            std::array<words<Arch>, side_by_side> keys;
            for (std::size_t i = 0; i < side_by_side; ++i) {
                sums[i] = words<Arch>(std::uint64_t{0});
                keys[i] = words<Arch>::load_aligned(&lanes[i * width]);
            }
            const words<Arch> step(row * digest_stride);
            for (; count >= row; count -= row, first += row, at += row * sizeof(std::uint64_t)) {
                for (std::size_t i = 0; i < side_by_side; ++i) {
                    const auto* from = reinterpret_cast<const std::uint64_t*>(at) + i * width;
                    sums[i] = sums[i] + mixed_lanes<Arch>(words<Arch>::load_unaligned(from) + keys[i]);
                    keys[i] = keys[i] + step;
                }
            }
            for (std::size_t i = 0; i < side_by_side; ++i) {
                sums[i].store_aligned(&lanes[i * width]);
            }
            for (const std::uint64_t lane : lanes) {
                sum += lane;
            }
        }
    }
#endif
    return sum + sum_of_mixed<Arch>(at, count, first);
}

// The stripes of a content hash: a stripe is one to four vectors.

/// See add_stripes.
template <class Arch>
inline void simd_add_stripes(hash_sums sums, const std::byte* at, std::size_t stripes, std::size_t first) noexcept {
    if constexpr (has_lower_products<Arch>) {
        constexpr std::size_t width = words<Arch>::size;
        constexpr std::size_t vectors = words_of_a_stripe / width;
        std::array<words<Arch>, vectors> lanes;
        for (std::size_t v = 0; v < vectors; ++v) {
            lanes[v] = words<Arch>::load_unaligned(&sums[v * width]);
        }
        while (stripes > 0) {
            const std::size_t in_block = first % stripes_of_a_block;
            const std::size_t some = std::min(stripes, stripes_of_a_block - in_block);
            for (std::size_t i = in_block; i < in_block + some; ++i, at += stripe_size) {
                for (std::size_t v = 0; v < vectors; ++v) {
                    const auto* const from = reinterpret_cast<const std::uint64_t*>(at) + v * width;
                    const words<Arch> word = words<Arch>::load_unaligned(from);
                    const words<Arch> x = word ^ words<Arch>::load_unaligned(&hash_keys<Arch>[i + v * width]);
                    const words<Arch> product = lower_products<Arch>(x, shifted_right<Arch, 32>(x));
                    lanes[v] = lanes[v] + product + neighbours<Arch>(word);
                }
            }
            first += some;
            stripes -= some;
            if (in_block + some == stripes_of_a_block) {
                const words<Arch> factor(sum_factor);
                for (std::size_t v = 0; v < vectors; ++v) {
                    const words<Arch> key = words<Arch>::load_unaligned(&hash_keys<Arch>[v * width]);
                    const words<Arch> x = lanes[v] ^ shifted_right<Arch, 47>(lanes[v]) ^ key;
                    lanes[v] = lower_products<Arch>(x, factor) +
                               to_upper_half<Arch>(lower_products<Arch>(shifted_right<Arch, 32>(x), factor));
                }
            }
        }
        for (std::size_t v = 0; v < vectors; ++v) {
            lanes[v].store_unaligned(&sums[v * width]);
        }
    } else {
        add_stripes<Arch>(sums, at, stripes, first);
    }
}

}  // namespace smdebug::inline v1::reduce::detail
