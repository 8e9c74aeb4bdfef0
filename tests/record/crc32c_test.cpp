#include <smdebug/record/crc32c.hpp>

#include <record/random_bytes.hpp>
#include "support/test.hpp"

namespace crc32c = smdebug::record::crc32c;
using smdebug::as_bytes;
using smdebug::byte_view;
using smdebug_test::random_bytes;

namespace {

std::uint32_t slow_crc32c(byte_view bytes) {
    return smdebug_test::crc_by_bits(0x82f63b78U, 0, bytes.data(), bytes.size());
}

}  // namespace

static_assert(crc32c::value(std::string_view{}) == 0);
static_assert(crc32c::value("123456789") == 0xe3069283);
static_assert(crc32c::value("a") == 0xc1d04330);
static_assert(crc32c::extend(crc32c::value("1234"), "56789") == 0xe3069283);
static_assert(crc32c::combine(crc32c::value("1234"), crc32c::value("56789"), 5) == 0xe3069283);
static_assert(crc32c::combine(0, crc32c::value("a"), 1) == crc32c::value("a"));
static_assert(crc32c::combine(crc32c::value("a"), 0, 0) == crc32c::value("a"));
static_assert(crc32c::unmask(crc32c::mask(0xe3069283)) == 0xe3069283);
static_assert(crc32c::mask(0) == 0xa282ead8);

TEST_CASE("crc32c: gives the values of RFC 3720") {
    std::array<std::byte, 32> bytes{};
    CHECK(crc32c::value(bytes) == 0x8a9136aa);
    bytes.fill(std::byte{0xff});
    CHECK(crc32c::value(bytes) == 0x62a8ab43);
    for (std::size_t i = 0; i < 32; ++i) {
        bytes[i] = static_cast<std::byte>(i);
    }
    CHECK(crc32c::value(bytes) == 0x46dd794e);
    for (std::size_t i = 0; i < 32; ++i) {
        bytes[i] = static_cast<std::byte>(31 - i);
    }
    CHECK(crc32c::value(bytes) == 0x113fdb5c);
}

TEST_CASE("crc32c: extending over two parts is the checksum of the whole, wherever the cut is") {
    const auto bytes = random_bytes(100, 2);
    const std::uint32_t whole = crc32c::value(bytes);
    for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
        const byte_view view{bytes};
        REQUIRE(crc32c::extend(crc32c::value(view.first(cut)), view.subspan(cut)) == whole);
    }
}

TEST_CASE("crc32c: extending over random splits of a long buffer is the checksum of the whole") {
    const auto bytes = random_bytes(200'001, 4);
    const std::uint32_t whole = slow_crc32c(bytes);
    std::mt19937 random{5};
    for (int i = 0; i < 50; ++i) {
        byte_view rest{bytes};
        std::uint32_t crc = 0;
        while (!rest.empty()) {
            const std::size_t count = std::min<std::size_t>(rest.size(), random() % 30'000);
            crc = crc32c::extend(crc, rest.first(count));
            rest = rest.subspan(count);
        }
        REQUIRE(crc == whole);
    }
}

TEST_CASE("crc32c: the checksums of parts combine to that of the whole") {
    const auto bytes = random_bytes(100'003, 6);
    const byte_view view{bytes};
    const std::uint32_t whole = slow_crc32c(bytes);
    std::mt19937 random{7};
    for (int i = 0; i < 200; ++i) {
        const std::size_t cut = random() % (bytes.size() + 1);
        const std::uint32_t a = crc32c::value(view.first(cut));
        const std::uint32_t b = crc32c::value(view.subspan(cut));
        REQUIRE(crc32c::combine(a, b, bytes.size() - cut) == whole);
    }
}

TEST_CASE("crc32c: combining is associative, also for lengths that no memory holds") {
    const std::uint64_t huge = (std::uint64_t{1} << 62) + 12345;
    const std::uint32_t left = crc32c::combine(crc32c::combine(1, 2, huge), 3, 77);
    CHECK(left == crc32c::combine(1, crc32c::combine(2, 3, 77), huge + 77));
}

TEST_CASE("crc32c: text and bytes are the same") {
    const std::string text = "the quick brown fox jumps over the lazy dog";
    CHECK(crc32c::value(text) == crc32c::value(as_bytes(text)));
    CHECK(crc32c::extend(7, text) == crc32c::extend(7, as_bytes(text)));
}

TEST_CASE("crc32c: masking is undone by unmasking") {
    std::mt19937 random{3};
    for (int i = 0; i < 1000; ++i) {
        const auto crc = static_cast<std::uint32_t>(random());
        REQUIRE(crc32c::unmask(crc32c::mask(crc)) == crc);
    }
}
