#include <smdebug/s3.hpp>

#include "support/test.hpp"

#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/open_storage.hpp>

using namespace smdebug;
using namespace smdebug::detail;

// That other files of the program open buckets, too, and that programs without it say what they lack: tests/consumer.
TEST_CASE("s3.hpp: paths of buckets are opened, to read and to write, before any request is sent") {
    const s3_options options{.region = "eu-central-1", .anonymous = true};
    CHECK(open_storage("s3://bucket/run", {.s3 = options}).name().find("s3://bucket/run") != std::string::npos);
    CHECK(open_place("s3://bucket/run", options).name().find("s3://bucket/run") != std::string::npos);
}
