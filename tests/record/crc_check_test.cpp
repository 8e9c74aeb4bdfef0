#include <smdebug/record/payload_check.hpp>

#include "support/test.hpp"

#include <smdebug/core/bytes.hpp>
#include <smdebug/record/crc32c.hpp>

using smdebug::crc_check;

static_assert(smdebug::name_of(crc_check::full) == "full");
static_assert(smdebug::name_of(crc_check::length_only) == "length_only");
static_assert(smdebug::name_of(crc_check::none) == "none");

TEST_CASE("crc_check: the package's footer is b3 c0 2d 06 in a file") {
    std::array<std::byte, 4> bytes{};
    smdebug::store_le(bytes.data(), smdebug::record::package_footer);
    CHECK(bytes == std::array{std::byte{0xb3}, std::byte{0xc0}, std::byte{0x2d}, std::byte{0x06}});
}

TEST_CASE("crc_check: the package checksums text, not a number") {
    CHECK(smdebug::record::package_footer_text.size() == 10);
    const std::array number{std::byte{0x78}, std::byte{0x56}, std::byte{0x34}, std::byte{0x12}};
    CHECK(smdebug::record::crc32c::mask(smdebug::record::crc32c::value(smdebug::byte_view{number})) !=
          smdebug::record::package_footer);
}
