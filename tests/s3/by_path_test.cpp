#include <smdebug/s3/by_path.hpp>

#include "support/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <smdebug/core/error.hpp>
#include <smdebug/s3.hpp>
#include <smdebug/s3/options.hpp>
#include <smdebug/storage/any_place.hpp>
#include <smdebug/storage/any_storage.hpp>

#include <string>

using namespace smdebug;

// What happens in a program without <smdebug/s3.hpp>, tests/consumer shows.

TEST_CASE("by_path: where s3.hpp is included, a path is a bucket to read and to write; nobody is asked yet") {
    const s3_options options{.region = "eu-central-1", .anonymous = true};
    CHECK(s3::storage_of("s3://bucket/some/run", {.s3 = options}).name().find("s3://bucket/some/run") !=
          std::string::npos);
    const any_place place = s3::place_of("s3://bucket/some/run", options);
    CHECK(place.name().find("s3://bucket/some/run") != std::string::npos);
    CHECK(place.removes());
    CHECK_FALSE(place.claims());
}

TEST_CASE("by_path: with a cache on disk it is the same bucket") {
    const smdebug_test::temporary_folder folder;
    const s3_options options{.region = "eu-central-1", .anonymous = true};
    const any_storage kept =
        s3::storage_of("s3://bucket/run", {.s3 = options, .cache_folder = folder.path() + "/cache"});
    CHECK(kept.name().find("s3://bucket/run") != std::string::npos);
}

TEST_CASE("by_path: an address that can be none is refused by its own words") {
    for (const char* text : {"s3://", "s3:///run", "s3://a b/run"}) {
        CAPTURE(text);
        CHECK_THROWS_AS(static_cast<void>(s3::storage_of(text, {})), value_error);
        CHECK_THROWS_AS(static_cast<void>(s3::place_of(text, {})), value_error);
    }
}
