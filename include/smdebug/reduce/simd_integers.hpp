// What simd_widen.hpp and the SIMD kernel need for 64-bit integers and complex numbers, with vectors: integers
// converted to double, their sums with the same bits as those of wide_sum.hpp, and the magnitudes of complex numbers.
// Few machines convert such integers; all of them can write halves of 32 bits into the bits of doubles.
#pragma once

#include <smdebug/reduce/lanes.hpp>
#include <smdebug/reduce/simd_batch.hpp>
#include <smdebug/reduce/wide_sum.hpp>
#include <smdebug/reduce/widen.hpp>

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::reduce::detail {

template <class Arch>
struct simd_sweeps;

/// A vector of the machine in the compilers' own types: they lower its operators to one instruction each, where xsimd
/// makes g++ 12 warn (see every_lane).
template <class Arch, class Number>
struct machine_vector_of {
    typedef Number type __attribute__((vector_size(sizeof(doubles<Arch>))));
};
template <class Arch, class Number>
using machine_vector = typename machine_vector_of<Arch, Number>::type;

/// Whether Arch has an instruction from 64-bit integers to doubles.
template <class Arch>
inline constexpr bool converts_integers =
    std::derived_from<Arch, xsimd::avx512dq> || std::derived_from<Arch, xsimd::neon64>;

/// One of xsimd's instruction sets.
template <class Arch>
concept vector_arch = xsimd::types::has_simd_register<double, Arch>::value;

// An integer below 2^32 in the last bits of the double 2^84 adds that many 2^32; in 2^52, that many.
inline constexpr double upper_base = 0x1p84;
inline constexpr double lower_base = 0x1p52;

/// Integers less a number, each rounded once.  The integers are unsigned once `flip` is put on them, which has no bits
/// below 32.  `upper` and `lower` are the bases plus the number, a multiple of 2^32 in `upper` and the rest in `lower`:
/// then the differences are exact, and only the sum is rounded.
template <class Arch>
[[nodiscard]] inline machine_vector<Arch, double> integers_minus(machine_vector<Arch, std::uint64_t> integers,
                                                                 std::uint64_t flip, double upper,
                                                                 double lower) noexcept {
    using reals = machine_vector<Arch, double>;
    const std::uint64_t upper_mark = std::bit_cast<std::uint64_t>(upper_base) ^ (flip >> 32U);
    const std::uint64_t lower_mark = std::bit_cast<std::uint64_t>(lower_base);
    const auto high = reinterpret_cast<reals>((integers >> 32U) ^ upper_mark);
    const auto low = reinterpret_cast<reals>((integers & 0xFFFFFFFFU) | lower_mark);
    return (high - upper) + (low - lower);
}

/// Sixteen integers to doubles as static_cast does it.
template <vector_arch Arch, long_integer Integer>
inline void convert_row(from_integer<Integer, double> /*how*/, const std::byte* from, double* to) noexcept {
    for (std::size_t i = 0; i < lane_count; i += doubles<Arch>::size) {
        machine_vector<Arch, double> reals;
        if constexpr (converts_integers<Arch>) {
            machine_vector<Arch, Integer> integers;
            std::memcpy(&integers, from + i * sizeof(Integer), sizeof(integers));
            reals = __builtin_convertvector(integers, machine_vector<Arch, double>);
        } else {
            machine_vector<Arch, std::uint64_t> integers;
            std::memcpy(&integers, from + i * sizeof(Integer), sizeof(integers));
            // Signed ones are shifted up by 2^63.  The lower base is removed with the upper one: one subtraction less.
            constexpr bool is_signed = std::is_signed_v<Integer>;
            reals = integers_minus<Arch>(integers, is_signed ? std::uint64_t{1} << 63U : 0U,
                                         upper_base + lower_base + (is_signed ? 0x1p63 : 0.0), 0);
        }
        std::memcpy(to + i, &reals, sizeof(reals));
    }
}

/// |x| of the smallest integer too.
template <class Arch, long_integer Integer>
[[nodiscard]] inline machine_vector<Arch, std::uint64_t> sizes_of_integers(
    machine_vector<Arch, std::uint64_t> bits) noexcept {
    if constexpr (std::is_signed_v<Integer>) {
        const auto sign = reinterpret_cast<machine_vector<Arch, std::uint64_t>>(
            reinterpret_cast<machine_vector<Arch, std::int64_t>>(bits) >> 63);
        return (bits ^ sign) - sign;
    } else {
        return bits;
    }
}

/// Running sums of 64-bit integers, all modulo 2^64: of x, of |x|, and of the upper halves of |x|, of all elements and
/// of the negative ones.  The upper halves recover what the other sums have lost.
template <class Arch, long_integer Integer>
class integer_totals {
public:
    using vector = machine_vector<Arch, std::uint64_t>;

    void add(const std::byte* at) noexcept {
        vector bits;
        std::memcpy(&bits, at, sizeof(bits));
        const vector size = sizes_of_integers<Arch, Integer>(bits);
        const vector high = size >> 32U;
        sizes_ += size;
        high_ += high;
        if constexpr (std::is_signed_v<Integer>) {
            const auto sign =
                reinterpret_cast<vector>(reinterpret_cast<machine_vector<Arch, std::int64_t>>(bits) >> 63);
            sum_ += bits;
            negatives_high_ += high & sign;
        }
    }

    /// The sums, for at most 2^31 elements in all.
    [[nodiscard]] integer_sums sums() const noexcept {
        const std::uint64_t sizes = total(sizes_);
        const std::uint64_t high = total(high_);
        const wide_sum all = joined<Arch>(high, sizes - (high << 32U));
        if constexpr (std::is_signed_v<Integer>) {
            // sum |x| - sum x is twice the negatives' sum, which is known below 2^63 then.
            const std::uint64_t negatives = (sizes - total(sum_)) >> 1U;
            const std::uint64_t negatives_high = total(negatives_high_);
            const std::uint64_t negatives_low = (negatives - (negatives_high << 32U)) & (~std::uint64_t{0} >> 1U);
            const wide_sum negative = joined<Arch>(negatives_high, negatives_low);
            return {minus<Arch>(minus<Arch>(all, negative), negative), all};
        } else {
            return {all, all};
        }
    }

private:
    [[nodiscard]] static std::uint64_t total(vector of) noexcept {
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i < doubles<Arch>::size; ++i) {
            sum += of[i];
        }
        return sum;
    }

    vector sizes_{};
    vector high_{};
    vector sum_{};
    vector negatives_high_{};
};

/// The 64-bit integer part of the walk, for simd_sweeps.
template <class Arch>
struct integer_sweeps<simd_sweeps<Arch>> {
    template <class Integer>
    [[nodiscard]] static integer_sums sums(const std::byte* at, std::size_t count) noexcept {
        constexpr std::size_t step = sizeof(doubles<Arch>);
        const std::size_t size = count * sizeof(Integer);
        integer_totals<Arch, Integer> totals;
        std::size_t done = 0;
        for (; done + step <= size; done += step) {
            totals.add(at + done);
        }
        if (done < size) {
            std::array<std::byte, step> last{};  // zeros change no sum
            std::memcpy(last.data(), at + done, size - done);
            totals.add(last.data());
        }
        return totals.sums();
    }

    template <class Integer>
    [[nodiscard]] static wide_sum differences(const std::byte* at, std::size_t count, wide_sum mean, bool magnitudes,
                                              double* to) noexcept {
        const auto about = integer_centre_near<Arch, Integer>(mean, magnitudes);
        if (magnitudes) {
            fill<Integer, true>(at, count, about, to);
        } else {
            fill<Integer, false>(at, count, about, to);
        }
        return about.value;
    }

private:
    template <class Integer, bool Magnitudes>
    static void fill(const std::byte* at, std::size_t count, const integer_centre& about, double* to) noexcept {
        constexpr std::size_t width = doubles<Arch>::size;
        const double upper = upper_base + static_cast<double>(about.bits >> 32U) * 0x1p32;
        const double lower = lower_base + static_cast<double>(about.bits & 0xFFFFFFFFU);
        std::size_t i = 0;
        machine_vector<Arch, std::uint64_t> bits{};
        machine_vector<Arch, double> lanes;
        const auto convert = [&]() noexcept {
            const auto values = Magnitudes ? sizes_of_integers<Arch, Integer>(bits) : bits;
            lanes = integers_minus<Arch>(values, about.flip, upper, lower);
        };
        for (; i + width <= count; i += width) {
            std::memcpy(&bits, at + i * sizeof(Integer), sizeof(bits));
            convert();
            std::memcpy(to + i, &lanes, sizeof(lanes));
        }
        if (i < count) {
            std::memcpy(&bits, at + i * sizeof(Integer), (count - i) * sizeof(Integer));
            convert();
            std::memcpy(to + i, &lanes, (count - i) * sizeof(double));
        }
    }
};

// Magnitudes of complex numbers with vectors, in the bits of complex_magnitude.
// Branch-free: both cases together cost less than the square root, which hides them.

template <class Arch>
[[nodiscard]] inline doubles<Arch> square_root(doubles<Arch> x) noexcept {
    if constexpr (has_avx512<Arch>) {
        return doubles<Arch>(_mm512_maskz_sqrt_pd(every_lane<Arch>, x.data));
    } else {
        return xsimd::sqrt(x);
    }
}

/// Real and imaginary parts of the complex numbers in `first` and `second`, both in the same order.
template <class Arch>
struct complex_parts {
    doubles<Arch> re;
    doubles<Arch> im;

    complex_parts(doubles<Arch> first, doubles<Arch> second) noexcept {
        if constexpr (doubles<Arch>::size == 2) {
            re = doubles<Arch>(__builtin_shufflevector(first.data, second.data, 0, 2));
            im = doubles<Arch>(__builtin_shufflevector(first.data, second.data, 1, 3));
        } else if constexpr (doubles<Arch>::size == 4) {
            // Within halves, which is one instruction; `in_order` restores the order.
            re = doubles<Arch>(__builtin_shufflevector(first.data, second.data, 0, 4, 2, 6));
            im = doubles<Arch>(__builtin_shufflevector(first.data, second.data, 1, 5, 3, 7));
        } else {
            re = doubles<Arch>(__builtin_shufflevector(first.data, second.data, 0, 2, 4, 6, 8, 10, 12, 14));
            im = doubles<Arch>(__builtin_shufflevector(first.data, second.data, 1, 3, 5, 7, 9, 11, 13, 15));
        }
    }

    /// Restores the numbers' order in a result computed from re and im.
    [[nodiscard]] static doubles<Arch> in_order(doubles<Arch> x) noexcept {
        if constexpr (doubles<Arch>::size == 4) {
            return doubles<Arch>(__builtin_shufflevector(x.data, x.data, 0, 2, 1, 3));
        } else {
            return x;
        }
    }
};

/// An Arch whose vectors complex_parts supports.
template <class Arch>
concept magnitude_arch = xsimd::types::has_simd_register<double, Arch>::value &&
                         (doubles<Arch>::size == 2 || doubles<Arch>::size == 4 || doubles<Arch>::size == 8);

/// Magnitudes if the squares of the parts are in the range of a double, or 0, infinite or NaN.
template <class Arch>
[[nodiscard]] inline doubles<Arch> plain_magnitudes(const complex_parts<Arch>& z) noexcept {
    return square_root<Arch>(rounded_product<Arch>(z.re, z.re) + rounded_product<Arch>(z.im, z.im));
}

/// Magnitudes of any numbers: complex_magnitude line by line.
template <class Arch>
[[nodiscard]] inline doubles<Arch> scaled_magnitudes(const complex_parts<Arch>& z) noexcept {
    using reals = doubles<Arch>;
    const reals most = larger<Arch, double>(xsimd::abs(z.re), xsimd::abs(z.im));
    const auto is_huge = most > reals(0x1p400);
    const auto is_tiny = most < reals(0x1p-400);
    using plain = typename reals::base;  // xsimd 12 has a select of any type beside that of batches
    const reals up = xsimd::select(is_huge, plain(0x1p-600), xsimd::select(is_tiny, plain(0x1p600), plain(1.0)));
    const reals down = xsimd::select(is_huge, plain(0x1p600), xsimd::select(is_tiny, plain(0x1p-600), plain(1.0)));
    const reals x = z.re * up;
    const reals y = z.im * up;
    return square_root<Arch>(rounded_product<Arch>(x, x) + rounded_product<Arch>(y, y)) * down;
}

/// Sixteen complex numbers to their magnitudes.  The parts of a complex64 are floats: their squares, from 2^-298 to
/// 2^256, and 0 need no scaling, and a scaling by powers of two would not change a bit.
template <magnitude_arch Arch, class Real>
inline void convert_row(from_complex<Real> /*how*/, const std::byte* from, double scale, double* to) noexcept {
    constexpr std::size_t width = doubles<Arch>::size;
    const auto* at = reinterpret_cast<const Real*>(from);  // only ever read by unaligned vector loads
    const doubles<Arch> factor(scale);
    for (std::size_t i = 0; i < lane_count; i += width, at += 2 * width) {
        const doubles<Arch> first = load_doubles<Arch>(at);
        const doubles<Arch> second = load_doubles<Arch>(at + width);
        const bool plain = std::same_as<Real, float> && scale == 1;
        const doubles<Arch> found = plain ? plain_magnitudes<Arch>({first, second})
                                          : scaled_magnitudes<Arch>({first * factor, second * factor});
        complex_parts<Arch>::in_order(found).store_unaligned(to + i);
    }
}

}  // namespace smdebug::inline v1::reduce::detail
#include <smdebug/core/strict_math/end.ipp>
