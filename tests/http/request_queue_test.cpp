#include <smdebug/http/curl_engine.hpp>

#include "support/test.hpp"

using namespace smdebug;

using line = http::detail::request_queue<int>;

TEST_CASE("request_queue: first come, first served, until the whole has no more room") {
    line waiting{3, 100};
    std::vector<line::place> places;
    for (int number = 0; number < 5; ++number) {
        places.push_back(waiting.push(number % 2 == 0 ? "b" : "a", number));
    }
    CHECK(waiting.next() == 0);
    CHECK(waiting.next() == 1);
    CHECK(waiting.next() == 2);
    CHECK(waiting.next() == std::nullopt);
    waiting.ended(places[1]);
    CHECK(waiting.next() == 3);
    CHECK(waiting.next() == std::nullopt);
    waiting.ended(places[0]);
    waiting.ended(places[2]);
    CHECK(waiting.next() == 4);
    CHECK(waiting.next() == std::nullopt);
}

TEST_CASE("request_queue: a server without room holds up its own requests, not those of others") {
    line waiting{100, 2};
    std::vector<line::place> places;
    for (int number = 0; number < 6; ++number) {
        places.push_back(waiting.push(number < 4 ? "slow" : "quick", number));
    }
    std::vector<int> begun;
    while (const auto number = waiting.next()) {
        begun.push_back(*number);
    }
    CHECK(begun == std::vector<int>{0, 1, 4, 5});
    waiting.ended(places[4]);
    CHECK(waiting.next() == std::nullopt);
    waiting.ended(places[0]);
    CHECK(waiting.next() == 2);
}

TEST_CASE("request_queue: a server whose connections are shared has room for all, until they are not") {
    line waiting{100, 1};
    std::vector<line::place> places;
    for (int number = 0; number < 4; ++number) {
        places.push_back(waiting.push("server", number));
    }
    CHECK(waiting.next() == 0);
    CHECK(waiting.next() == std::nullopt);
    waiting.ended(places[0], true);
    CHECK(waiting.next() == 1);
    waiting.ended(places[1]);  // unknown: as before
    CHECK(waiting.next() == 2);
    CHECK(waiting.next() == 3);
    waiting.ended(places[2], false);
    static_cast<void>(waiting.push("server", 4));
    CHECK(waiting.next() == std::nullopt);
    waiting.ended(places[3]);
    CHECK(waiting.next() == 4);
}

TEST_CASE("request_queue: a removed request is never taken") {
    line waiting{100, 100};
    std::vector<line::place> places;
    for (int number = 0; number < 6; ++number) {
        places.push_back(waiting.push("server", number));
    }
    waiting.remove(places[0]);
    waiting.remove(places[3]);
    waiting.remove_if([](int number) { return number >= 4; });
    CHECK(waiting.next() == 1);
    CHECK(waiting.next() == 2);
    CHECK(waiting.next() == std::nullopt);
}

TEST_CASE("request_queue: there is room for one at least") {
    line waiting{0, 0};
    const auto first = waiting.push("server", 1);
    static_cast<void>(waiting.push("server", 2));
    CHECK(waiting.next() == 1);
    CHECK(waiting.next() == std::nullopt);
    waiting.ended(first);
    CHECK(waiting.next() == 2);
}
