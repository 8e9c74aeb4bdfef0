// doctest's main, compiled once for all test programs: it is the slow part of doctest.
#define DOCTEST_CONFIG_IMPLEMENT
#include <smdebug/reduce/subnormals.hpp>

#include <doctest/doctest.h>

int main(int argc, char** argv) {
    // What tests expect is computed with subnormal numbers in programs linked with -ffast-math, too.
    const smdebug::reduce::detail::subnormals_kept here;
    return doctest::Context(argc, argv).run();
}
