#include <smdebug/learn/facts/packed_list.hpp>

#include "support/test.hpp"

using namespace smdebug::detail::learn;

TEST_CASE("packed_list: numbers come back to the bit, in whatever order they need more bytes") {
    using limits = std::numeric_limits<double>;
    const std::vector<double> all{0,
                                  -0.0,
                                  1.5,
                                  0.1F,
                                  0.1,
                                  1e300,
                                  -1e300,
                                  1,
                                  0x1p-149,
                                  0x1p-150,
                                  limits::max(),
                                  limits::lowest(),
                                  limits::denorm_min(),
                                  16'777'217,
                                  3};
    for (std::size_t first = 0; first < all.size(); ++first) {
        packed_numbers packed;
        for (std::size_t i = 0; i < all.size(); ++i) {
            packed.push_back(all[(first + i) % all.size()]);
        }
        REQUIRE(packed.size() == all.size());
        for (std::size_t i = 0; i < all.size(); ++i) {
            CHECK(std::bit_cast<std::uint64_t>(packed[i]) ==
                  std::bit_cast<std::uint64_t>(all[(first + i) % all.size()]));
        }
    }
}

TEST_CASE("packed_list: which type a number needs") {
    CHECK(packed_numbers::level_for(0.1F) == 0);
    CHECK(packed_numbers::level_for(-0.0) == 0);
    CHECK(packed_numbers::level_for(0x1p-149) == 0);
    CHECK(packed_numbers::level_for(0.1) == 1);
    CHECK(packed_numbers::level_for(1e300) == 1);
    using places = packed_list<std::uint8_t, std::uint16_t, std::uint32_t>;
    CHECK(places::level_for(255) == 0);
    CHECK(places::level_for(256) == 1);
    CHECK(places::level_for(65'535) == 1);
    CHECK(places::level_for(65'536) == 2);
}

TEST_CASE("packed_list: numbers are inserted and replaced in any place") {
    packed_list<std::uint8_t, std::uint16_t, std::uint32_t> packed;
    std::vector<std::uint32_t> plain;
    std::uint32_t next = 1;
    for (std::size_t i = 0; i < 300; ++i) {
        next = next * 1'664'525 + 1'013'904'223;
        const std::uint32_t one = next >> (i < 100 ? 24U : i < 200 ? 16U : 0U);
        const std::size_t place = next % (plain.size() + 1);
        packed.insert(place, one);
        plain.insert(plain.begin() + static_cast<std::ptrdiff_t>(place), one);
        packed.set(i / 2, one);
        plain[i / 2] = one;
    }
    REQUIRE(packed.size() == plain.size());
    for (std::size_t i = 0; i < plain.size(); ++i) {
        CHECK(packed[i] == plain[i]);
    }
    packed.reserve(1000, 0);
    CHECK(packed[299] == plain[299]);
}
