#include <smdebug/record/crc32c_table.hpp>

#include "support/test.hpp"

namespace polynomial = smdebug::record::crc32c::detail::polynomial;
namespace table = smdebug::record::crc32c::detail::table;

static_assert(polynomial::product(polynomial::one, 0x12345678) == 0x12345678);
static_assert(polynomial::product(polynomial::one >> 3, polynomial::one >> 5) == polynomial::one >> 8);
static_assert(polynomial::power_of_bits(0) == polynomial::one);
static_assert(polynomial::power_of_bits(31) == 1);
static_assert(polynomial::power_of_bits(32) == table::polynomial);  // x^32 is what the polynomial has below it
static_assert(polynomial::power_of_bits((std::uint64_t{1} << 31) - 1) == polynomial::one);  // the order of x

TEST_CASE("crc32c polynomial: products commute, associate and distribute") {
    std::mt19937 random{1};
    for (int i = 0; i < 1000; ++i) {
        const auto a = static_cast<std::uint32_t>(random());
        const auto b = static_cast<std::uint32_t>(random());
        const auto c = static_cast<std::uint32_t>(random());
        REQUIRE(polynomial::product(a, b) == polynomial::product(b, a));
        REQUIRE(polynomial::product(polynomial::product(a, b), c) == polynomial::product(a, polynomial::product(b, c)));
        REQUIRE(polynomial::product(a ^ b, c) == (polynomial::product(a, c) ^ polynomial::product(b, c)));
    }
}

TEST_CASE("crc32c polynomial: a power is that many zero bytes behind a state") {
    constexpr std::array<char, 600> zeros{};
    for (std::size_t count = 0; count <= zeros.size(); ++count) {
        // The table's checksums are inverted at both ends, the states of the polynomial are not.
        const std::uint32_t state = ~table::extend(~std::uint32_t{0xdeadbeef}, zeros.data(), count);
        REQUIRE(polynomial::product(0xdeadbeef, polynomial::power_of_bytes(count)) == state);
    }
}

TEST_CASE("crc32c polynomial: every element of the factors is what it is defined as") {
    for (std::size_t words = 1; words < polynomial::shift_factors.size(); ++words) {
        REQUIRE(polynomial::shift_factors[words] == polynomial::shift_factor(words));
    }
}
