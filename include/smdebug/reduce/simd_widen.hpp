// The conversions of widen.hpp, sixteen elements at a time: with the machine's own instructions where this library has
// them (x86_rows.hpp; those of ARM below; simd_integers.hpp), else in the compilers' vector types.  Not in xsimd's:
// xsimd 8 has no widening conversions.
#pragma once

#include <smdebug/reduce/lanes.hpp>
#include <smdebug/reduce/simd_batch.hpp>
#include <smdebug/reduce/simd_integers.hpp>
#include <smdebug/reduce/widen.hpp>
#include <smdebug/reduce/x86_rows.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <smdebug/core/strict_math/begin.ipp>
// First those of 64-bit ARM, by intrinsics: g++ 12 takes the portable ones, which follow, apart into single elements.
namespace smdebug::inline v1::reduce::detail {

/// 64-bit ARM, where these conversions are part of every CPU.
template <class Arch>
concept neon_arch = std::derived_from<Arch, xsimd::neon64>;

#if defined(__aarch64__)

// Each overload reads sixteen elements at any alignment from `from` and writes sixteen lanes to `to`.

/// Sixteen bytes at any alignment.
template <neon_arch Arch>
[[nodiscard]] inline uint8x16_t sixteen_bytes(const std::byte* from) noexcept {
    return vld1q_u8(reinterpret_cast<const std::uint8_t*>(from));
}

/// Eight floats of which these are the upper halves, the lower ones being zero.
template <neon_arch Arch>
inline void store_upper_halves(uint16x8_t upper, float* to) noexcept {
    const uint16x8_t zero = vdupq_n_u16(0);
    vst1q_f32(to, vreinterpretq_f32_u16(vzip1q_u16(zero, upper)));
    vst1q_f32(to + 4, vreinterpretq_f32_u16(vzip2q_u16(zero, upper)));
}

template <neon_arch Arch>
inline void store_integers(int16x8_t shorts, float* to) noexcept {
    vst1q_f32(to, vcvtq_f32_s32(vmovl_s16(vget_low_s16(shorts))));
    vst1q_f32(to + 4, vcvtq_f32_s32(vmovl_high_s16(shorts)));
}

template <neon_arch Arch>
inline void store_integers(uint16x8_t shorts, float* to) noexcept {
    vst1q_f32(to, vcvtq_f32_u32(vmovl_u16(vget_low_u16(shorts))));
    vst1q_f32(to + 4, vcvtq_f32_u32(vmovl_high_u16(shorts)));
}

/// Quietens a signalling NaN, which half_to_float does not.
template <neon_arch Arch>
inline void convert_row(from_half /*how*/, const std::byte* from, float* to) noexcept {
    for (std::size_t i = 0; i < 16; i += 8) {
        const float16x8_t halves = vreinterpretq_f16_u8(sixteen_bytes<Arch>(from + 2 * i));
        vst1q_f32(to + i, vcvt_f32_f16(vget_low_f16(halves)));
        vst1q_f32(to + i + 4, vcvt_high_f32_f16(halves));
    }
}

template <neon_arch Arch>
inline void convert_row(from_bfloat /*how*/, const std::byte* from, float* to) noexcept {
    store_upper_halves<Arch>(vreinterpretq_u16_u8(sixteen_bytes<Arch>(from)), to);
    store_upper_halves<Arch>(vreinterpretq_u16_u8(sixteen_bytes<Arch>(from + 16)), to + 8);
}

template <neon_arch Arch>
inline void convert_row(from_bool /*how*/, const std::byte* from, float* to) noexcept {
    const uint8x16_t bytes = sixteen_bytes<Arch>(from);
    const uint8x16_t is_true = vtstq_u8(bytes, bytes);
    const uint16x8_t one = vdupq_n_u16(0x3F80);  // the upper half of 1.0F
    store_upper_halves<Arch>(vandq_u16(vreinterpretq_u16_u8(vzip1q_u8(is_true, is_true)), one), to);
    store_upper_halves<Arch>(vandq_u16(vreinterpretq_u16_u8(vzip2q_u8(is_true, is_true)), one), to + 8);
}

template <neon_arch Arch, narrow_integer Integer>
inline void convert_row(from_integer<Integer, float> /*how*/, const std::byte* from, float* to) noexcept {
    const uint8x16_t first = sixteen_bytes<Arch>(from);
    if constexpr (std::same_as<Integer, std::int8_t>) {
        const int8x16_t bytes = vreinterpretq_s8_u8(first);
        store_integers<Arch>(vmovl_s8(vget_low_s8(bytes)), to);
        store_integers<Arch>(vmovl_high_s8(bytes), to + 8);
    } else if constexpr (std::same_as<Integer, std::uint8_t>) {
        store_integers<Arch>(vmovl_u8(vget_low_u8(first)), to);
        store_integers<Arch>(vmovl_high_u8(first), to + 8);
    } else if constexpr (std::is_signed_v<Integer>) {
        store_integers<Arch>(vreinterpretq_s16_u8(first), to);
        store_integers<Arch>(vreinterpretq_s16_u8(sixteen_bytes<Arch>(from + 16)), to + 8);
    } else {
        store_integers<Arch>(vreinterpretq_u16_u8(first), to);
        store_integers<Arch>(vreinterpretq_u16_u8(sixteen_bytes<Arch>(from + 16)), to + 8);
    }
}

template <neon_arch Arch>
inline void convert_row(from_integer<std::int32_t, double> /*how*/, const std::byte* from, double* to) noexcept {
    for (std::size_t i = 0; i < 16; i += 4) {
        const int32x4_t words = vreinterpretq_s32_u8(sixteen_bytes<Arch>(from + 4 * i));
        vst1q_f64(to + i, vcvtq_f64_s64(vmovl_s32(vget_low_s32(words))));
        vst1q_f64(to + i + 2, vcvtq_f64_s64(vmovl_high_s32(words)));
    }
}

template <neon_arch Arch>
inline void convert_row(from_integer<std::uint32_t, double> /*how*/, const std::byte* from, double* to) noexcept {
    for (std::size_t i = 0; i < 16; i += 4) {
        const uint32x4_t words = vreinterpretq_u32_u8(sixteen_bytes<Arch>(from + 4 * i));
        vst1q_f64(to + i, vcvtq_f64_u64(vmovl_u32(vget_low_u32(words))));
        vst1q_f64(to + i + 2, vcvtq_f64_u64(vmovl_high_u32(words)));
    }
}

#endif

/// Sixteen numbers, one row.  Passed by reference only: by value their ABI depends on -m flags.
template <class Number>
struct row_of {
    typedef Number type __attribute__((vector_size(lane_count * sizeof(Number))));
};
template <class Number>
using row_vector = typename row_of<Number>::type;

/// f16 to f32 like half_to_float.  Masks come from sign bits, because g++ 12 splits comparisons of vectors wider than
/// the machine's.
template <class Arch>
inline void convert_vector(from_half /*how*/, const row_vector<std::uint16_t>& in, row_vector<float>& out) noexcept {
    const auto half =
        reinterpret_cast<row_vector<std::int32_t>>(__builtin_convertvector(in, row_vector<std::uint32_t>));
    const row_vector<std::int32_t> rest = (half & 0x7FFF) << 13;
    const row_vector<std::int32_t> is_denormal = (rest - (1 << 23)) >> 31;
    const row_vector<std::int32_t> is_special = ((31 << 23) - 1 - rest) >> 31;
    const row_vector<float> denormal = reinterpret_cast<row_vector<float>>(rest + (113 << 23)) - 0x1p-14F;
    const row_vector<std::int32_t> normal = rest + (112 << 23) + (is_special & (112 << 23));
    const row_vector<std::int32_t> size =
        (reinterpret_cast<row_vector<std::int32_t>>(denormal) & is_denormal) | (normal & ~is_denormal);
    out = reinterpret_cast<row_vector<float>>(size | ((half & 0x8000) << 16));
}

template <class Arch>
inline void convert_vector(from_bfloat /*how*/, const row_vector<std::uint16_t>& in, row_vector<float>& out) noexcept {
    out = reinterpret_cast<row_vector<float>>(__builtin_convertvector(in, row_vector<std::uint32_t>) << 16);
}

template <class Arch>
inline void convert_vector(from_bool /*how*/, const row_vector<std::uint8_t>& in, row_vector<float>& out) noexcept {
    const row_vector<std::uint8_t> is_true = (in | (0 - in)) >> 7;
    const auto wider = __builtin_convertvector(is_true, row_vector<std::int16_t>);
    out = __builtin_convertvector(__builtin_convertvector(wider, row_vector<std::int32_t>), row_vector<float>);
}

template <class Arch, class Integer>
inline void convert_vector(from_integer<Integer, float> /*how*/, const row_vector<Integer>& in,
                           row_vector<float>& out) noexcept {
    const auto wider = __builtin_convertvector(in, row_vector<std::int16_t>);
    out = __builtin_convertvector(__builtin_convertvector(wider, row_vector<std::int32_t>), row_vector<float>);
}

template <class Arch>
inline void convert_vector(from_integer<std::uint16_t, float> /*how*/, const row_vector<std::uint16_t>& in,
                           row_vector<float>& out) noexcept {
    out = __builtin_convertvector(__builtin_convertvector(in, row_vector<std::int32_t>), row_vector<float>);
}

template <class Arch>
inline void convert_vector(from_integer<std::int32_t, double> /*how*/, const row_vector<std::int32_t>& in,
                           row_vector<double>& out) noexcept {
    out = __builtin_convertvector(in, row_vector<double>);
}

/// Through signed integers, which every machine converts; the addition is exact.
template <class Arch>
inline void convert_vector(from_integer<std::uint32_t, double> /*how*/, const row_vector<std::uint32_t>& in,
                           row_vector<double>& out) noexcept {
    out = __builtin_convertvector(reinterpret_cast<row_vector<std::int32_t>>(in ^ 0x80000000U), row_vector<double>) +
          0x1p31;
}

/// Conversions that can process a whole row at once; the others process one element at a time.
template <class Arch, class Conversion>
concept row_conversion =
    requires(const std::byte* from, typename Conversion::lane* to) { convert_row<Arch>(Conversion{}, from, to); };
template <class Arch, class Conversion>
concept scaled_row_conversion = requires(const std::byte* from, double scale, typename Conversion::lane* to) {
    convert_row<Arch>(Conversion{}, from, scale, to);
};
template <class Arch, class Conversion>
concept vector_conversion =
    std::is_arithmetic_v<typename Conversion::element> &&
    requires(const row_vector<typename Conversion::element>& in, row_vector<typename Conversion::lane>& out) {
        convert_vector<Arch>(Conversion{}, in, out);
    };
template <class Arch, class Conversion>
concept simd_conversion =
    row_conversion<Arch, Conversion> || scaled_row_conversion<Arch, Conversion> || vector_conversion<Arch, Conversion>;

/// Sixteen elements at any alignment to sixteen lanes, for a simd_conversion.
template <class Arch, class Conversion>
inline void widen_row(const std::byte* from, double scale, typename Conversion::lane* to) noexcept {
    if constexpr (row_conversion<Arch, Conversion>) {
        convert_row<Arch>(Conversion{}, from, to);
    } else if constexpr (scaled_row_conversion<Arch, Conversion>) {
        convert_row<Arch>(Conversion{}, from, scale, to);
    } else {
        row_vector<typename Conversion::element> in;
        row_vector<typename Conversion::lane> out;
        std::memcpy(&in, from, sizeof(in));
        convert_vector<Arch>(Conversion{}, in, out);
        std::memcpy(to, &out, sizeof(out));
    }
}

/// widen with vectors.  The last row is padded with zeros in a buffer, so nothing is read or written beyond the end.
template <class Arch, class Conversion>
inline void simd_widen(const std::byte* from, std::size_t count, double scale, typename Conversion::lane* to) noexcept {
    if constexpr (simd_conversion<Arch, Conversion>) {
        constexpr std::size_t element_size = sizeof(typename Conversion::element);
        std::size_t done = 0;
        for (; done + lane_count <= count; done += lane_count) {
            widen_row<Arch, Conversion>(from + done * element_size, scale, to + done);
        }
        if (done < count) {
            std::array<std::byte, lane_count * element_size> in{};
            std::array<typename Conversion::lane, lane_count> out;
            std::memcpy(in.data(), from + done * element_size, (count - done) * element_size);
            widen_row<Arch, Conversion>(in.data(), scale, out.data());
            std::memcpy(to + done, out.data(), (count - done) * sizeof(out[0]));
        }
    } else {
        widen<Arch, Conversion>(from, count, scale, to);
    }
}

}  // namespace smdebug::inline v1::reduce::detail
#include <smdebug/core/strict_math/end.ipp>
