#include <smdebug/batch/run_batch.hpp>

#include "support/test.hpp"

using namespace smdebug;

TEST_CASE("ordered_results: given on in order, or at once; nothing behind the end") {
    std::vector<std::size_t> out;
    const std::function<void(run_result&&)> emit = [&](run_result&& result) { out.push_back(result.steps); };
    detail::ordered_results ordered{emit, true, 2};
    ordered.take(2, {.steps = 2});
    ordered.take(1, {.steps = 1});
    CHECK(out.empty());
    ordered.take(0, {.steps = 0});
    CHECK(out == std::vector<std::size_t>{0, 1, 2});
    CHECK(ordered.wait_for_room(4));
    std::jthread other{[&] { ordered.take(3, {.steps = 3}); }};
    CHECK(ordered.wait_for_room(5));  // once the fourth is out
    other.join();
    ordered.end();
    CHECK_FALSE(ordered.wait_for_room(100));
    ordered.take(4, {.steps = 4});
    CHECK(out.size() == 4);
    out.clear();
    detail::ordered_results at_once{emit, false, 1};
    CHECK(at_once.wait_for_room(100));
    at_once.take(7, {.steps = 7});
    CHECK(out == std::vector<std::size_t>{7});
}
