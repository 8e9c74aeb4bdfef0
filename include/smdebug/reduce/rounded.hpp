// A product that stays a product: keeps compilers from fusing it into a following addition.
// g++ contracts a * b + c into an FMA by default (also across intrinsics), so the same source would give other bits
// with -mfma.  A header cannot set -ffp-contract, therefore products that are not exact pass through here before an
// addition.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace smdebug {
inline namespace v1 {
namespace reduce {
namespace detail {

/// The same value, as rounded to double; the optimiser cannot look through it.  Cost: no instruction, only a register.
/// `Tag` names the instruction set of the caller, so that the linker never mixes two of them.
/// Register may be a double or a SIMD register of the target.
template <class Tag, class Register>
[[nodiscard]] inline Register rounded(Register value) noexcept {
#if defined(__x86_64__)
    __asm__("" : "+v"(value));
#elif defined(__aarch64__)
    __asm__("" : "+w"(value));
#else
    __asm__("" : "+m"(value));
#endif
    return value;
}

/// Neither infinite nor NaN.  By the bits, so that -ffinite-math-only does not make it always true.
template <class Tag>
[[nodiscard]] constexpr bool is_finite(double value) noexcept {
    constexpr std::uint64_t exponent_bits = 0x7FF0000000000000U;
    return (std::bit_cast<std::uint64_t>(value) & exponent_bits) != exponent_bits;
}

/// |value|, by the bits.
template <class Tag>
[[nodiscard]] constexpr double magnitude(double value) noexcept {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) & 0x7FFFFFFFFFFFFFFFU);
}

inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
inline constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace detail
}  // namespace reduce
}  // namespace v1
}  // namespace smdebug
