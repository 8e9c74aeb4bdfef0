#include <smdebug/own_s3_policies.hpp>

#include "support/fake_s3.hpp"

#include <doctest/doctest.h>

#include <smdebug/core/bytes.hpp>
#include <smdebug/s3/credentials.hpp>
#include <smdebug/s3/s3_storage.hpp>

using namespace smdebug;

TEST_CASE("own_s3_policies: a bucket over a transport and credentials that the library does not know") {
    const smdebug_test::fake_s3 server;
    s3_storage<smdebug_test::fake_s3, static_credentials> bucket{
        "s3://bucket/run", smdebug_test::quick_options(), server,
        static_credentials{*smdebug_test::fake_s3_options{}.keys}};
    bucket.write("a/b", as_bytes("text"));
    CHECK(as_text(bucket.read("a/b").view()) == "text");
    CHECK(bucket.list("a/", "").size() == 1);
}
