// The conversions of widen.hpp, sixteen elements at a time.
// In the compilers' own vector types rather than xsimd's: xsimd 8 has no widening conversions, and g++ and clang lower
// these for every instruction set, without their loop vectorisers having to be in the mood.
// Used by: reduce (simd_sweeps).
#pragma once

#include <smdebug/reduce/lanes.hpp>
#include <smdebug/reduce/widen.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace smdebug {
inline namespace v1 {
namespace reduce {

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
inline void convert_row(from_half /*how*/, const row_vector<std::uint16_t>& in, row_vector<float>& out) noexcept {
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
inline void convert_row(from_bfloat /*how*/, const row_vector<std::uint16_t>& in, row_vector<float>& out) noexcept {
    out = reinterpret_cast<row_vector<float>>(__builtin_convertvector(in, row_vector<std::uint32_t>) << 16);
}

template <class Arch>
inline void convert_row(from_bool /*how*/, const row_vector<std::uint8_t>& in, row_vector<float>& out) noexcept {
    const row_vector<std::uint8_t> is_true = (in | (0 - in)) >> 7;
    const auto wider = __builtin_convertvector(is_true, row_vector<std::int16_t>);
    out = __builtin_convertvector(__builtin_convertvector(wider, row_vector<std::int32_t>), row_vector<float>);
}

template <class Arch, class Integer>
inline void convert_row(from_integer<Integer, float> /*how*/, const row_vector<Integer>& in,
                        row_vector<float>& out) noexcept {
    const auto wider = __builtin_convertvector(in, row_vector<std::int16_t>);
    out = __builtin_convertvector(__builtin_convertvector(wider, row_vector<std::int32_t>), row_vector<float>);
}

template <class Arch>
inline void convert_row(from_integer<std::uint16_t, float> /*how*/, const row_vector<std::uint16_t>& in,
                        row_vector<float>& out) noexcept {
    out = __builtin_convertvector(__builtin_convertvector(in, row_vector<std::int32_t>), row_vector<float>);
}

template <class Arch>
inline void convert_row(from_integer<std::int32_t, double> /*how*/, const row_vector<std::int32_t>& in,
                        row_vector<double>& out) noexcept {
    out = __builtin_convertvector(in, row_vector<double>);
}

/// By way of signed integers, which every machine converts; the addition is exact.
template <class Arch>
inline void convert_row(from_integer<std::uint32_t, double> /*how*/, const row_vector<std::uint32_t>& in,
                        row_vector<double>& out) noexcept {
    out = __builtin_convertvector(reinterpret_cast<row_vector<std::int32_t>>(in ^ 0x80000000U), row_vector<double>) +
          0x1p31;
}

/// Conversions that have a convert_row; the others go one element at a time.
template <class Arch, class Conversion>
concept row_conversion = std::is_arithmetic_v<typename Conversion::element> &&
    requires(const row_vector<typename Conversion::element>& in, row_vector<typename Conversion::lane>& out) {
    convert_row<Arch>(Conversion{}, in, out);
};

/// widen with vectors.  The last row is filled up with zeros in a buffer, so nothing is read or written beyond the end.
template <class Arch, class Conversion>
inline void simd_widen(const std::byte* from, std::size_t count, double scale, typename Conversion::lane* to) noexcept {
    if constexpr (row_conversion<Arch, Conversion>) {
        constexpr std::size_t element_size = sizeof(typename Conversion::element);
        constexpr std::size_t lane_size = sizeof(typename Conversion::lane);
        row_vector<typename Conversion::element> in{};
        row_vector<typename Conversion::lane> out;
        std::size_t done = 0;
        for (; done + lane_count <= count; done += lane_count) {
            std::memcpy(&in, from + done * element_size, sizeof(in));
            convert_row<Arch>(Conversion{}, in, out);
            std::memcpy(to + done, &out, sizeof(out));
        }
        if (done < count) {
            in = row_vector<typename Conversion::element>{};
            std::memcpy(&in, from + done * element_size, (count - done) * element_size);
            convert_row<Arch>(Conversion{}, in, out);
            std::memcpy(to + done, &out, (count - done) * lane_size);
        }
    } else {
        widen<Arch, Conversion>(from, count, scale, to);
    }
}

}  // namespace reduce
}  // namespace v1
}  // namespace smdebug
