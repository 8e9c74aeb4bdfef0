// The stripes of a content hash added up with SIMD: a stripe is one to four vectors.
#pragma once

#include <smdebug/reduce/content_hash.hpp>
#include <smdebug/reduce/simd_batch.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace smdebug::inline v1::reduce::detail {

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
