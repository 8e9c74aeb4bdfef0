// The conversions of widen.hpp to float and double on x86-64, a row of sixteen elements each, by intrinsics.
// g++ 12 lowers the portable ones (simd_widen.hpp) to several times the instructions; these keep up with the sweeps.
// Which code a row takes depends on Arch alone, never on the -m flags of the file.
#pragma once

#include <smdebug/reduce/lanes.hpp>
#include <smdebug/reduce/simd_batch.hpp>
#include <smdebug/reduce/widen.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::reduce::detail {

/// Bits of the integer vectors of Arch: 512, 256 (AVX2 and above), 128 (SSE2 to AVX); 0 where it is not x86-64.
template <class Arch>
inline constexpr int x86_bits = has_avx512<Arch>                                                              ? 512
                                : std::derived_from<Arch, xsimd::avx2>                                        ? 256
                                : std::derived_from<Arch, xsimd::avx> || std::derived_from<Arch, xsimd::sse2> ? 128
                                                                                                              : 0;

template <class Arch>
concept avx512_rows = (x86_bits<Arch> == 512);
template <class Arch>
concept avx2_rows = (x86_bits<Arch> == 256);
template <class Arch>
concept sse2_rows = (x86_bits<Arch> == 128);

// Each overload reads sixteen elements at any alignment from `from` and writes sixteen lanes to `to`.  They are inside
// the compilers' macros because a file that is not compiled for an instruction set cannot even name its vectors.

#if defined(__AVX512F__)

/// As every_lane, for sixteen floats.
template <class Arch>
inline constexpr std::uint16_t every_single = 0xFFFF;

/// Sixteen integers of 32 bits from sixteen smaller ones.
template <avx512_rows Arch, narrow_integer Integer>
[[nodiscard]] inline __m512i widened_integers(const std::byte* from) noexcept {
    if constexpr (std::same_as<Integer, std::int8_t>) {
        return _mm512_maskz_cvtepi8_epi32(every_single<Arch>, _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
    } else if constexpr (std::same_as<Integer, std::uint8_t>) {
        return _mm512_maskz_cvtepu8_epi32(every_single<Arch>, _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
    } else if constexpr (std::same_as<Integer, std::int16_t>) {
        return _mm512_maskz_cvtepi16_epi32(every_single<Arch>,
                                           _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
    } else {
        return _mm512_maskz_cvtepu16_epi32(every_single<Arch>,
                                           _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
    }
}

/// Quietens a signalling NaN, which half_to_float does not.
template <avx512_rows Arch>
inline void convert_row(from_half /*how*/, const std::byte* from, float* to) noexcept {
    const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    _mm512_storeu_ps(to, _mm512_maskz_cvtph_ps(every_single<Arch>, halves));
}

template <avx512_rows Arch>
inline void convert_row(from_bfloat /*how*/, const std::byte* from, float* to) noexcept {
    const __m512i words = widened_integers<Arch, std::uint16_t>(from);
    _mm512_storeu_si512(to, _mm512_maskz_slli_epi32(every_single<Arch>, words, 16));
}

template <avx512_rows Arch>
inline void convert_row(from_bool /*how*/, const std::byte* from, float* to) noexcept {
    const __m512i words = widened_integers<Arch, std::uint8_t>(from);
    _mm512_storeu_ps(to, _mm512_maskz_mov_ps(_mm512_test_epi32_mask(words, words), _mm512_set1_ps(1)));
}

template <avx512_rows Arch, narrow_integer Integer>
inline void convert_row(from_integer<Integer, float> /*how*/, const std::byte* from, float* to) noexcept {
    _mm512_storeu_ps(to, _mm512_maskz_cvtepi32_ps(every_single<Arch>, widened_integers<Arch, Integer>(from)));
}

template <avx512_rows Arch>
inline void convert_row(from_integer<std::int32_t, double> /*how*/, const std::byte* from, double* to) noexcept {
    const auto* at = reinterpret_cast<const __m256i*>(from);
    _mm512_storeu_pd(to, _mm512_maskz_cvtepi32_pd(every_lane<Arch>, _mm256_loadu_si256(at)));
    _mm512_storeu_pd(to + 8, _mm512_maskz_cvtepi32_pd(every_lane<Arch>, _mm256_loadu_si256(at + 1)));
}

template <avx512_rows Arch>
inline void convert_row(from_integer<std::uint32_t, double> /*how*/, const std::byte* from, double* to) noexcept {
    const auto* at = reinterpret_cast<const __m256i*>(from);
    _mm512_storeu_pd(to, _mm512_maskz_cvtepu32_pd(every_lane<Arch>, _mm256_loadu_si256(at)));
    _mm512_storeu_pd(to + 8, _mm512_maskz_cvtepu32_pd(every_lane<Arch>, _mm256_loadu_si256(at + 1)));
}

#endif

#if defined(__AVX2__)

/// Eight integers of 32 bits, of a row's eight from `index` on.
template <avx2_rows Arch, narrow_integer Integer>
[[nodiscard]] inline __m256i widened_integers(const std::byte* from, int index) noexcept {
    const std::byte* at = from + static_cast<std::size_t>(index) * sizeof(Integer);
    if constexpr (std::same_as<Integer, std::int8_t>) {
        return _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(at)));
    } else if constexpr (std::same_as<Integer, std::uint8_t>) {
        return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(at)));
    } else if constexpr (std::same_as<Integer, std::int16_t>) {
        return _mm256_cvtepi16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
    } else {
        return _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
    }
}

/// By F16C, which every CPU with AVX2 has.  Written as an instruction: the intrinsic needs -mf16c, and two files that
/// differ in that must not differ here.  Quietens a signalling NaN, which half_to_float does not.
template <avx2_rows Arch>
inline void convert_row(from_half /*how*/, const std::byte* from, float* to) noexcept {
    for (int i = 0; i < 16; i += 8) {
        const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 2 * i));
        __m256 singles;
        __asm__("vcvtph2ps %1, %0" : "=x"(singles) : "x"(halves));
        _mm256_storeu_ps(to + i, singles);
    }
}

template <avx2_rows Arch>
inline void convert_row(from_bfloat /*how*/, const std::byte* from, float* to) noexcept {
    for (int i = 0; i < 16; i += 8) {
        const __m256i words = widened_integers<Arch, std::uint16_t>(from, i);
        _mm256_storeu_ps(to + i, _mm256_castsi256_ps(_mm256_slli_epi32(words, 16)));
    }
}

template <avx2_rows Arch>
inline void convert_row(from_bool /*how*/, const std::byte* from, float* to) noexcept {
    for (int i = 0; i < 16; i += 8) {
        const __m256i is_true =
            _mm256_cmpgt_epi32(widened_integers<Arch, std::uint8_t>(from, i), _mm256_setzero_si256());
        _mm256_storeu_ps(to + i, _mm256_and_ps(_mm256_castsi256_ps(is_true), _mm256_set1_ps(1)));
    }
}

template <avx2_rows Arch, narrow_integer Integer>
inline void convert_row(from_integer<Integer, float> /*how*/, const std::byte* from, float* to) noexcept {
    for (int i = 0; i < 16; i += 8) {
        _mm256_storeu_ps(to + i, _mm256_cvtepi32_ps(widened_integers<Arch, Integer>(from, i)));
    }
}

template <avx2_rows Arch>
inline void convert_row(from_integer<std::int32_t, double> /*how*/, const std::byte* from, double* to) noexcept {
    for (int i = 0; i < 16; i += 4) {
        const __m128i words = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 4 * i));
        _mm256_storeu_pd(to + i, _mm256_cvtepi32_pd(words));
    }
}

/// An integer below 2^32 in the last bits of the double 2^52 adds its value.
template <avx2_rows Arch>
inline void convert_row(from_integer<std::uint32_t, double> /*how*/, const std::byte* from, double* to) noexcept {
    const __m256d base = _mm256_set1_pd(0x1p52);
    for (int i = 0; i < 16; i += 4) {
        const __m256i words = _mm256_cvtepu32_epi64(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 4 * i)));
        const __m256i marked = _mm256_or_si256(words, _mm256_castpd_si256(base));
        _mm256_storeu_pd(to + i, _mm256_sub_pd(_mm256_castsi256_pd(marked), base));
    }
}

#endif

#if defined(__x86_64__)

/// Eight 16-bit integers to eight floats; `upper` is the upper and `lower` the lower half of each float's bits.
template <sse2_rows Arch>
inline void store_halves(__m128i upper, __m128i lower, float* to) noexcept {
    _mm_storeu_ps(to, _mm_castsi128_ps(_mm_unpacklo_epi16(lower, upper)));
    _mm_storeu_ps(to + 4, _mm_castsi128_ps(_mm_unpackhi_epi16(lower, upper)));
}

/// Eight integers of 16 bits, signed or not, to eight floats.
template <sse2_rows Arch, class Integer>
inline void store_integers(__m128i shorts, float* to) noexcept {
    if constexpr (std::is_signed_v<Integer>) {
        _mm_storeu_ps(to, _mm_cvtepi32_ps(_mm_srai_epi32(_mm_unpacklo_epi16(shorts, shorts), 16)));
        _mm_storeu_ps(to + 4, _mm_cvtepi32_ps(_mm_srai_epi32(_mm_unpackhi_epi16(shorts, shorts), 16)));
    } else {
        const __m128i zero = _mm_setzero_si128();
        _mm_storeu_ps(to, _mm_cvtepi32_ps(_mm_unpacklo_epi16(shorts, zero)));
        _mm_storeu_ps(to + 4, _mm_cvtepi32_ps(_mm_unpackhi_epi16(shorts, zero)));
    }
}

/// The float's bits by halves, so that eight elements need one vector most of the time.  A denormal f16 becomes 2^-14
/// too large, which is then subtracted: no denormal float on the way.
template <sse2_rows Arch>
inline void convert_row(from_half /*how*/, const std::byte* from, float* to) noexcept {
    const __m128i zero = _mm_setzero_si128();
    for (int i = 0; i < 16; i += 8) {
        const __m128i half = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 2 * i));
        const __m128i size = _mm_and_si128(half, _mm_set1_epi16(0x7FFF));
        const __m128i sign = _mm_xor_si128(half, size);
        const __m128i is_special = _mm_cmpgt_epi16(size, _mm_set1_epi16(0x7BFF));
        const __m128i is_denormal = _mm_cmplt_epi16(size, _mm_set1_epi16(0x0400));
        __m128i upper = _mm_add_epi16(_mm_srli_epi16(size, 3), _mm_set1_epi16(112 << 7));
        upper = _mm_add_epi16(upper, _mm_and_si128(is_special, _mm_set1_epi16(112 << 7)));
        upper = _mm_add_epi16(upper, _mm_and_si128(is_denormal, _mm_set1_epi16(1 << 7)));
        const __m128i lower = _mm_slli_epi16(half, 13);
        const __m128i excess = _mm_and_si128(is_denormal, _mm_set1_epi16(113 << 7));
        const __m128 low = _mm_sub_ps(_mm_castsi128_ps(_mm_unpacklo_epi16(lower, upper)),
                                      _mm_castsi128_ps(_mm_unpacklo_epi16(zero, excess)));
        const __m128 high = _mm_sub_ps(_mm_castsi128_ps(_mm_unpackhi_epi16(lower, upper)),
                                       _mm_castsi128_ps(_mm_unpackhi_epi16(zero, excess)));
        _mm_storeu_ps(to + i, _mm_or_ps(low, _mm_castsi128_ps(_mm_unpacklo_epi16(zero, sign))));
        _mm_storeu_ps(to + i + 4, _mm_or_ps(high, _mm_castsi128_ps(_mm_unpackhi_epi16(zero, sign))));
    }
}

template <sse2_rows Arch>
inline void convert_row(from_bfloat /*how*/, const std::byte* from, float* to) noexcept {
    for (int i = 0; i < 16; i += 8) {
        const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 2 * i));
        store_halves<Arch>(halves, _mm_setzero_si128(), to + i);
    }
}

template <sse2_rows Arch>
inline void convert_row(from_bool /*how*/, const std::byte* from, float* to) noexcept {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    const __m128i is_false = _mm_cmpeq_epi8(bytes, _mm_setzero_si128());
    const __m128i one = _mm_set1_epi16(0x3F80);  // the upper half of 1.0F
    store_halves<Arch>(_mm_andnot_si128(_mm_unpacklo_epi8(is_false, is_false), one), _mm_setzero_si128(), to);
    store_halves<Arch>(_mm_andnot_si128(_mm_unpackhi_epi8(is_false, is_false), one), _mm_setzero_si128(), to + 8);
}

template <sse2_rows Arch, narrow_integer Integer>
inline void convert_row(from_integer<Integer, float> /*how*/, const std::byte* from, float* to) noexcept {
    const auto* at = reinterpret_cast<const __m128i*>(from);
    const __m128i first = _mm_loadu_si128(at);
    if constexpr (sizeof(Integer) == 2) {
        store_integers<Arch, Integer>(first, to);
        store_integers<Arch, Integer>(_mm_loadu_si128(at + 1), to + 8);
    } else if constexpr (std::is_signed_v<Integer>) {
        store_integers<Arch, Integer>(_mm_srai_epi16(_mm_unpacklo_epi8(first, first), 8), to);
        store_integers<Arch, Integer>(_mm_srai_epi16(_mm_unpackhi_epi8(first, first), 8), to + 8);
    } else {
        store_integers<Arch, Integer>(_mm_unpacklo_epi8(first, _mm_setzero_si128()), to);
        store_integers<Arch, Integer>(_mm_unpackhi_epi8(first, _mm_setzero_si128()), to + 8);
    }
}

/// An integer below 2^32 in the last bits of the double 2^52 adds its value; a signed one is 2^31 too large once its
/// sign bit is flipped.
template <sse2_rows Arch, word_integer Integer>
inline void convert_row(from_integer<Integer, double> /*how*/, const std::byte* from, double* to) noexcept {
    const __m128i exponent = _mm_set1_epi32(0x43300000);
    const __m128i flip = _mm_set1_epi32(std::is_signed_v<Integer> ? std::numeric_limits<std::int32_t>::min() : 0);
    const __m128d base = _mm_set1_pd(std::is_signed_v<Integer> ? 0x1p52 + 0x1p31 : 0x1p52);
    for (int i = 0; i < 16; i += 4) {
        const __m128i words = _mm_xor_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 4 * i)), flip);
        _mm_storeu_pd(to + i, _mm_sub_pd(_mm_castsi128_pd(_mm_unpacklo_epi32(words, exponent)), base));
        _mm_storeu_pd(to + i + 2, _mm_sub_pd(_mm_castsi128_pd(_mm_unpackhi_epi32(words, exponent)), base));
    }
}

#endif

}  // namespace smdebug::inline v1::reduce::detail
#include <smdebug/core/strict_math/end.ipp>
