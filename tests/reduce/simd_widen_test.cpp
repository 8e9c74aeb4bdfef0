#include <smdebug/reduce/simd_widen.hpp>

#include <reduce/corpus.hpp>
#include <reduce/widen_check.hpp>
#include "support/test.hpp"

#include <smdebug/core/strict_math/begin.ipp>

using namespace smdebug::reduce;
using namespace smdebug::reduce::detail;
using reduce_test::check_widening;
using reduce_test::unknown_arch;

namespace {

/// All bit patterns of small elements and many of large ones, the extremes among them.
template <class Element>
std::vector<Element> many_elements() {
    if constexpr (sizeof(Element) <= 2) {
        std::vector<Element> all;
        for (std::uint32_t i = 0; i < (sizeof(Element) == 1 ? 256U : 65536U); ++i) {
            all.push_back(static_cast<Element>(i));
        }
        return all;
    } else {
        using limits = std::numeric_limits<Element>;
        std::vector<Element> some{0, 1, limits::max(), limits::min(), static_cast<Element>(limits::max() - 1)};
        reduce_test::random_bits random(7);
        for (unsigned i = 0; i < 5000; ++i) {
            some.push_back(static_cast<Element>(random()));
            some.push_back(static_cast<Element>(random() >> (random() % 64)));
        }
        return some;
    }
}

template <class Arch, class Conversion>
void check_conversion() {
    check_widening<Arch, Conversion>(many_elements<typename Conversion::element>());
}

template <class Arch>
void check_conversions() {
    check_conversion<Arch, from_half>();
    check_conversion<Arch, from_bfloat>();
    check_conversion<Arch, from_bool>();
    check_conversion<Arch, from_integer<std::int8_t, float>>();
    check_conversion<Arch, from_integer<std::uint8_t, float>>();
    check_conversion<Arch, from_integer<std::int16_t, float>>();
    check_conversion<Arch, from_integer<std::uint16_t, float>>();
    check_conversion<Arch, from_integer<std::int32_t, double>>();
    check_conversion<Arch, from_integer<std::uint32_t, double>>();
    check_conversion<Arch, from_integer<std::int64_t, double>>();
    check_conversion<Arch, from_integer<std::uint64_t, double>>();
}

}  // namespace

static_assert(vector_conversion<unknown_arch, from_half> && vector_conversion<unknown_arch, from_bfloat>);
static_assert(vector_conversion<unknown_arch, from_bool>);
static_assert(vector_conversion<unknown_arch, from_integer<std::int8_t, float>>);
static_assert(vector_conversion<unknown_arch, from_integer<std::uint16_t, float>>);
static_assert(vector_conversion<unknown_arch, from_integer<std::uint32_t, double>>);
static_assert(!simd_conversion<unknown_arch, from_integer<std::int64_t, double>>);
static_assert(!simd_conversion<unknown_arch, from_complex<float>>);
static_assert(row_conversion<xsimd::default_arch, from_integer<std::int64_t, double>>);
static_assert(scaled_row_conversion<xsimd::default_arch, from_complex<float>>);
static_assert(scaled_row_conversion<xsimd::default_arch, from_complex<double>>);

TEST_CASE("simd_widen: the same lanes as widen, bit for bit, for every element, in the compilers' own vectors") {
    check_conversions<unknown_arch>();
}

TEST_CASE("simd_widen: the same lanes as widen, bit for bit, for every element, in the machine's vectors") {
    check_conversions<xsimd::default_arch>();
}

#if defined(__x86_64__)
TEST_CASE("simd_widen: the same lanes as widen with SSE2, whatever else the file is compiled for") {
    check_conversions<xsimd::sse2>();
}
#endif
#include <smdebug/core/strict_math/end.ipp>
