#include <smdebug/core/ordered_thread_pool.hpp>

#include "support/test.hpp"

TEST_CASE("exception_collector: all attempts run, and the first failure is thrown") {
    int done = 0;
    smdebug::detail::exception_collector failure;
    CHECK_NOTHROW(failure.rethrow());
    failure.attempt([&] { ++done; });
    failure.attempt([&]() -> void { throw std::runtime_error("first"); });
    failure.attempt([&]() -> void { throw std::logic_error("second"); });
    failure.attempt([&] { ++done; });
    CHECK(done == 2);
    CHECK_THROWS_WITH_AS(failure.rethrow(), "first", std::runtime_error);
}
