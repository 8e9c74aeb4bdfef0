#include <smdebug/core/first_failure.hpp>

#include <doctest/doctest.h>

#include <stdexcept>

TEST_CASE("first_failure: every attempt is made, and the first failure is thrown") {
    int done = 0;
    smdebug::detail::first_failure failure;
    CHECK_NOTHROW(failure.rethrow());
    failure.attempt([&] { ++done; });
    failure.attempt([&]() -> void { throw std::runtime_error("first"); });
    failure.attempt([&]() -> void { throw std::logic_error("second"); });
    failure.attempt([&] { ++done; });
    CHECK(done == 2);
    CHECK_THROWS_WITH_AS(failure.rethrow(), "first", std::runtime_error);
}
