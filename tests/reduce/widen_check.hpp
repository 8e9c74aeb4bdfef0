// Vectors against single elements, for the tests of what widens: any count, any alignment, nothing beyond the end.
#pragma once

#include <smdebug/reduce/simd_widen.hpp>
#include <smdebug/reduce/widen.hpp>

#include "support/test.hpp"

#include <smdebug/core/strict_math/begin.ipp>

namespace reduce_test {

/// A kernel for which nothing is written down: what it runs is portable.
struct unknown_arch {};

/// The same bits, but that any NaN is as good as another.
template <class Lane>
[[nodiscard]] bool same_lane(Lane a, Lane b) {
    using bits = std::conditional_t<std::same_as<Lane, float>, std::uint32_t, std::uint64_t>;
    return (a != a && b != b) || std::bit_cast<bits>(a) == std::bit_cast<bits>(b);
}

/// simd_widen gives what widen gives, of `count` elements from `begin` on, which may be at any alignment.
template <class Arch, class Conversion>
void check_widening(const std::byte* begin, std::size_t count, double scale) {
    using lane = typename Conversion::lane;
    std::vector<lane> found(count + 1, lane{-77});
    std::vector<lane> wanted(count);
    smdebug::reduce::detail::simd_widen<Arch, Conversion>(begin, count, scale, found.data());
    smdebug::reduce::detail::widen<Arch, Conversion>(begin, count, scale, wanted.data());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < count; ++i) {
        wrong += same_lane(found[i], wanted[i]) ? 0U : 1U;
    }
    CHECK(wrong == 0);
    CHECK(found[count] == lane{-77});
}

/// All of `elements` at once, and their first 0 to 70 at each of a few alignments.  The bytes end with the elements, so
/// that sanitizers see a read beyond them.
template <class Arch, class Conversion>
void check_widening(const std::vector<typename Conversion::element>& elements, double scale = 1) {
    constexpr std::size_t size = sizeof(typename Conversion::element);
    for (const std::size_t offset : {0U, 1U, 3U, 4U}) {
        for (std::size_t count = 0; count <= 71; ++count) {
            const std::size_t length = count > 70 || count > elements.size() ? elements.size() : count;
            std::vector<std::byte> bytes(offset + length * size);
            if (length != 0) {
                std::memcpy(bytes.data() + offset, elements.data(), length * size);
            }
            check_widening<Arch, Conversion>(bytes.data() + offset, length, scale);
        }
    }
}

}  // namespace reduce_test
#include <smdebug/core/strict_math/end.ipp>
