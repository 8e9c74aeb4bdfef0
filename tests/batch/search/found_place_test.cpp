#include <smdebug/batch/search/found_place.hpp>

#include "support/test.hpp"

using namespace smdebug::detail;

TEST_CASE("run_of_key: the outermost folder that has collections, events or an index in groups of steps") {
    CHECK(run_of_key("a/b/index/000000000/000000000000_worker_0.json") == "a/b");
    CHECK(run_of_key("a/events/000000000012/000000000012_worker_0.tfevents") == "a");
    CHECK(run_of_key("collections/000000000/worker_0_collections.json") == "");
    CHECK(run_of_key("index/index/000000000/x") == "index");
    CHECK(run_of_key("a/events/000000000/index/000000000/x") == "a");
    for (const std::string_view none :
         {"", "a", "index/x", "index/00000000/x", "index/00000000a/x", "a/index/000000000", "xindex/000000000/x",
          "index0/000000000/x", "/", "index//x", "index"}) {
        CAPTURE(none);
        CHECK_FALSE(run_of_key(none).has_value());
    }
}

TEST_CASE("path_below: a path that is read as it is meant") {
    CHECK(path_below("runs", "a") == "runs/a");
    CHECK(path_below("/", "a") == "/a");
    CHECK(path_below(".", "a") == "a");
    CHECK(path_below(".", "~") == "./~");
    CHECK(path_below(".", "s3:") == "./s3:");
    CHECK(path_below(".", "a/b:c") == "a/b:c");
    CHECK(path_below("runs", "~") == "runs/~");
}
