#include <smdebug/hook/run_claim.hpp>

#include "support/child_process.hpp"
#include "support/scripted_storage.hpp"
#include "support/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <smdebug/core/error.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

using namespace smdebug;
using namespace smdebug_test;

namespace {

const std::string device = "/job:worker/replica:0/task:1/device:GPU:0";

template <class Storage>
void mark_begun(Storage& store, const std::string& worker) {
    store.write(locations::collections_key(worker), as_bytes("{}"));
}

}  // namespace

TEST_CASE("claim_key: the only writer's is the Python package's, those of several are their own") {
    CHECK(claim_key("worker_0", 1) == "claim.smd");
    CHECK(claim_key("worker_3", 1) == "claim.smd");
    CHECK(claim_key("worker_0", 2) == "claim_worker_0.smd");
    CHECK(claim_key(device, 4) == "claim__job-worker_replica-0_task-1_device-GPU-0.smd");
}

TEST_CASE("run_claim: the only writer keeps others out while it lives, and is the last one") {
    memory_storage store;
    {
        run_claim first{store, "worker_0", 1};
        CHECK(store.claimed("claim.smd"));
        CHECK_THROWS_AS(run_claim(store, "worker_0", 1), in_use);
        CHECK_THROWS_AS(run_claim(store, "worker_1", 1), in_use);
        CHECK(first.release());
        CHECK_FALSE(store.claimed("claim.smd"));
        const run_claim second{store, "worker_0", 1};
    }
    CHECK(store.list("", {}).empty());
}

TEST_CASE("run_claim: of several the last one knows, in whatever order they go") {
    std::array<std::string, 3> workers{"worker_0", "worker_1", device};
    std::ranges::sort(workers);
    do {
        memory_storage store;
        std::vector<std::unique_ptr<run_claim<memory_storage>>> claims;
        for (const std::string& worker : workers) {
            claims.push_back(std::make_unique<run_claim<memory_storage>>(store, worker, 3));
            CHECK_THROWS_AS(run_claim(store, worker, 3), in_use);
            mark_begun(store, worker);
        }
        CHECK_FALSE(claims[0]->release());
        CHECK_FALSE(claims[1]->release());
        CHECK(claims[2]->release());
    } while (std::ranges::next_permutation(workers).found);
}

TEST_CASE("run_claim: who has not begun is waited for, who has died is not") {
    const temporary_folder folder;
    local_storage store{folder.path()};
    run_claim first{store, "worker_0", 3};
    mark_begun(store, "worker_0");
    run_claim second{store, "worker_1", 3};
    mark_begun(store, "worker_1");
    CHECK_FALSE(first.release());
    CHECK_FALSE(second.release());  // worker_2 has not begun
    CHECK(status_of_child([&]() -> int {
              local_storage own{folder.path()};
              const run_claim dies{own, "worker_2", 3};
              mark_begun(own, "worker_2");
              ::_exit(7);
          }) == 7);
    run_claim again{store, "worker_0", 3};
    CHECK(again.release());
}

TEST_CASE("run_claim: other files among the collections count for nothing") {
    memory_storage store;
    run_claim first{store, "worker_0", 2};
    mark_begun(store, "worker_0");
    for (const char* other : {"collections/000000000/notes.json", "collections/000000000/worker_1_collections.tmp.1.0",
                              "collections/000000000/_collections.json"}) {
        store.write(other, {});
    }
    CHECK_FALSE(first.release());
}

TEST_CASE("run_claim: where a storage keeps no claims everybody may write, and is the last one") {
    scripted_storage store;
    run_claim first{store, "worker_0", 2};
    run_claim second{store, "worker_0", 2};
    CHECK(first.release());
    CHECK(second.release());
    CHECK(store.list("", {}).empty());
}
