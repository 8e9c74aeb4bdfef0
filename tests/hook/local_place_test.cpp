#include <smdebug/hook/local_place.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

using smdebug::detail::local_place_of;

TEST_CASE("local_place_of: paths as users write them") {
    CHECK(local_place_of("runs/a") == "runs/a");
    CHECK(local_place_of("file:///runs/a") == "/runs/a");
    CHECK(local_place_of("~a/b") == "~a/b");
    const char* const home = std::getenv("HOME");
    if (home != nullptr) {
        CHECK(local_place_of("~/runs") == std::string{home} + "/runs");
        CHECK(local_place_of("~") == home);
    }
}

TEST_CASE("local_place_of: what is no folder is refused, not made into one") {
    for (const char* other : {"s3://bucket/run", "runs/a.tar", "file:///runs/a.zip"}) {
        CHECK_THROWS_AS(static_cast<void>(local_place_of(other)), smdebug::unsupported);
    }
}
