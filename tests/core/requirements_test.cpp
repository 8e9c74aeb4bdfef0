#include <smdebug/core/bytes.hpp>

#include "support/test.hpp"

// tests/check_requirements.sh checks what the header refuses. Here: it needs no other header, and whatever it accepts
// has the language features that the library uses.
TEST_CASE("requirements: an accepted compiler has concepts and three-way comparison") {
    CHECK(__cpp_concepts >= 201907L);
    CHECK(__cpp_impl_three_way_comparison >= 201907L);
}
