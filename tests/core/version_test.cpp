#include <smdebug/core/version.hpp>

#include "support/test.hpp"

// The numbers are for #if; CMake reads the package's version, which consumer/ requires, from the same header.
#if !defined(SMDEBUG_VERSION_MAJOR) || !defined(SMDEBUG_VERSION_MINOR) || !defined(SMDEBUG_VERSION_PATCH)
#error "a version macro is missing"
#endif

TEST_CASE("version: #if and the build see the same three numbers") {
#if SMDEBUG_VERSION_MAJOR < 1000 && SMDEBUG_VERSION_MINOR < 1000 && SMDEBUG_VERSION_PATCH < 1000
    CHECK(SMDEBUG_VERSION_MAJOR == SMDEBUG_BUILD_VERSION_MAJOR);
    CHECK(SMDEBUG_VERSION_MINOR == SMDEBUG_BUILD_VERSION_MINOR);
    CHECK(SMDEBUG_VERSION_PATCH == SMDEBUG_BUILD_VERSION_PATCH);
#else
    FAIL("not what #if sees as small numbers");
#endif
}
