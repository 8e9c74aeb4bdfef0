// The few vector operations that the sweeps need, over xsimd: lanes from memory, rounded products, merging by halves.
// Everything has Arch as a template parameter, so that -m flags cannot mix two of them.
#pragma once

#include <smdebug/reduce/lanes.hpp>
#include <smdebug/reduce/wide_sum.hpp>

#include <xsimd/xsimd.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if XSIMD_VERSION_MAJOR * 100 + XSIMD_VERSION_MINOR < 801
#error "smdebug needs xsimd 8.1 or newer (Debian: libxsimd-dev).  Tried: 8.1 to 14.3."
#endif

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::reduce::detail {

/// The bits of `lanes` as lanes of type To, which is as large as From.
template <class Arch, class To, class From>
[[nodiscard]] inline xsimd::batch<To, Arch> same_bits(xsimd::batch<From, Arch> lanes) noexcept {
    static_assert(sizeof(To) == sizeof(From));
#if XSIMD_VERSION_MAJOR >= 11  // from here on it takes the lane, not the batch
    return xsimd::bitwise_cast<To>(lanes);
#else
    return xsimd::bitwise_cast<xsimd::batch<To, Arch>>(lanes);
#endif
}

template <class Arch>
using singles = xsimd::batch<float, Arch>;

/// Vectors of doubles whose arithmetic has this header's rules (strict_math/begin.ipp): xsimd's operators have those of
/// the file that includes it first.
template <class Arch>
struct doubles : xsimd::batch<double, Arch> {
    using base = xsimd::batch<double, Arch>;
    using base::base;
    doubles(base lanes) noexcept : base(lanes) {}

    [[nodiscard]] friend doubles operator+(doubles a, doubles b) noexcept {
        if constexpr (has_operators) {
            return doubles(a.data + b.data);
        } else {
            return base(a) + base(b);
        }
    }
    [[nodiscard]] friend doubles operator-(doubles a, doubles b) noexcept {
        if constexpr (has_operators) {
            return doubles(a.data - b.data);
        } else {
            return base(a) - base(b);
        }
    }
    [[nodiscard]] friend doubles operator*(doubles a, doubles b) noexcept {
        if constexpr (has_operators) {
            return doubles(a.data * b.data);
        } else {
            return base(a) * base(b);
        }
    }

private:
    /// The compilers' own; an emulated vector is an array.
    static constexpr bool has_operators = requires(base lanes) { lanes.data* lanes.data; };
};

/// |x|, lane by lane.
template <class Arch>
[[nodiscard]] inline doubles<Arch> sizes_of(doubles<Arch> x) noexcept {
    return xsimd::abs(x);
}

template <class Arch>
using words = xsimd::batch<std::uint64_t, Arch>;

/// Vectors of doubles that hold the sixteen lanes.
template <class Arch>
inline constexpr std::size_t vectors_per_row = lane_count / doubles<Arch>::size;

template <class Arch>
using lane_vectors = std::array<doubles<Arch>, vectors_per_row<Arch>>;

/// AVX-512 operations below are the masked forms with this mask, because g++ 12 warns (-Wmaybe-uninitialized, its bug
/// 105593) about the plain ones; it generates the same plain instructions for both.
template <class Arch>
inline constexpr std::uint8_t every_lane = 0xFF;

template <class Arch>
inline constexpr bool has_avx512 = std::derived_from<Arch, xsimd::avx512f>;

/// Whether xsimd's fma is one instruction; else it is two of its operators.
template <class Arch>
inline constexpr bool has_fma = std::derived_from<Arch, xsimd::neon64>;
template <class Base>
inline constexpr bool has_fma<xsimd::fma3<Base>> = true;

/// The smaller of two, lane by lane, either one where a lane is NaN.
template <class Arch, class Lane>
[[nodiscard]] inline xsimd::batch<Lane, Arch> smaller(xsimd::batch<Lane, Arch> a, xsimd::batch<Lane, Arch> b) noexcept {
    if constexpr (has_avx512<Arch> && std::same_as<Lane, float>) {
        return xsimd::batch<Lane, Arch>(_mm512_maskz_min_ps(std::uint16_t{0xFFFF}, a.data, b.data));
    } else if constexpr (has_avx512<Arch>) {
        return xsimd::batch<Lane, Arch>(_mm512_maskz_min_pd(every_lane<Arch>, a.data, b.data));
    } else {
        return xsimd::min(a, b);
    }
}

template <class Arch, class Lane>
[[nodiscard]] inline xsimd::batch<Lane, Arch> larger(xsimd::batch<Lane, Arch> a, xsimd::batch<Lane, Arch> b) noexcept {
    if constexpr (has_avx512<Arch> && std::same_as<Lane, float>) {
        return xsimd::batch<Lane, Arch>(_mm512_maskz_max_ps(std::uint16_t{0xFFFF}, a.data, b.data));
    } else if constexpr (has_avx512<Arch>) {
        return xsimd::batch<Lane, Arch>(_mm512_maskz_max_pd(every_lane<Arch>, a.data, b.data));
    } else {
        return xsimd::max(a, b);
    }
}

/// The smaller of `a`, which has no sign, and |x|, lane by lane, either one where a lane is NaN.
template <class Arch, class Lane>
[[nodiscard]] inline xsimd::batch<Lane, Arch> smaller_size(xsimd::batch<Lane, Arch> a,
                                                           xsimd::batch<Lane, Arch> x) noexcept {
    return smaller<Arch, Lane>(a, xsimd::abs(x));
}

/// Prefetches the cache line at `at`, which may be any address.
template <class Arch>
inline void fetch(std::uintptr_t at) noexcept {
    __builtin_prefetch(reinterpret_cast<const void*>(at), 0, 3);
}

/// Each lane shifted towards its lower bits.
template <class Arch, int Bits>
[[nodiscard]] inline words<Arch> shifted_right(words<Arch> lanes) noexcept {
    if constexpr (has_avx512<Arch>) {
        return words<Arch>(_mm512_maskz_srli_epi64(every_lane<Arch>, lanes.data, Bits));
    } else {
        return lanes >> Bits;
    }
}

/// Whether vectors of Arch have lower_products() and neighbours().
template <class Arch>
inline constexpr bool has_lower_products =
#if defined(__x86_64__)
    std::derived_from<Arch, xsimd::sse2> || std::derived_from<Arch, xsimd::avx2> || has_avx512<Arch>;
#elif defined(__aarch64__)
    std::derived_from<Arch, xsimd::neon64>;
#else
    false;
#endif

/// The products of the lanes' lower halves of 32 bits.
template <class Arch>
[[nodiscard]] inline words<Arch> lower_products(words<Arch> a, words<Arch> b) noexcept {
#if defined(__x86_64__)
    if constexpr (has_avx512<Arch>) {
        return words<Arch>(_mm512_maskz_mul_epu32(every_lane<Arch>, a.data, b.data));
    } else if constexpr (std::derived_from<Arch, xsimd::avx2>) {
        return words<Arch>(_mm256_mul_epu32(a.data, b.data));
    } else {
        return words<Arch>(_mm_mul_epu32(a.data, b.data));
    }
#elif defined(__aarch64__)
    return words<Arch>(vmull_u32(vmovn_u64(a.data), vmovn_u64(b.data)));
#endif
}

/// The lanes of each pair exchanged.
template <class Arch>
[[nodiscard]] inline words<Arch> neighbours(words<Arch> x) noexcept {
#if defined(__x86_64__)
    constexpr int exchanged = 0b01'00'11'10;
    if constexpr (has_avx512<Arch>) {
        return words<Arch>(_mm512_maskz_permutex_epi64(every_lane<Arch>, x.data, 0b10'11'00'01));
    } else if constexpr (std::derived_from<Arch, xsimd::avx2>) {
        return words<Arch>(_mm256_shuffle_epi32(x.data, exchanged));
    } else {
        return words<Arch>(_mm_shuffle_epi32(x.data, exchanged));
    }
#elif defined(__aarch64__)
    return words<Arch>(vextq_u64(x.data, x.data, 1));
#endif
}

/// Each lane's lower half moved to the upper one.
template <class Arch>
[[nodiscard]] inline words<Arch> to_upper_half(words<Arch> x) noexcept {
    if constexpr (has_avx512<Arch>) {
        return words<Arch>(_mm512_maskz_slli_epi64(every_lane<Arch>, x.data, 32));
    } else {
        return x << 32;
    }
}

/// Each lane's upper twelve bits: for a double, sign and exponent.
template <class Arch>
[[nodiscard]] inline words<Arch> upper_bits(words<Arch> bits) noexcept {
    return shifted_right<Arch, 52>(bits);
}

/// One vector of doubles from floats or doubles at any alignment.
template <class Arch, class Lane>
[[nodiscard]] inline doubles<Arch> load_doubles(const Lane* at) noexcept {
    if constexpr (std::same_as<Lane, double>) {
        return doubles<Arch>::load_unaligned(at);
    } else if constexpr (has_avx512<Arch>) {
        return doubles<Arch>(_mm512_maskz_cvtps_pd(every_lane<Arch>, _mm256_loadu_ps(at)));
    } else if constexpr (std::derived_from<Arch, xsimd::avx>) {
        return doubles<Arch>(_mm256_cvtps_pd(_mm_loadu_ps(at)));
#if defined(__x86_64__)
    } else if constexpr (std::derived_from<Arch, xsimd::sse2>) {
        return doubles<Arch>(_mm_cvtps_pd(_mm_castsi128_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(at)))));
#elif defined(__aarch64__)
    } else if constexpr (std::derived_from<Arch, xsimd::neon64>) {
        return doubles<Arch>(vcvt_f64_f32(vld1_f32(at)));
#endif
    } else {
        alignas(64) std::array<double, doubles<Arch>::size> wide;
        for (std::size_t i = 0; i < wide.size(); ++i) {
            float value;
            std::memcpy(&value, at + i, sizeof(value));
            wide[i] = static_cast<double>(value);
        }
        return doubles<Arch>::load_aligned(wide.data());
    }
}

/// The product x * y as rounded: no addition can be fused with it.
template <class Arch>
[[nodiscard]] inline doubles<Arch> rounded_product(doubles<Arch> x, doubles<Arch> y) noexcept {
    const doubles<Arch> product = x * y;
    return doubles<Arch>(rounded<Arch>(product.data));
}

/// sum + x * x where x * x is exact, so that it may be fused or not.
template <class Arch>
[[nodiscard]] inline doubles<Arch> plus_exact_square(doubles<Arch> sum, doubles<Arch> x) noexcept {
    if constexpr (has_avx512<Arch>) {
        return doubles<Arch>(_mm512_fmadd_pd(x.data, x.data, sum.data));
    } else if constexpr (has_fma<Arch>) {
        return xsimd::fma(x, x, sum);
    } else {
        return sum + x * x;
    }
}

/// The lanes' sum by halves: whole vectors first, then within the last one.
template <class Arch>
[[nodiscard]] inline double vector_tree_sum(lane_vectors<Arch>& lane) noexcept {
    for (std::size_t width = lane.size() / 2; width > 0; width /= 2) {
        for (std::size_t i = 0; i < width; ++i) {
            lane[i] = lane[i] + lane[i + width];
        }
    }
    alignas(64) std::array<double, doubles<Arch>::size> rest;
    lane[0].store_aligned(rest.data());
    return tree_sum<Arch>(rest);
}

/// The sum of wide lanes by halves: both halves of the sums are added by two_sum.
template <class Arch>
[[nodiscard]] inline wide_sum wide_vector_tree_sum(lane_vectors<Arch>& high, lane_vectors<Arch>& low) noexcept {
    for (std::size_t width = high.size() / 2; width > 0; width /= 2) {
        for (std::size_t i = 0; i < width; ++i) {
            const doubles<Arch> sum = high[i] + high[i + width];
            const doubles<Arch> part = sum - high[i];
            low[i] = ((high[i] - (sum - part)) + (high[i + width] - part)) + (low[i] + low[i + width]);
            high[i] = sum;
        }
    }
    alignas(64) std::array<double, doubles<Arch>::size> high_rest;
    alignas(64) std::array<double, doubles<Arch>::size> low_rest;
    high[0].store_aligned(high_rest.data());
    low[0].store_aligned(low_rest.data());
    return tree_sum<Arch>(high_rest, low_rest);
}

/// The lanes' product by halves.
template <class Arch>
[[nodiscard]] inline scaled_product vector_tree_product(lane_vectors<Arch>& lane, std::int64_t exponent) noexcept {
    for (std::size_t width = lane.size() / 2; width > 0; width /= 2) {
        for (std::size_t i = 0; i < width; ++i) {
            lane[i] = lane[i] * lane[i + width];
        }
    }
    alignas(64) std::array<double, doubles<Arch>::size> rest;
    lane[0].store_aligned(rest.data());
    return tree_product<Arch>(rest, exponent);
}

/// Sums of one vector of wide lanes: eight rows in a tree, then into a sum of two doubles.
template <class Arch>
struct wide_lane_sum {
    doubles<Arch> high = doubles<Arch>(0.0);
    doubles<Arch> low = doubles<Arch>(0.0);

    using group = std::array<doubles<Arch>, group_rows>;

    void add(const group& x) noexcept {
        const doubles<Arch> tree = ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7]));
        const doubles<Arch> sum = high + tree;
        const doubles<Arch> part = sum - high;
        low = low + ((high - (sum - part)) + (tree - part));
        high = sum;
    }
};

/// Products of one vector of lanes.  Between two calls of normalise at most group_rows rows may be multiplied.
template <class Arch>
struct lane_product {
    doubles<Arch> mantissa = doubles<Arch>(1.0);
    words<Arch> exponent = words<Arch>(std::uint64_t{0});  ///< sum of the biased exponents that normalise took out

    void normalise() noexcept {
        const auto bits = same_bits<Arch, std::uint64_t>(mantissa);
        const words<Arch> field(std::uint64_t{0x7FF0000000000000});
        exponent = exponent + upper_bits<Arch>(bits & field);
        mantissa = same_bits<Arch, double>((bits & words<Arch>(std::uint64_t{0x800FFFFFFFFFFFFF})) |
                                           words<Arch>(std::uint64_t{0x3FF0000000000000}));
    }
};

/// A row of fewer than sixteen elements, filled up to sixteen with what changes nothing: three rows, for sums,
/// products and extrema.  Reads `count` elements and not a byte more; they need not be aligned.
template <class Arch, class Lane>
struct padded_row {
    alignas(64) std::array<Lane, lane_count> sums;
    alignas(64) std::array<Lane, lane_count> factors;
    alignas(64) std::array<Lane, lane_count> extrema;

    padded_row(const void* at, std::size_t count) noexcept {
        sums.fill(0);
        factors.fill(1);
        Lane first;
        std::memcpy(&first, at, sizeof(Lane));
        extrema.fill(first);
        std::memcpy(sums.data(), at, count * sizeof(Lane));
        std::memcpy(factors.data(), at, count * sizeof(Lane));
        std::memcpy(extrema.data(), at, count * sizeof(Lane));
    }
};

// The common parts of a block's columns: their results in lanes, extrema, and prefetching.
// A column is the lanes that fit one vector.

/// The results of a block's columns.
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

/// The prefetch distance from the current row, in bytes.  The processor prefetches by itself, but not across the end of
/// a page; the longer a row takes, the larger the best distance.
template <parts Parts>
inline constexpr std::size_t fetch_distance = Parts == parts{} ? 4096 : 16384;

/// Prefetches the lines that follow the current ones, one a call.
template <class Arch, parts Parts>
class fetcher {
public:
    /// `soon` null: there is nothing to prefetch; prefetches `at` instead, which is in the cache and costs almost
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

}  // namespace smdebug::inline v1::reduce::detail
#include <smdebug/core/strict_math/end.ipp>
