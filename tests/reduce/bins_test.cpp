#include <smdebug/reduce/bins.hpp>

#include <reduce/corpus.hpp>
#include "support/test.hpp"

using namespace smdebug::reduce;
using namespace smdebug::reduce::detail;

namespace {

struct tag {};

/// The definition: a search among the edges.
std::size_t slot_by_search(const std::vector<double>& edges, double number) {
    const std::size_t bins = edges.size() - 1;
    if (number != number) {
        return bins + 3;
    }
    if (number == edges.back()) {
        return bins + 1;
    }
    const auto passed = std::upper_bound(edges.begin(), edges.end(), number) - edges.begin();
    return static_cast<std::size_t>(passed) + 1;
}

/// default_slots' own treatment of NaN and the last edge put right.
template <class Lane>
std::size_t slot_of(const std::vector<double>& edges, Lane number) {
    const std::size_t slot = default_slots{}(number);
    if (number != number) {
        return slot == 0 || slot == 1 || slot == edges.size() + 2 ? edges.size() + 2 : slot;
    }
    return static_cast<double>(number) == edges.back() ? slot - 1 : slot;
}

}  // namespace

static_assert(default_edge_count == 774);
static_assert(default_edges[0] == 1e-12 && default_edges[1] == 0x1.359f5a7b2817ap-40);
static_assert(default_edges[773] == 0x1.58323029f544cp+66);  // as Python computes it
static_assert(default_slots::bins == 1548);

// No cell holds two edges.
template <class Lane>
constexpr bool all_passed = default_cells<Lane>::table[default_cells<Lane>::count - 1].passed == default_edge_count;
static_assert(all_passed<float> && all_passed<double>);
static_assert(default_cells<float>::between_edges);

TEST_CASE("default_slots: the edges are those of the Python package") {
    const std::vector<double> edges = default_slots::edges();
    REQUIRE(edges.size() == 1549);
    CHECK(edges[0] == -0x1.58323029f544cp+66);
    CHECK(edges[774] == 0);
    CHECK(edges[800] == 0x1.7d365af4d9c9fp-37);
    CHECK(std::is_sorted(edges.begin(), edges.end()));
}

TEST_CASE("default_slots: at, before and behind every edge") {
    const std::vector<double> edges = default_slots::edges();
    std::size_t wrong = 0;
    for (const double edge : edges) {
        for (const double number : {std::nextafter(edge, -infinity), edge, std::nextafter(edge, infinity)}) {
            wrong += slot_of(edges, number) != slot_by_search(edges, number) ? 1U : 0U;
        }
        const auto near = static_cast<float>(edge);
        for (const float number : {std::nextafter(near, -HUGE_VALF), near, std::nextafter(near, HUGE_VALF)}) {
            wrong += slot_of(edges, number) != slot_by_search(edges, static_cast<double>(number)) ? 1U : 0U;
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE("default_slots: any bits") {
    const std::vector<double> edges = default_slots::edges();
    reduce_test::random_bits random(3);
    std::size_t wrong = 0;
    for (int i = 0; i < 300'000; ++i) {
        const std::uint64_t bits = random();
        const auto wide = std::bit_cast<double>(bits);
        const auto narrow = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
        const double usual = std::ldexp(random.symmetric(), static_cast<int>(bits % 120) - 50);
        wrong += slot_of(edges, wide) != slot_by_search(edges, wide) ? 1U : 0U;
        wrong += slot_of(edges, narrow) != slot_by_search(edges, static_cast<double>(narrow)) ? 1U : 0U;
        wrong += slot_of(edges, usual) != slot_by_search(edges, usual) ? 1U : 0U;
    }
    CHECK(wrong == 0);
    for (const double number : {0.0, -0.0, 5e-324, -5e-324, infinity, -infinity, not_a_number, 1e308, -1e308}) {
        CAPTURE(number);
        CHECK(slot_of(edges, number) == slot_by_search(edges, number));
        CHECK(slot_of(edges, static_cast<float>(number)) ==
              slot_by_search(edges, static_cast<double>(static_cast<float>(number))));
    }
}

TEST_CASE("edge_slots: as a search, with edges that repeat and infinite ones") {
    reduce_test::random_bits random(4);
    for (std::size_t count = 2; count < 40; ++count) {
        std::vector<double> edges(count);
        for (double& edge : edges) {
            edge = static_cast<double>(random() % 30);
        }
        std::sort(edges.begin(), edges.end());
        if (count % 5 == 0) {
            edges.front() = -infinity;
            edges.back() = infinity;
        }
        const edge_slots slots{edges};
        for (double number = -2; number < 32; number += 0.5) {
            CAPTURE(number);
            CHECK(slots(number) == slot_by_search(edges, number));
        }
        for (const double number : {infinity, -infinity, not_a_number}) {
            CHECK(slots(number) == slot_by_search(edges, number));
        }
    }
}

TEST_CASE("equal_edges: numpy.linspace, bit by bit") {
    CHECK(equal_edges<tag>(0.1, 0.9, 7) ==
          std::vector<double>{0x1.999999999999ap-4, 0x1.b6db6db6db6dcp-3, 0x1.5075075075076p-2, 0x1.c57c57c57c57cp-2,
                              0x1.1d41d41d41d42p-1, 0x1.57c57c57c57c6p-1, 0x1.9249249249249p-1, 0x1.ccccccccccccdp-1});
    const std::vector<double> denormal = equal_edges<tag>(0, 5e-324, 2);
    CHECK(denormal.back() == 5e-324);
    CHECK(std::is_sorted(denormal.begin(), denormal.end()));
}

TEST_CASE("equal_slots: the estimate is put right at the edges") {
    reduce_test::random_bits random(5);
    for (int round = 0; round < 200; ++round) {
        const double first = std::ldexp(random.symmetric(), static_cast<int>(random() % 60) - 30);
        const double last = first + std::ldexp(1 + std::abs(random.symmetric()), static_cast<int>(random() % 60) - 30);
        if (first == last) {
            continue;  // lost in rounding
        }
        const std::vector<double> edges = equal_edges<tag>(first, last, 1 + random() % 50);
        const equal_slots slots{edges};
        REQUIRE(slots.usable());
        std::size_t wrong = 0;
        for (const double edge : edges) {
            for (const double number : {std::nextafter(edge, -infinity), edge, std::nextafter(edge, infinity)}) {
                wrong += slots(number) != slot_by_search(edges, number) ? 1U : 0U;
            }
        }
        CHECK(wrong == 0);
        CHECK(slots(not_a_number) == slots.bins + 3);
        CHECK(slots(infinity) == slots.bins + 2);
        CHECK(slots(-infinity) == 1);
    }
    const std::vector<double> denormal{0, 5e-324};
    CHECK_FALSE(equal_slots{denormal}.usable());
}
