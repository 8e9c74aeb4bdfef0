#include <smdebug/batch/run_memory.hpp>

#include <doctest/doctest.h>

#include <type_traits>

TEST_CASE("run_memory: whoever counts is destroyed by its base, and not copied") {
    static_assert(std::has_virtual_destructor_v<smdebug::run_memory>);
    CHECK_FALSE(std::is_copy_constructible_v<smdebug::run_memory>);
}
