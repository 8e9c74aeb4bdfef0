#include <smdebug/trial/open_storage.hpp>

#include "support/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <smdebug/s3.hpp>

#include <string>

using namespace smdebug;

TEST_CASE("open_storage: the path says which storage it is") {
    CHECK(open_storage("/some/folder").name() == "/some/folder");
    CHECK(open_storage("file:///some/folder").name() == "/some/folder");
    // Nobody is asked before something is read.
    const smdebug_test::temporary_folder folder;
    const storage_options near{.s3 = {.region = "eu-central-1", .endpoint = "http://127.0.0.1:1", .anonymous = true}};
    CHECK(open_storage("s3://bucket/run/", near).name() == "s3://bucket/run");
    storage_options on_disk = near;
    on_disk.cache_folder = folder.path();
    CHECK(open_storage("s3://bucket/run", on_disk).name() == "s3://bucket/run");
    CHECK_THROWS_AS(static_cast<void>(open_storage("run.tgz")), unsupported);
    CHECK_THROWS_AS(static_cast<void>(open_storage("s3:///run", near)), value_error);
}

TEST_CASE("open_storage: what is far is not looked at in place, and its parts come together") {
    const storage_options near{.s3 = {.region = "eu-central-1", .endpoint = "http://127.0.0.1:1", .anonymous = true}};
    const any_storage bucket = open_storage("s3://bucket/run", near);
    CHECK_FALSE(worth_viewing(bucket));
    CHECK(worth_batching_ranges(bucket));
    CHECK(worth_viewing(open_storage("/some/folder")));
    CHECK_FALSE(worth_batching_ranges(open_storage("/some/folder")));
}
