#include <smdebug/core/ordered_thread_pool.hpp>

#include "support/test.hpp"

using smdebug::detail::synchronized;

TEST_CASE("synchronized: threads that change the value one after another lose nothing") {
    synchronized<std::vector<int>> numbers;
    {
        std::vector<std::jthread> threads;
        for (int thread = 0; thread < 4; ++thread) {
            threads.emplace_back([&] {
                for (int i = 0; i < 1000; ++i) {
                    numbers.lock()->push_back(i);
                }
            });
        }
    }
    CHECK(numbers.lock()->size() == 4000);
}

TEST_CASE("synchronized: the value is made in place, and is neither copied nor moved") {
    synchronized<std::unique_ptr<std::string>> text{std::make_unique<std::string>("x")};
    CHECK(**text.lock() == "x");
    static_assert(!std::is_copy_constructible_v<synchronized<int>> && !std::is_move_constructible_v<synchronized<int>>);
}
