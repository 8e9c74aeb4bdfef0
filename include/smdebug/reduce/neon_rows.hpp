// The conversions of widen.hpp to float and double on 64-bit ARM, a row of sixteen elements each, by intrinsics.
// g++ 12 takes the portable ones (simd_widen.hpp) apart into single elements.
#pragma once

#include <smdebug/reduce/simd_batch.hpp>
#include <smdebug/reduce/widen.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace smdebug {
inline namespace v1 {
namespace reduce {
namespace detail {

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

}  // namespace detail
}  // namespace reduce
}  // namespace v1
}  // namespace smdebug
