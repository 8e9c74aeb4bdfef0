// Every implementation against the table.  Those that this CPU lacks are named as skipped.
#include <smdebug/core/bytes.hpp>
#include <smdebug/record/crc32c.hpp>

#include <record/random_bytes.hpp>
#include <support/skipped.hpp>
#include "support/test.hpp"

namespace crc32c = smdebug::record::crc32c;
using smdebug::byte_view;
using smdebug_test::random_bytes;

static_assert(crc32c::detail::name_of(crc32c::detail::implementation::table) == "table");
static_assert(crc32c::detail::name_of(crc32c::detail::implementation::arm) == "arm");

namespace {

std::uint32_t by_table(std::uint32_t crc, byte_view bytes) {
    return crc32c::detail::table::extend(crc, bytes.data(), bytes.size());
}

/// Calls visit(extend) for every implementation but the table; extend(crc, bytes) is the checksum by that one.
template <class Visit>
void for_each_other(const Visit& visit) {
    for (const crc32c::detail::implementation which : crc32c::detail::implementations) {
        if (which == crc32c::detail::implementation::table) {
            continue;
        }
        if (!crc32c::detail::supported(which)) {
            smdebug_test::skipped(smdebug_test::lacking::processor,
                                  "this CPU cannot run " + std::string{crc32c::detail::name_of(which)});
            continue;
        }
        CAPTURE(crc32c::detail::name_of(which));
        visit([which](std::uint32_t crc, byte_view bytes) {
            return crc32c::detail::extend_by(which, crc, bytes.data(), bytes.size());
        });
    }
}

}  // namespace

TEST_CASE("crc32c implementations: the table is always there, and the fastest can be run") {
    CHECK(crc32c::detail::supported(crc32c::detail::implementation::table));
    for (const std::size_t count : {0U, 1U, 8U, 100U, 300U, 3000U, 1U << 20}) {
        CHECK(crc32c::detail::supported(crc32c::detail::fastest(count)));
    }
}

TEST_CASE("crc32c implementations: all agree at every length to 5000") {
    const auto bytes = random_bytes(5000, 1);
    for_each_other([&](const auto& extend) {
        for (std::size_t count = 0; count <= bytes.size(); ++count) {
            const byte_view part = byte_view{bytes}.first(count);
            REQUIRE(extend(0, part) == by_table(0, part));
        }
    });
}

TEST_CASE("crc32c implementations: all agree at random lengths, at every alignment, from any checksum on") {
    const auto bytes = random_bytes(5000 + 64, 2);
    std::mt19937 random{3};
    for_each_other([&](const auto& extend) {
        for (std::size_t begin = 0; begin < 64; ++begin) {
            for (int i = 0; i < 40; ++i) {
                const byte_view part = byte_view{bytes}.subspan(begin, random() % 5001);
                const auto crc = static_cast<std::uint32_t>(random());
                REQUIRE(extend(crc, part) == by_table(crc, part));
            }
        }
    });
}

TEST_CASE("crc32c implementations: all agree over long buffers, which take several blocks") {
    const auto bytes = random_bytes((std::size_t{1} << 20) + 4099, 4);
    std::mt19937 random{5};
    for_each_other([&](const auto& extend) {
        CHECK(extend(0, bytes) == by_table(0, bytes));
        for (int i = 0; i < 100; ++i) {
            const byte_view part = byte_view{bytes}.subspan(random() % 64, random() % 100'000);
            REQUIRE(extend(7, part) == by_table(7, part));
        }
    });
}

TEST_CASE("crc32c implementations: the ends of blocks are exact") {
    // Around every multiple of what one block or round can take at most, and of what is worth a block at all.
    const auto bytes = random_bytes(200'000, 6);
    std::vector<std::size_t> ends{48, 96, 2048};
#if defined(__x86_64__)
    const std::size_t round =
        crc32c::detail::sse42::streams * crc32c::detail::sse42::most_words * crc32c::detail::sse42::word;
    ends.insert(ends.end(), {round, 2 * round, 3 * round, crc32c::detail::avx512::shortest});
#endif
    for_each_other([&](const auto& extend) {
        for (const std::size_t end : ends) {
            for (std::size_t count = end - 9; count <= end + 9; ++count) {
                const byte_view part = byte_view{bytes}.first(count);
                REQUIRE(extend(0, part) == by_table(0, part));
            }
        }
    });
}

TEST_CASE("crc32c implementations: nothing but the bytes is read") {
    // Exact heap blocks, so that the address sanitizer sees a byte too many.
    for_each_other([&](const auto& extend) {
        for (const std::size_t count :
             {0U, 1U, 7U, 8U, 63U, 64U, 95U, 96U, 255U, 256U, 2047U, 4097U, 19'041U, 65'537U}) {
            const auto bytes = random_bytes(count, 7);
            CHECK(extend(0, bytes) == by_table(0, bytes));
        }
    });
}
