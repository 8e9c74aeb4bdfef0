// 64-bit integers: exact sums of x and of |x|, exact differences from a mean.
// A double does not hold such an integer; smaller ones need none of this, because their block sums fit in a double.
#pragma once

#include <smdebug/reduce/wide_sum.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace smdebug {
inline namespace v1 {
namespace reduce {
namespace detail {

/// Sums of one block, exactly: a wide sum holds integers below 2^104.
struct integer_sums {
    wide_sum sum;
    wide_sum magnitudes;
};

/// high * 2^32 + low, exactly.
template <class Tag>
[[nodiscard]] inline wide_sum joined(std::uint64_t high, std::uint64_t low) noexcept {
    return two_sum<Tag>(static_cast<double>(high) * 0x1p32, static_cast<double>(low));
}

/// |x| of the smallest integer too.
template <class Tag, class Integer>
[[nodiscard]] constexpr std::uint64_t size_of_integer(std::uint64_t bits) noexcept {
    return std::is_signed_v<Integer> && (bits >> 63U) != 0 ? 0 - bits : bits;
}

/// Sums `count` elements of a block by halves of 32 bits, so that no carry is lost.
template <class Tag, class Integer>
[[nodiscard]] inline integer_sums exact_sums(const std::byte* at, std::size_t count) noexcept {
    static_assert(sizeof(Integer) == 8, "smaller integers are summed exactly in doubles");
    std::uint64_t high = 0;
    std::uint64_t low = 0;
    std::uint64_t negatives_high = 0;
    std::uint64_t negatives_low = 0;
    for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, at + i * sizeof(bits), sizeof(bits));
        const std::uint64_t size = size_of_integer<Tag, Integer>(bits);
        high += size >> 32U;
        low += size & 0xFFFFFFFFU;
        if constexpr (std::is_signed_v<Integer>) {
            const std::uint64_t size_if_negative = size & (0 - (bits >> 63U));
            negatives_high += size_if_negative >> 32U;
            negatives_low += size_if_negative & 0xFFFFFFFFU;
        }
    }
    const wide_sum all = joined<Tag>(high, low);
    const wide_sum negative = joined<Tag>(negatives_high, negatives_low);
    return {minus<Tag>(minus<Tag>(all, negative), negative), all};
}

/// An integer near a mean, as unsigned integers have to be for it: signed ones are shifted up by 2^63 (`flip`), so that
/// an unsigned difference and its sign say it all.
struct integer_centre {
    std::uint64_t bits = 0;
    std::uint64_t flip = 0;
    wide_sum value;
};

template <class Tag, class Integer>
[[nodiscard]] inline integer_centre integer_centre_near(wide_sum mean, bool magnitudes) noexcept {
    const bool shifted = std::is_signed_v<Integer> && !magnitudes;
    const wide_sum bias{shifted ? 0x1p63 : 0.0, 0};
    const wide_sum above = plus<Tag>(mean, bias);
    integer_centre centre;
    centre.flip = shifted ? std::uint64_t{1} << 63U : 0;
    centre.bits = above.high >= 0x1p64 ? 0 : static_cast<std::uint64_t>(above.high > 0 ? above.high : 0);
    centre.bits += static_cast<std::uint64_t>(static_cast<std::int64_t>(above.low));
    centre.value = minus<Tag>(joined<Tag>(centre.bits >> 32U, centre.bits & 0xFFFFFFFFU), bias);
    return centre;
}

/// x - centre or |x| - centre as lanes, each rounded once; `centre` is an integer near `mean` and is returned.
template <class Tag, class Integer>
[[nodiscard]] inline wide_sum exact_differences(const std::byte* at, std::size_t count, wide_sum mean, bool magnitudes,
                                                double* to) noexcept {
    const integer_centre about = integer_centre_near<Tag, Integer>(mean, magnitudes);
    const std::uint64_t centre = about.bits;
    for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, at + i * sizeof(bits), sizeof(bits));
        const std::uint64_t value = magnitudes ? size_of_integer<Tag, Integer>(bits) : bits ^ about.flip;
        to[i] = value >= centre ? static_cast<double>(value - centre) : -static_cast<double>(centre - value);
    }
    return about.value;
}

/// The part of the walk that is about 64-bit integers.  Kernels with vectors have their own (simd_integers.hpp), which
/// gives the same bits.
template <class Sweeps>
struct integer_sweeps {
    template <class Integer>
    [[nodiscard]] static integer_sums sums(const std::byte* at, std::size_t count) noexcept {
        return exact_sums<Sweeps, Integer>(at, count);
    }

    template <class Integer>
    [[nodiscard]] static wide_sum differences(const std::byte* at, std::size_t count, wide_sum mean, bool magnitudes,
                                              double* to) noexcept {
        return exact_differences<Sweeps, Integer>(at, count, mean, magnitudes, to);
    }
};

}  // namespace detail
}  // namespace reduce
}  // namespace v1
}  // namespace smdebug
