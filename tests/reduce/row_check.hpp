// The rows of an instruction set against the conversions of single elements, for the tests of x86_rows and neon_rows.
#pragma once

#include <smdebug/reduce/simd_widen.hpp>
#include <smdebug/reduce/widen.hpp>

#include "support/test.hpp"

#include <smdebug/core/strict_math/begin.ipp>

namespace reduce_test {

using namespace smdebug::reduce;
using namespace smdebug::reduce::detail;

/// The sixteen lanes of a row, read from bytes that are not aligned.
template <class Arch, class Conversion>
std::array<typename Conversion::lane, 16> row(const std::array<typename Conversion::element, 16>& elements) {
    std::array<std::byte, sizeof(elements) + 1> in;
    std::memcpy(in.data() + 1, elements.data(), sizeof(elements));
    std::array<typename Conversion::lane, 16> lanes;
    convert_row<Arch>(Conversion{}, in.data() + 1, lanes.data());
    return lanes;
}

template <class Arch>
void check_halves() {
    for (std::uint32_t begin = 0; begin < 0x10000U; begin += 16) {
        std::array<std::uint16_t, 16> halves;
        for (std::size_t i = 0; i < 16; ++i) {
            halves[i] = static_cast<std::uint16_t>(begin + i);
        }
        const auto lanes = row<Arch, from_half>(halves);
        for (std::size_t i = 0; i < 16; ++i) {
            const float wanted = half_to_float<Arch>(halves[i]);
            const std::uint32_t quiet = wanted == wanted ? 0U : 0x00400000U;
            REQUIRE((std::bit_cast<std::uint32_t>(lanes[i]) | quiet) == (std::bit_cast<std::uint32_t>(wanted) | quiet));
        }
    }
}

template <class Arch, class Integer, class Lane>
void check_extremes() {
    using limits = std::numeric_limits<Integer>;
    std::array<Integer, 16> integers{0, 1, limits::min(), limits::max()};
    for (std::size_t i = 4; i < 16; ++i) {
        integers[i] = static_cast<Integer>(integers[i % 4] / static_cast<Integer>(i));
    }
    const auto lanes = row<Arch, from_integer<Integer, Lane>>(integers);
    for (std::size_t i = 0; i < 16; ++i) {
        CHECK(lanes[i] == static_cast<Lane>(integers[i]));
    }
}

template <class Arch>
void check_rows() {
    check_halves<Arch>();
    const auto brains = row<Arch, from_bfloat>({0, 0x8000, 0x3F80, 0xBF80, 0x7F80, 0xFF80, 1, 0x8001, 0x4000});
    CHECK(brains[2] == 1);
    CHECK(brains[5] == -std::numeric_limits<float>::infinity());
    CHECK(brains[7] == -0x1p-133F);
    CHECK(std::bit_cast<std::uint32_t>(brains[1]) == 0x80000000U);
    const auto bools = row<Arch, from_bool>({0, 1, 2, 127, 128, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3});
    CHECK(bools == std::array<float, 16>{0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
    check_extremes<Arch, std::int8_t, float>();
    check_extremes<Arch, std::uint8_t, float>();
    check_extremes<Arch, std::int16_t, float>();
    check_extremes<Arch, std::uint16_t, float>();
    check_extremes<Arch, std::int32_t, double>();
    check_extremes<Arch, std::uint32_t, double>();
}

}  // namespace reduce_test
#include <smdebug/core/strict_math/end.ipp>
