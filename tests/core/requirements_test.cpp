#include <smdebug/core/requirements.hpp>

#include <doctest/doctest.h>

// That it refuses what is missing is seen by tests/check_requirements.sh; here, that it asks for nothing else: a header
// that stands before any other includes none, and what it lets pass has what the library is written in.
TEST_CASE("requirements: what passes has concepts and three-way comparison") {
    CHECK(__cpp_concepts >= 201907L);
    CHECK(__cpp_impl_three_way_comparison >= 201907L);
}
