#include <smdebug/storage/uri.hpp>

#include <doctest/doctest.h>

using namespace smdebug;
using namespace smdebug::detail;

static_assert(kind_of("s3://bucket/prefix") == uri_kind::s3);
static_assert(kind_of("runs/resnet") == uri_kind::directory);
static_assert(kind_of("/runs/s3:/x") == uri_kind::directory);
static_assert(kind_of("runs/resnet.tar") == uri_kind::archive);
static_assert(kind_of("runs/resnet.tar.gz") == uri_kind::archive);
static_assert(kind_of("resnet.tgz") == uri_kind::archive);
static_assert(kind_of("resnet.zip") == uri_kind::archive);
static_assert(kind_of("") == uri_kind::directory);
static_assert(kind_of("s3://bucket/run.tar") == uri_kind::s3);
static_assert(local_path("file:///runs/x") == "/runs/x");
static_assert(local_path("runs/x") == "runs/x");

TEST_CASE("uri: the path says where a run lies") {
    CHECK(kind_of("runs/resnet.tar/") == uri_kind::directory);
    CHECK(local_path("file://relative") == "relative");
}
