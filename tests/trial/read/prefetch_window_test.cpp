#include <smdebug/trial/read/prefetch_window.hpp>

#include <doctest/doctest.h>

#include <vector>

using smdebug::detail::prefetch_window;
using items = std::vector<prefetch_window::item>;

TEST_CASE("prefetch_window: each item is asked for once, in order, as far ahead as the window goes") {
    prefetch_window window{3};
    items asked;
    const auto ask = [&](prefetch_window::item next) {
        asked.push_back(next);
        return true;
    };
    window.advance(items{2, 4, 6, 8, 10}, ask);
    CHECK(asked == items{2, 4, 6});
    CHECK(window.is_asked_for(6));
    CHECK_FALSE(window.is_asked_for(7));
    CHECK(window.end() == 7);
    window.advance(items{2, 4, 6, 8, 10}, ask);
    CHECK(asked == items{2, 4, 6});
    window.advance(items{6, 8}, ask);
    CHECK(asked == items{2, 4, 6, 8});
    window.advance(items{}, ask);
    CHECK(asked.size() == 4);
}

TEST_CASE("prefetch_window: what there is no room for waits, and nothing behind it is asked for") {
    prefetch_window window{10};
    items asked;
    bool has_room = false;
    const auto ask = [&](prefetch_window::item next) {
        asked.push_back(next);
        return has_room || next < 3;
    };
    window.advance(items{1, 2, 3, 4}, ask);
    CHECK(asked == items{1, 2, 3});
    CHECK_FALSE(window.is_asked_for(3));
    has_room = true;
    window.advance(items{1, 2, 3, 4}, ask);
    CHECK(asked == items{1, 2, 3, 3, 4});
}

TEST_CASE("prefetch_window: what was passed is not asked for, and nothing before it") {
    prefetch_window window{10};
    window.pass(5);
    window.pass(2);
    items asked;
    window.advance(items{4, 5, 6}, [&](prefetch_window::item next) {
        asked.push_back(next);
        return true;
    });
    CHECK(asked == items{6});
}
