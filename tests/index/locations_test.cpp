#include <smdebug/index/locations.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::detail::locations;

static_assert(base_name("index/000000000/x.json") == "x.json");
static_assert(base_name("x.json") == "x.json");
static_assert(parse_index_key("index/000000000/000000000012_worker_0.json")->step == 12);
static_assert(parse_index_key("index/000000000/000000000012_worker_0.json")->worker_part == "worker_0");
static_assert(parse_index_key("index/12_w.csv")->worker_part == "w");
static_assert(!parse_index_key("index/garbage.json"));
static_assert(!parse_index_key("index/12.json"));
static_assert(!parse_index_key("index/12_.json"));
static_assert(!parse_index_key("index/_worker_0.json"));
static_assert(!parse_index_key("index/-1_worker_0.json"));
static_assert(parse_index_key("index/9223372036854775806_w.json")->step == std::numeric_limits<step_number>::max() - 1);
static_assert(!parse_index_key("index/9223372036854775807_w.json"));
static_assert(!parse_index_key("index/9223372036854775808_w.json"));
static_assert(!parse_index_key("index/99999999999999999999999999_w.json"));
static_assert(is_index_file("a.json") && is_index_file("a.csv") && !is_index_file("a.json.tmp") &&
              !is_index_file("README.txt"));
static_assert(!is_index_file("index/000000000/._000000000000_worker_0.json"));
static_assert(!is_index_file("index/../../a.json") && !is_index_file("/a.csv") && is_index_file("index/..a.json"));

TEST_CASE("locations: TensorFlow's device names stand in file names with _ for / and - for :") {
    const std::string part = "_job-worker_replica-0_task-1_device-GPU-0";
    const std::string worker = "/job:worker/replica:0/task:1/device:GPU:0";
    CHECK(worker_from_file_part(part) == worker);
    CHECK(file_part_from_worker(worker) == part);
}

TEST_CASE("locations: every other worker name is taken literally, whatever it holds") {
    for (const std::string name : {"worker_0", "worker__0", "_worker", "a_replica-0", "w-1_x", "double__underscore"}) {
        CAPTURE(name);
        CHECK(worker_from_file_part(name) == name);
        CHECK(file_part_from_worker(name) == name);
    }
}

TEST_CASE("locations: keys are those of the Python package") {
    CHECK(smdebug::detail::locations::index_key(12345, "worker_0") == "index/000000012/000000012345_worker_0.json");
    CHECK(event_key(12345, "worker_0") == "events/000000012345/000000012345_worker_0.tfevents");
    CHECK(collections_key("worker_0") == "collections/000000000/worker_0_collections.json");
    CHECK(smdebug::detail::locations::index_key(1'000'000'000'000, "w") == "index/1000000000/1000000000000_w.json");
    const auto back = parse_index_key(smdebug::detail::locations::index_key(12345, "worker_0"));
    REQUIRE(back.has_value());
    CHECK(back->step == 12345);
    const std::string event = event_key(7, "/job:worker/replica:0/task:1/device:GPU:0");
    CHECK(event == "events/000000000007/000000000007__job-worker_replica-0_task-1_device-GPU-0.tfevents");
    const auto parsed = parse_step_file(event, ".tfevents");
    REQUIRE(parsed.has_value());
    CHECK(worker_from_file_part(parsed->worker_part) == "/job:worker/replica:0/task:1/device:GPU:0");
}

TEST_CASE("locations: event and index files are written once, whatever changes is not") {
    for (const char* key : {"index/000000000/000000000000_worker_0.json", "index/0/0_w.csv", "a/index/0/0_w.json",
                            "events/0/0_w.tfevents", "x.tfevents"}) {
        CAPTURE(key);
        CHECK(is_written_once(key));
    }
    for (const char* key : {"collections/000000000/worker_0_collections.json", "training_job_end.ts",
                            "index/0/0.tmp.1.0", "claims/worker_0", "events/0/0_w.tfevents.tmp",
                            "tensorboard/events.out.tfevents.1.host", "theindex/a.json"}) {
        CAPTURE(key);
        CHECK_FALSE(is_written_once(key));
    }
}

TEST_CASE("locations: the worker of a collections file") {
    CHECK(worker_of_collections_file("collections/000000000/worker_3_collections.json") == "worker_3");
    CHECK(worker_of_collections_file("collections/000000000/collections.json") == "worker_0");
    CHECK(worker_of_collections_file(
              "collections/000000000/_job-worker_replica-0_task-1_device-GPU-0_collections.json") ==
          "/job:worker/replica:0/task:1/device:GPU:0");
    CHECK_FALSE(worker_of_collections_file("collections/000000000/_collections.json").has_value());
    CHECK_FALSE(worker_of_collections_file("collections/000000000/worker_0_collections.json.tmp").has_value());
    CHECK_FALSE(worker_of_collections_file("collections/README.txt").has_value());
    CHECK_FALSE(worker_of_collections_file("collections/../worker_0_collections.json").has_value());
    CHECK_FALSE(worker_of_collections_file("collections/../collections.json").has_value());
}
