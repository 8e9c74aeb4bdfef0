#include <smdebug/trial/read/faster_way.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>

using namespace smdebug::detail;

namespace {

/// Does pieces of work that cost so much in each way; how many were done in each.
std::array<std::size_t, 2> done(faster_way& ways, std::size_t pieces, double usual, double other) {
    std::array<std::size_t, 2> counts{};
    for (std::size_t i = 0; i < pieces; ++i) {
        const faster_way::way now = ways.next();
        ++counts[now];
        ways.took(now, (now == faster_way::usual ? usual : other) * static_cast<double>(i + 1), i + 1);
    }
    return counts;
}

}  // namespace

TEST_CASE("faster_way: both are tried, then the faster one is taken, and the other more and more seldom") {
    for (const bool other_wins : {false, true}) {
        faster_way ways;
        const double usual = other_wins ? 2 : 1;
        const double other = other_wins ? 1 : 2;
        CHECK(done(ways, 4, usual, other) == std::array<std::size_t, 2>{2, 2});
        const auto slow = other_wins ? faster_way::usual : faster_way::other;
        CHECK(done(ways, 48, usual, other)[slow] == 0);
        CHECK(done(ways, 10'000, usual, other)[slow] <= 20);
        CHECK(done(ways, 10'000, usual, other)[slow] >= 5);
    }
}

TEST_CASE("faster_way: of most pieces of work nobody need know what they take") {
    faster_way ways;
    std::size_t told = 0;
    std::size_t others = 0;
    for (int i = 0; i < 10'000; ++i) {
        const auto now = ways.next();
        others += now == faster_way::other ? 1 : 0;
        if (ways.is_telling()) {
            ways.took(now, now == faster_way::usual ? 1 : 2, 1);
            ++told;
        } else {
            CHECK(now == faster_way::usual);
            ways.passed();
        }
    }
    CHECK(others >= 5);
    CHECK(others <= 20);
    CHECK(told > others);
    CHECK(told < 100);
}

TEST_CASE("faster_way: the usual one is left only for a gain") {
    faster_way ways;
    CHECK(done(ways, 1000, 1, 0.97)[faster_way::other] < 10);
    faster_way others;
    CHECK(done(others, 1000, 1, 0.9)[faster_way::usual] < 10);
}

TEST_CASE("faster_way: of much work one piece in each way is enough") {
    faster_way ways;
    for (int i = 0; i < 2; ++i) {
        const auto now = ways.next();
        CHECK(now == (i == 0 ? faster_way::usual : faster_way::other));
        ways.took(now, now == faster_way::usual ? 2 : 1, std::uint64_t{16} << 20U);
    }
    CHECK(done(ways, 48, 2, 1)[faster_way::other] == 48);
}

TEST_CASE("faster_way: when the work changes so does the way, soon after the other one had its turn") {
    faster_way ways;
    done(ways, 200, 1, 2);
    const auto later = done(ways, 1000, 2, 1);
    CHECK(later[faster_way::other] > 700);
    CHECK(done(ways, 2000, 1, 2)[faster_way::usual] > 1200);
}

TEST_CASE("faster_way: a piece of work that was disturbed does not decide, and none at all tells nothing") {
    faster_way ways;
    ways.took(ways.next(), 100, 1);  // the usual one, disturbed
    for (int i = 0; i < 3; ++i) {
        const auto now = ways.next();
        ways.took(now, now == faster_way::usual ? 1 : 2, 1);
    }
    CHECK(ways.next() == faster_way::usual);
    faster_way idle;
    for (int i = 0; i < 100; ++i) {
        CHECK(idle.next() == faster_way::usual);
        idle.took(faster_way::usual, 1, 0);
    }
}
