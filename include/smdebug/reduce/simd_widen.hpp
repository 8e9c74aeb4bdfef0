// The conversions of widen.hpp, sixteen elements at a time: with the machine's own instructions where this library has
// written them down (x86_rows.hpp, neon_rows.hpp, simd_integers.hpp, simd_magnitudes.hpp), else in the compilers'
// vector types. Rather than xsimd's: xsimd 8 has no widening conversions.
#pragma once

#include <smdebug/reduce/lanes.hpp>
#include <smdebug/reduce/neon_rows.hpp>
#include <smdebug/reduce/simd_integers.hpp>
#include <smdebug/reduce/simd_magnitudes.hpp>
#include <smdebug/reduce/widen.hpp>
#include <smdebug/reduce/x86_rows.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace smdebug {
inline namespace v1 {
namespace reduce {
namespace detail {

/// Sixteen numbers, one of a row each.  Passed by reference only: by value their ABI depends on -m flags.
template <class Number>
struct row_of {
    typedef Number type __attribute__((vector_size(lane_count * sizeof(Number))));
};
template <class Number>
using row_vector = typename row_of<Number>::type;

/// f16 to f32 as half_to_float does it.  Masks come from sign bits, because g++ 12 takes comparisons of vectors wider
/// than the machine's apart.
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

/// By way of signed integers, which every machine converts; the addition is exact.
template <class Arch>
inline void convert_vector(from_integer<std::uint32_t, double> /*how*/, const row_vector<std::uint32_t>& in,
                           row_vector<double>& out) noexcept {
    out = __builtin_convertvector(reinterpret_cast<row_vector<std::int32_t>>(in ^ 0x80000000U), row_vector<double>) +
          0x1p31;
}

/// Conversions of which a whole row can be had at once; the others go one element at a time.
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

/// widen with vectors.  The last row is filled up with zeros in a buffer, so nothing is read or written beyond the end.
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

}  // namespace detail
}  // namespace reduce
}  // namespace v1
}  // namespace smdebug
