#include <smdebug/reduce/quantiles.hpp>

#include <reduce/corpus.hpp>
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::reduce::detail;
using namespace smdebug::reduce;

namespace {

template <class T, bool Abs = false>
std::vector<double> by_order(const std::vector<T>& values) {
    using order = element_order<T, Abs>;
    std::vector<typename order::key_type> keys;
    for (const T& value : values) {
        keys.push_back(order::key(reinterpret_cast<const std::byte*>(&value)));
    }
    std::sort(keys.begin(), keys.end());
    std::vector<double> sorted;
    for (const auto key : keys) {
        sorted.push_back(order::value(key));
    }
    return sorted;
}

/// Every wanted key against a full sort.
template <class T>
void check_ranks(const std::vector<T>& values, std::vector<std::size_t> ranks) {
    using order = element_order<T, false>;
    std::vector<typename order::key_type> sorted;
    for (const T& value : values) {
        sorted.push_back(order::key(reinterpret_cast<const std::byte*>(&value)));
    }
    std::sort(sorted.begin(), sorted.end());
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    rank_selector<order> selector(reinterpret_cast<const std::byte*>(values.data()), values.size());
    const auto range = selector.extremes();
    CHECK(range.low == sorted.front());
    CHECK(range.high == sorted.back());
    const auto found = selector.select(ranks, range);
    REQUIRE(found.size() == ranks.size());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        wrong += found[i] != sorted[ranks[i]] ? 1U : 0U;
    }
    CHECK(wrong == 0);
}

std::vector<std::size_t> some_ranks(std::size_t count) {
    return {0,
            count / 20,
            count / 4,
            count / 2,
            std::min(count / 2 + 1, count - 1),
            count - 1 - count / 4,
            count - 1 - count / 20,
            count - 1};
}

}  // namespace

TEST_CASE("element_order: keys sort as the numbers do, values come back") {
    constexpr float inf = std::numeric_limits<float>::infinity();
    constexpr float tiny = std::numeric_limits<float>::denorm_min();
    CHECK(by_order<float>({1, -1, inf, -inf, tiny, -tiny, 0, 2.5F}) ==
          std::vector<double>{-infinity, -1, -0x1p-149, 0, 0x1p-149, 1, 2.5, infinity});
    CHECK(by_order<float, true>({1, -3, -inf, 0}) == std::vector<double>{0, 1, 3, infinity});
    CHECK(by_order<double>({1, -1, -0.0, -1e300}) == std::vector<double>{-1e300, -1, 0, 1});
    CHECK(by_order<std::int8_t>({5, -128, 127, -1}) == std::vector<double>{-128, -1, 5, 127});
    CHECK(by_order<std::int8_t, true>({5, -128, 127, -1}) == std::vector<double>{1, 5, 127, 128});
    CHECK(by_order<std::int16_t, true>({-32768, 3}) == std::vector<double>{3, 32768});
    CHECK(by_order<std::int32_t>({-2147483647 - 1, 2147483647, 0}) == std::vector<double>{-0x1p31, 0, 2147483647});
    CHECK(by_order<std::int64_t, true>({std::numeric_limits<std::int64_t>::min(), 7}) ==
          std::vector<double>{7, 0x1p63});
    CHECK(by_order<std::uint64_t>({~std::uint64_t{0}, 7}) == std::vector<double>{7, 0x1p64});
    CHECK(by_order<std::complex<float>, true>({{3, 4}, {0, 0}, {-1, 0}}) == std::vector<double>{0, 1, 5});
    CHECK(by_order<float16>({float16{1.5F}, float16{-2.0F}}) == std::vector<double>{-2, 1.5});
    CHECK(by_order<float8_e4m3fn>({float8_e4m3fn{448}, float8_e4m3fn{-2}}) == std::vector<double>{-2, 448});
    CHECK(by_order<float8_e5m2, true>({float8_e5m2{1.5F}, float8_e5m2{-2}}) == std::vector<double>{1.5, 2});
    CHECK(by_order<bfloat16, true>({bfloat16{1.5F}, bfloat16{-2.0F}}) == std::vector<double>{1.5, 2});
}

TEST_CASE("element_order: NaN of both signs lie outside of the numbers") {
    const auto outside = []<class T>(T value) {
        using signed_order = element_order<T, false>;
        using size_order = element_order<T, true>;
        const auto key = signed_order::key(reinterpret_cast<const std::byte*>(&value));
        const bool beyond = size_order::key(reinterpret_cast<const std::byte*>(&value)) > size_order::highest;
        CHECK((key < signed_order::lowest || key > signed_order::highest) == beyond);
        return beyond;
    };
    for (unsigned code = 0; code < 256; ++code) {
        const auto small = float8_e4m3fn::from_bits(static_cast<std::uint8_t>(code));
        const auto large = float8_e5m2::from_bits(static_cast<std::uint8_t>(code));
        CHECK(outside(small) == (small != small));
        CHECK(outside(large) == (large != large));
    }
    using order = element_order<float, false>;
    for (const std::uint32_t bits : {0x7F800001U, 0x7FC00000U, 0x7FFFFFFFU, 0xFF800001U, 0xFFFFFFFFU}) {
        const auto key = order::key(reinterpret_cast<const std::byte*>(&bits));
        CHECK((key < order::lowest || key > order::highest));
        CHECK(element_order<float, true>::key(reinterpret_cast<const std::byte*>(&bits)) >
              element_order<float, true>::highest);
    }
    for (const std::uint32_t bits : {0x7F800000U, 0xFF800000U, 0U, 0x80000000U}) {
        const auto key = order::key(reinterpret_cast<const std::byte*>(&bits));
        CHECK((key >= order::lowest && key <= order::highest));
    }
}

TEST_CASE("rank_selector: as a full sort, whatever fills the tensor") {
    reduce_test::random_bits random(7);
    for (const std::size_t count : {1U, 2U, 70U, 2048U, 2049U, 5000U, 40'000U, 300'000U}) {
        std::vector<float> spread(count);
        std::vector<float> mostly_zero(count);
        std::vector<std::uint32_t> two_values(count);
        std::vector<std::uint64_t> clusters(count);  // heavy parts at every level
        std::vector<double> narrow(count);
        for (std::size_t i = 0; i < count; ++i) {
            spread[i] = static_cast<float>(random.symmetric());
            mostly_zero[i] = random() % 3 == 0 ? static_cast<float>(random.symmetric()) : 0.F;
            two_values[i] = random() % 2 == 0 ? 0U : 0xFFFFFFFFU;
            clusters[i] = ((random() % 3) << 60U) + ((random() % 3) << 40U) + ((random() % 2) << 30U) + random() % 3;
            narrow[i] = 1 + std::ldexp(random.symmetric(), -40);
        }
        check_ranks(spread, some_ranks(count));
        check_ranks(mostly_zero, some_ranks(count));
        check_ranks(two_values, some_ranks(count));
        check_ranks(clusters, some_ranks(count));
        check_ranks(narrow, some_ranks(count));
    }
}

TEST_CASE("rank_selector: every rank at once") {
    reduce_test::random_bits random(8);
    std::vector<float> values(30'000);
    std::vector<std::size_t> ranks(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<float>(random.symmetric());
        ranks[i] = i;
    }
    check_ranks(values, ranks);
}
