#include <smdebug/core/lru.hpp>

#include "support/test.hpp"

using namespace smdebug::detail;

TEST_CASE("lru: the least recently used values leave when there is no more room") {
    lru<std::string, int, std::string_view> values{3};
    for (int i = 0; i < 10; ++i) {
        values.put(std::to_string(i), i);
        REQUIRE(values.find("0"));
    }
    CHECK(*values.find("0") == 0);
    CHECK(values.look("9"));
    CHECK(*values.look("8") == 8);
    CHECK_FALSE(values.look("7"));
    CHECK(values.size() == 3);
}

TEST_CASE("lru: looking is no use, and a value replaces the one of its key") {
    lru<int, std::string> values{10};
    values.put(1, "one", 4);
    values.put(2, "two", 4);
    CHECK(values.look(1));
    values.put(2, "TWO", 6);
    CHECK(values.look(1));
    CHECK(*values.look(2) == "TWO");
    CHECK(values.size() == 10);
    values.put(3, "three", 1);
    CHECK_FALSE(values.look(1));
    values.erase(2);
    values.erase(5);
    CHECK(values.size() == 1);
    values.clear();
    CHECK(values.size() == 0);
    CHECK_FALSE(values.find(3));
}

TEST_CASE("lru: the last ones stay, whatever their size") {
    lru<int, int> values{5, 2};
    for (int i = 0; i < 4; ++i) {
        values.put(i, i, 100);
    }
    CHECK(values.size() == 200);
    CHECK(values.look(2));
    CHECK(values.look(3));
}
