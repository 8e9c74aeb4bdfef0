// doctest's main, compiled once for all test programs: it is the slow part of doctest.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
