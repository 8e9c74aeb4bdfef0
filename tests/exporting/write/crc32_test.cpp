#include <smdebug/exporting/npz.hpp>

#include <smdebug/core/bytes.hpp>

#include <record/random_bytes.hpp>
#include "support/test.hpp"

using namespace smdebug;
namespace crc32 = smdebug::detail::crc32;

namespace {

std::uint32_t slow(byte_view bytes) {
    return smdebug_test::crc_by_bits(crc32::polynomial, 0, bytes.data(), bytes.size());
}

}  // namespace

TEST_CASE("crc32: the check value of the catalogue of CRCs") {
    CHECK(crc32::extend(0, as_bytes(std::string_view{"123456789"})) == 0xcbf43926);
    CHECK(crc32::extend_by_tables(0, as_bytes(std::string_view{"123456789"})) == 0xcbf43926);
    CHECK(crc32::extend(0, {}) == 0);
}

TEST_CASE("crc32: every way gives the same for every length, alignment and cut") {
    const std::vector<std::byte> bytes = smdebug_test::random_bytes(700, 1);
    for (std::size_t length = 0; length <= 400; ++length) {
        const byte_view part = byte_view{bytes}.subspan(length % 17, length);
        const std::uint32_t wanted = slow(part);
        CHECK(crc32::extend(0, part) == wanted);
        CHECK(crc32::extend_by_tables(0, part) == wanted);
    }
    const std::uint32_t all = slow(bytes);
    for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
        const byte_view whole{bytes};
        const std::uint32_t first = crc32::extend(0, whole.first(cut));
        CHECK(crc32::extend(first, whole.subspan(cut)) == all);
        CHECK(crc32::combine(first, crc32::extend(0, whole.subspan(cut)), bytes.size() - cut) == all);
    }
}

TEST_CASE("crc32: powers of x") {
    static_assert(crc32::power_of_x(0) == crc32::one);
    static_assert(crc32::power_of_x(31) == 1);
    static_assert(crc32::power_of_x(32) == crc32::polynomial);
    static_assert(crc32::product(crc32::power_of_x(100), crc32::power_of_x(23)) == crc32::power_of_x(123));
}
