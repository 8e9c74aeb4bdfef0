#include <smdebug/core/ordered_thread_pool.hpp>

#include "support/test.hpp"

using namespace smdebug;

TEST_CASE("thread_budget: no more permits than threads, and each is returned on destruction") {
    static_assert(!std::is_copy_constructible_v<thread_permit> && std::is_nothrow_move_constructible_v<thread_permit>);
    const auto threads = std::make_shared<thread_budget>(2);
    thread_permit first = threads->acquire();
    {
        const thread_permit second = threads->try_acquire();
        CHECK(second);
        CHECK_FALSE(threads->try_acquire());
    }
    CHECK(threads->try_acquire());
    thread_permit moved = std::move(first);
    CHECK_FALSE(first);  // a moved-from permit is empty
    moved = {};
    const std::vector<thread_permit> both = [&] {
        std::vector<thread_permit> all;
        all.push_back(threads->try_acquire());
        all.push_back(threads->try_acquire());
        return all;
    }();
    CHECK(both[0]);
    CHECK(both[1]);
}

TEST_CASE("thread_budget: independent work has priority over help") {
    const auto threads = std::make_shared<thread_budget>(1);
    thread_permit held = threads->acquire();
    std::atomic<bool> works{false};
    std::jthread waits{[&] {
        const thread_permit own = threads->acquire();
        works = true;
    }};
    CHECK_FALSE(threads->try_acquire());
    CHECK_FALSE(works);
    held = {};
    waits.join();
    CHECK(works);
    CHECK(threads->try_acquire());
}

TEST_CASE("thread_budget: a permit may outlive all other owners of the budget") {
    auto threads = std::make_shared<thread_budget>(1);
    const thread_permit last = threads->acquire();
    threads.reset();
    CHECK(last);
}
