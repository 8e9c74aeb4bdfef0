#include <smdebug/trial/load/opening.hpp>

#include "support/run_builder.hpp"
#include "support/test.hpp"
#include "support/thrown_code.hpp"

#include <smdebug/storage/memory_storage.hpp>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;
using namespace std::chrono_literals;

namespace {

catalog::job_description open(const memory_storage& store, bool& seen_running, trial_options how = {}) {
    smdebug::detail::json::document parser;
    const any_storage files{store};
    run_contents none;
    return collections_wait{files, how, parser, nullptr, none}.wait(seen_running);
}
catalog::job_description open(const memory_storage& store, trial_options how = {}) {
    bool seen_running = false;
    return open(store, seen_running, std::move(how));
}

}  // namespace

TEST_CASE("collections_wait: returns what the collections files say, and whether the job was seen running") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_1", "worker_0"}, {{"losses", {"loss"}}});
    bool seen_running = false;
    const auto job = open(store, seen_running);
    CHECK(job.num_workers == 2);
    CHECK(job.collection_workers == std::vector<std::string>{"worker_0", "worker_1"});
    CHECK(job.collections.contains("losses"));
    CHECK(seen_running);
    build.end();
    seen_running = false;
    CHECK(open(store, seen_running).num_workers == 2);
    CHECK_FALSE(seen_running);
}

TEST_CASE("collections_wait: is woken by a storage that announces what is written") {
    memory_storage store;
    const std::jthread writer{[&] {
        std::this_thread::sleep_for(10ms);
        run_builder{store}.collections();
    }};
    CHECK(open(store, {.open_timeout = 60s, .poll_interval = 24h}).num_workers == 1);
}

TEST_CASE("collections_wait: a job that has ended without its collections files is not waited for") {
    memory_storage store;
    run_builder{store}.end();
    CHECK(thrown_code([&] { static_cast<void>(open(store, {.open_timeout = 1h})); }) ==
          error_code::missing_collection_files);
}

TEST_CASE("collections_wait: a cut file may still be written while the job runs, and is damage when it has ended") {
    memory_storage store;
    run_builder build{store};
    build.put(smdebug::detail::locations::collections_key("worker_0"), "{\"coll");
    CHECK(thrown_code([&] { static_cast<void>(open(store, {.open_timeout = 3ms, .poll_interval = 1ms})); }) ==
          error_code::corrupt_collections_file);
    {
        const std::jthread writer{[&] {
            std::this_thread::sleep_for(10ms);
            build.collections();
        }};
        CHECK(open(store, {.open_timeout = 60s}).num_workers == 1);
    }
    build.put(smdebug::detail::locations::collections_key("worker_0"), "{\"coll").end();
    CHECK(thrown_code([&] { static_cast<void>(open(store, {.open_timeout = 1h})); }) ==
          error_code::corrupt_collections_file);
}
