#include <smdebug/trial/read/reading_plan.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>

using namespace smdebug::detail;

namespace {

/// Does pieces of work with a fixed cost for each way; counts those done in each.
std::array<std::size_t, 2> done(adaptive_choice& ways, std::size_t pieces, double usual, double other) {
    std::array<std::size_t, 2> counts{};
    for (std::size_t i = 0; i < pieces; ++i) {
        const adaptive_choice::way now = ways.next();
        ++counts[now];
        ways.took(now, (now == adaptive_choice::usual ? usual : other) * static_cast<double>(i + 1), i + 1);
    }
    return counts;
}

}  // namespace

TEST_CASE("adaptive_choice: tries both ways, then uses the faster one, and the other ever more rarely") {
    for (const bool other_wins : {false, true}) {
        adaptive_choice ways;
        const double usual = other_wins ? 2 : 1;
        const double other = other_wins ? 1 : 2;
        CHECK(done(ways, 4, usual, other) == std::array<std::size_t, 2>{2, 2});
        const auto slow = other_wins ? adaptive_choice::usual : adaptive_choice::other;
        CHECK(done(ways, 48, usual, other)[slow] == 0);
        CHECK(done(ways, 10'000, usual, other)[slow] <= 20);
        CHECK(done(ways, 10'000, usual, other)[slow] >= 5);
    }
}

TEST_CASE("adaptive_choice: most pieces of work need not be timed") {
    adaptive_choice ways;
    std::size_t told = 0;
    std::size_t others = 0;
    for (int i = 0; i < 10'000; ++i) {
        const auto now = ways.next();
        others += now == adaptive_choice::other ? 1 : 0;
        if (ways.needs_timing()) {
            ways.took(now, now == adaptive_choice::usual ? 1 : 2, 1);
            ++told;
        } else {
            CHECK(now == adaptive_choice::usual);
            ways.passed();
        }
    }
    CHECK(others >= 5);
    CHECK(others <= 20);
    CHECK(told > others);
    CHECK(told < 100);
}

TEST_CASE("adaptive_choice: the usual one is left only for a gain") {
    adaptive_choice ways;
    CHECK(done(ways, 1000, 1, 0.97)[adaptive_choice::other] < 10);
    adaptive_choice others;
    CHECK(done(others, 1000, 1, 0.9)[adaptive_choice::usual] < 10);
}

TEST_CASE("adaptive_choice: one large piece of work in each way suffices") {
    adaptive_choice ways;
    for (int i = 0; i < 2; ++i) {
        const auto now = ways.next();
        CHECK(now == (i == 0 ? adaptive_choice::usual : adaptive_choice::other));
        ways.took(now, now == adaptive_choice::usual ? 2 : 1, std::uint64_t{16} << 20U);
    }
    CHECK(done(ways, 48, 2, 1)[adaptive_choice::other] == 48);
}

TEST_CASE("adaptive_choice: when the work changes so does the way, soon after the other way was tried") {
    adaptive_choice ways;
    done(ways, 200, 1, 2);
    const auto later = done(ways, 1000, 2, 1);
    CHECK(later[adaptive_choice::other] > 700);
    CHECK(done(ways, 2000, 1, 2)[adaptive_choice::usual] > 1200);
}

TEST_CASE("adaptive_choice: a disturbed piece of work does not decide, and an empty one has no effect") {
    adaptive_choice ways;
    ways.took(ways.next(), 100, 1);  // the usual one, disturbed
    for (int i = 0; i < 3; ++i) {
        const auto now = ways.next();
        ways.took(now, now == adaptive_choice::usual ? 1 : 2, 1);
    }
    CHECK(ways.next() == adaptive_choice::usual);
    adaptive_choice idle;
    for (int i = 0; i < 100; ++i) {
        CHECK(idle.next() == adaptive_choice::usual);
        idle.took(adaptive_choice::usual, 1, 0);
    }
}
