// Exact sums of 64-bit integers, of x and of |x|.
// A double does not hold such an integer; smaller ones need none of this, because their block sums fit in a double.
// Used by: reduce (reduce_tensor, accumulate).
#pragma once

#include <smdebug/reduce/wide_sum.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace smdebug {
inline namespace v1 {
namespace reduce {

/// Sums of one block, exactly: a wide sum holds integers below 2^104.
struct integer_sums {
    wide_sum sum;
    wide_sum magnitudes;
};

/// Sums `count` <= 2^31 elements (a block) by halves of 32 bits, so that no carry is lost.
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
        if constexpr (std::is_signed_v<Integer>) {
            const std::uint64_t all_if_negative = 0 - (bits >> 63U);
            const std::uint64_t negative = (0 - bits) & all_if_negative;  // |x| of x < 0, also of the smallest
            const std::uint64_t positive = bits & ~all_if_negative;
            high += positive >> 32U;
            low += positive & 0xFFFFFFFFU;
            negatives_high += negative >> 32U;
            negatives_low += negative & 0xFFFFFFFFU;
        } else {
            high += bits >> 32U;
            low += bits & 0xFFFFFFFFU;
        }
    }
    const auto joined = [](std::uint64_t upper, std::uint64_t lower) noexcept {
        return two_sum<Tag>(static_cast<double>(upper) * 0x1p32, static_cast<double>(lower));
    };
    const wide_sum positive = joined(high, low);
    const wide_sum negative = joined(negatives_high, negatives_low);
    return {minus<Tag>(positive, negative), plus<Tag>(positive, negative)};
}

}  // namespace reduce
}  // namespace v1
}  // namespace smdebug
