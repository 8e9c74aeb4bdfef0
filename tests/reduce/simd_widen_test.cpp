#include <smdebug/reduce/simd_widen.hpp>

#include <doctest/doctest.h>
#include <reduce/corpus.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

using namespace smdebug::reduce;

namespace {

struct arch {};

/// Vectors and single elements give the same lanes, for all bit patterns of small elements and many of large ones.
template <class Conversion>
void check_conversion() {
    using element = typename Conversion::element;
    using lane = typename Conversion::lane;
    reduce_test::random_bits random(7);
    std::vector<element> elements(sizeof(element) <= 2 ? 65536 : 5000);
    for (std::size_t i = 0; i < elements.size(); ++i) {
        elements[i] = static_cast<element>(sizeof(element) <= 2 ? i : random());
    }
    for (const std::size_t count :
         {elements.size(), std::size_t{0}, std::size_t{1}, std::size_t{15}, std::size_t{37}}) {
        const std::vector<element> some(elements.begin(), elements.begin() + static_cast<std::ptrdiff_t>(count));
        const reduce_test::owned_tensor tensor(smdebug::dtype::uint8, some, 1);
        const std::byte* bytes = tensor.view().bytes.data();
        std::vector<lane> found(count);
        std::vector<lane> wanted(count);
        simd_widen<arch, Conversion>(bytes, count, 1, found.data());
        widen<arch, Conversion>(bytes, count, 1, wanted.data());
        if (count != 0) {
            CHECK(std::memcmp(found.data(), wanted.data(), count * sizeof(lane)) == 0);
        }
    }
}

}  // namespace

static_assert(row_conversion<arch, from_half> && row_conversion<arch, from_bfloat>);
static_assert(row_conversion<arch, from_bool>);
static_assert(row_conversion<arch, from_integer<std::int8_t, float>>);
static_assert(row_conversion<arch, from_integer<std::uint16_t, float>>);
static_assert(row_conversion<arch, from_integer<std::uint32_t, double>>);
static_assert(!row_conversion<arch, from_integer<std::int64_t, double>>);
static_assert(!row_conversion<arch, from_complex<float>>);

TEST_CASE("simd_widen: the same lanes as widen, bit for bit, for every element") {
    check_conversion<from_half>();
    check_conversion<from_bfloat>();
    check_conversion<from_bool>();
    check_conversion<from_integer<std::int8_t, float>>();
    check_conversion<from_integer<std::uint8_t, float>>();
    check_conversion<from_integer<std::int16_t, float>>();
    check_conversion<from_integer<std::uint16_t, float>>();
    check_conversion<from_integer<std::int32_t, double>>();
    check_conversion<from_integer<std::uint32_t, double>>();
    check_conversion<from_integer<std::int64_t, double>>();
    check_conversion<from_integer<std::uint64_t, double>>();
}
