#include <smdebug/hook/open_place.hpp>

#include "support/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/hook/place_opener.hpp>
#include <smdebug/s3.hpp>
#include <smdebug/storage/any_place.hpp>

#include <cstdlib>
#include <string>

using namespace smdebug;
using namespace smdebug::detail;

TEST_CASE("open_place: a folder, as users write it, with all that a disk can do") {
    const smdebug_test::temporary_folder folder;
    for (const std::string& text : {folder.path() + "/a", "file://" + folder.path() + "/b/"}) {
        CAPTURE(text);
        any_place place = open_place(text);
        CHECK_FALSE(place.exists());
        place.write("key", as_bytes("x"));
        CHECK(place.exists());
        CHECK(place.claims());
        CHECK(place.removes());
    }
    CHECK(smdebug_test::file_content(folder.path() + "/a/key") == "x");
    CHECK(smdebug_test::file_content(folder.path() + "/b/key") == "x");
    if (const char* const home = std::getenv("HOME")) {
        CHECK(open_place("~/runs").name() == std::string{home} + "/runs");
    }
}

TEST_CASE("open_place: objects in S3, which keep no claims; nobody is asked before there is something to do") {
    for (const char* text : {"s3://bucket/some/run", "s3://bucket/some/run/"}) {
        const any_place place = open_place(text, {.region = "eu-central-1", .anonymous = true});
        CHECK(place.name().find("s3://bucket/some/run") != std::string::npos);
        CHECK_FALSE(place.claims());
        CHECK(place.removes());
    }
    CHECK(place_opener<any_place>::open("s3://bucket/run.tar").name().find("run.tar") != std::string::npos);
}

TEST_CASE("open_place: what is no place is refused, not made into a folder") {
    for (const char* text : {"runs/a.tar", "file:///runs/a.zip", "/runs/a.tar.gz", "b.tgz"}) {
        CAPTURE(text);
        CHECK_THROWS_AS(static_cast<void>(open_place(text)), unsupported);
    }
    for (const char* text : {"s3://", "s3:///run", "s3://a b/run"}) {
        CAPTURE(text);
        CHECK_THROWS_AS(static_cast<void>(open_place(text)), value_error);
    }
}
