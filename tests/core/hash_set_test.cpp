#include <smdebug/core/hash_set.hpp>

#include "support/test.hpp"

using namespace smdebug::detail;

namespace {

struct wide_hash {
    std::uint64_t high = 0;
    std::uint64_t low = 0;
    friend constexpr bool operator==(const wide_hash&, const wide_hash&) = default;
};

}  // namespace

TEST_CASE("hash_set: insert() returns whether a hash is new, and numbers are hashes, too") {
    hash_set<std::uint64_t> hashes;
    CHECK_FALSE(hashes.contains(7));
    CHECK(hashes.insert(7));
    CHECK_FALSE(hashes.insert(7));
    hashes.erase(8);
    CHECK(hashes.size() == 1);
    hashes.erase(7);
    CHECK(hashes.size() == 0);
    CHECK(hashes.insert(7));
}

TEST_CASE("hash_set: what is in it is what was inserted and not erased, also where probes meet") {
    std::mt19937 random{3};
    hash_set<wide_hash> hashes;
    std::set<std::pair<std::uint64_t, std::uint64_t>> expected;
    CHECK_FALSE(hashes.contains({1, 2}));
    hashes.erase({1, 2});
    for (int i = 0; i < 20'000; ++i) {
        // Few places to begin at, so that probes run into each other, and around the end.
        const wide_hash hash{random() % 64, 1 + random() % 32};
        if (random() % 2 == 0) {
            hashes.insert(hash);
            expected.insert({hash.high, hash.low});
        } else {
            hashes.erase(hash);
            expected.erase({hash.high, hash.low});
        }
        REQUIRE(hashes.size() == expected.size());
        if (i % 500 == 0) {
            for (std::uint64_t high = 0; high < 64; ++high) {
                for (std::uint64_t low = 1; low <= 32; ++low) {
                    REQUIRE(hashes.contains({high, low}) == expected.contains({high, low}));
                }
            }
        }
    }
}

TEST_CASE("hash_set: a million hashes of 16 bytes take 16 to 32 MB, in any order") {
    constexpr std::size_t million = 1'000'000;
    hash_set<wide_hash> at_once;
    at_once.reserve(million);
    hash_set<wide_hash> one_by_one;
    for (std::uint64_t i = 1; i <= million; ++i) {
        const wide_hash hash{i * 0x9e3779b97f4a7c15U, i};
        at_once.insert(hash);
        one_by_one.make_room();
        one_by_one.insert(hash);
    }
    CHECK(at_once.size() == million);
    CHECK(one_by_one.size() == million);
    CHECK(at_once.bytes() <= 32'000'000);
    CHECK(one_by_one.bytes() <= 32'000'000);
}
