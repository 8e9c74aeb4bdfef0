#include <smdebug/record/framing.hpp>

#include "support/test.hpp"

namespace record = smdebug::record;

static_assert(record::header_size == 12);
static_assert(record::footer_size == 4);
static_assert(record::overhead == 16);
static_assert(record::detail::header::of(208).valid());
static_assert(record::detail::header::checksum_of(208) == 0x6f533797);  // as in a file of the Python package
static_assert(!record::detail::header{208, 0x6f533798}.valid());
static_assert(!record::detail::header{}.valid());  // zeros are no header: the checksum of 0 is not 0
static_assert(record::framed_size(0) == 16U);
static_assert(record::framed_size(std::numeric_limits<std::uint64_t>::max() - 16) ==
              std::numeric_limits<std::uint64_t>::max());
static_assert(!record::framed_size(std::numeric_limits<std::uint64_t>::max() - 15));

TEST_CASE("framing: a header is written as in a file of the Python package") {
    std::array<std::byte, record::header_size> bytes{};
    record::store_header(bytes.data(), record::detail::header::of(208));
    constexpr std::array<unsigned char, record::header_size> golden{0xd0, 0, 0, 0, 0, 0, 0, 0, 0x97, 0x37, 0x53, 0x6f};
    for (std::size_t i = 0; i < golden.size(); ++i) {
        CHECK(static_cast<unsigned char>(bytes[i]) == golden[i]);
    }
}

TEST_CASE("framing: a header is read back from any alignment") {
    std::array<std::byte, record::header_size + 8> bytes{};
    for (std::size_t at = 0; at < 8; ++at) {
        record::store_header(bytes.data() + at, record::detail::header::of(0x123456789abcdefULL));
        const record::detail::header read = record::load_header(bytes.data() + at);
        CHECK(read.length == 0x123456789abcdefULL);
        CHECK(read.valid());
    }
}
