#include <smdebug/record/crc32c_table.hpp>

#include <record/random_bytes.hpp>
#include "support/test.hpp"

namespace table = smdebug::record::crc32c::detail::table;

namespace {

template <class Byte>
constexpr std::uint32_t by_bits(std::uint32_t crc, const Byte* at, std::size_t count) {
    return smdebug_test::crc_by_bits(0x82f63b78U, crc, at, count);
}

constexpr std::array<char, 9> digits{'1', '2', '3', '4', '5', '6', '7', '8', '9'};
static_assert(table::extend(0, digits.data(), digits.size()) == 0xe3069283, "the check value of crc32c");
static_assert(by_bits(0, digits.data(), digits.size()) == 0xe3069283);

}  // namespace

TEST_CASE("crc32c table: gives what the polynomial gives, at every length and alignment, from any checksum on") {
    const auto bytes = smdebug_test::random_bytes(300, 9);
    for (std::size_t begin = 0; begin < 17; ++begin) {
        for (std::size_t count = 0; begin + count <= bytes.size(); ++count) {
            const auto crc = static_cast<std::uint32_t>(count * 2654435761U);
            REQUIRE(table::extend(crc, bytes.data() + begin, count) == by_bits(crc, bytes.data() + begin, count));
        }
    }
}
