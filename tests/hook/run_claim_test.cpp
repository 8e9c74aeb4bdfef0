#include <smdebug/hook/earlier_run.hpp>

#include "hook/object_store.hpp"
#include "support/child_process.hpp"
#include "support/scripted_storage.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"
#include "support/thrown_code.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>

#include <unistd.h>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;

namespace {

const std::string device = "/job:worker/replica:0/task:1/device:GPU:0";

template <class Storage>
void mark_begun(Storage& store, const std::string& worker) {
    store.write(smdebug::detail::locations::collections_key(worker), as_bytes("{}"));
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
        run_claim first{any_storage{store}, "worker_0", 1};
        CHECK(store.claimed("claim.smd"));
        CHECK(thrown_code([&] { static_cast<void>(run_claim(any_storage{store}, "worker_0", 1)); }) ==
              error_code::in_use);
        CHECK(thrown_code([&] { static_cast<void>(run_claim(any_storage{store}, "worker_1", 1)); }) ==
              error_code::in_use);
        CHECK(first.release());
        CHECK_FALSE(store.claimed("claim.smd"));
        const run_claim second{any_storage{store}, "worker_0", 1};
    }
    CHECK(store.list("", "").empty());
}

TEST_CASE("run_claim: of several the last one knows, in whatever order they go") {
    std::array<std::string, 3> workers{"worker_0", "worker_1", device};
    std::ranges::sort(workers);
    do {
        memory_storage store;
        std::vector<std::unique_ptr<run_claim>> claims;
        for (const std::string& worker : workers) {
            claims.push_back(std::make_unique<run_claim>(any_storage{store}, worker, 3));
            CHECK(thrown_code([&] { static_cast<void>(run_claim(any_storage{store}, worker, 3)); }) ==
                  error_code::in_use);
            mark_begun(store, worker);
        }
        CHECK_FALSE(claims[0]->release());
        CHECK_FALSE(claims[1]->release());
        CHECK(claims[2]->release());
    } while (std::ranges::next_permutation(workers).found);
}

TEST_CASE("run_claim: waits for workers that have not begun, not for dead ones") {
    const temporary_folder folder;
    local_storage store{folder.path()};
    run_claim first{any_storage{store}, "worker_0", 3};
    mark_begun(store, "worker_0");
    run_claim second{any_storage{store}, "worker_1", 3};
    mark_begun(store, "worker_1");
    CHECK_FALSE(first.release());
    CHECK_FALSE(second.release());  // worker_2 has not begun
    CHECK(status_of_child([&]() -> int {
              local_storage own{folder.path()};
              const run_claim dies{any_storage{own}, "worker_2", 3};
              mark_begun(own, "worker_2");
              ::_exit(7);
          }) == 7);
    run_claim again{any_storage{store}, "worker_0", 3};
    CHECK(again.release());
}

TEST_CASE("run_claim: ignores other files among the collections") {
    memory_storage store;
    run_claim first{any_storage{store}, "worker_0", 2};
    mark_begun(store, "worker_0");
    for (const char* other : {"collections/000000000/notes.json", "collections/000000000/worker_1_collections.tmp.1.0",
                              "collections/000000000/_collections.json"}) {
        store.write(other, {});
    }
    CHECK_FALSE(first.release());
}

TEST_CASE("run_claim: a place that is known at run time keeps claims where what is in it does") {
    any_storage store{memory_storage{}};
    run_claim first{store, "worker_0", 2};
    first.begin();
    CHECK(thrown_code([&] { static_cast<void>(run_claim(store, "worker_0", 2)); }) == error_code::in_use);
    CHECK(thrown_code([&] { static_cast<void>(run_claim(store, "worker_0", 1)); }) == error_code::in_use);
    mark_begun(store, "worker_0");
    mark_begun(store, "worker_1");
    run_claim second{store, "worker_1", 2};
    CHECK_FALSE(first.release());
    CHECK(second.release());
}

TEST_CASE("run_claim: where a storage can neither claim nor remove everybody may write, and is the last one") {
    scripted_storage plain;
    const any_storage store{plain};
    run_claim first{store, "worker_0", 2};
    run_claim second{store, "worker_0", 2};
    first.begin();
    second.begin();
    CHECK(first.release());
    CHECK(second.release());
    CHECK(plain.list("", "").empty());
}

// --- signs ----------------------------------------------------------------------------------------------------------

namespace {

std::vector<std::string> signs_in(const memory_storage& objects) { return objects.list("claim", ""); }

}  // namespace

TEST_CASE("run_claim: without claims, of several workers the last one knows by the signs of the others") {
    std::array<std::string, 3> workers{"worker_0", "worker_1", device};
    std::ranges::sort(workers);
    do {
        const memory_storage objects;
        any_storage store = like_s3(objects);
        std::vector<std::unique_ptr<run_claim>> claims;
        for (const std::string& worker : workers) {
            claims.push_back(std::make_unique<run_claim>(store, worker, 3));
            CHECK_FALSE(objects.size(claim_key(worker, 3)));  // nothing before it begins
            claims.back()->begin();
            CHECK(objects.size(claim_key(worker, 3)));
            mark_begun(store, worker);
        }
        CHECK_FALSE(claims[0]->release());
        CHECK_FALSE(claims[1]->release());
        CHECK(signs_in(objects) == std::vector<std::string>{claim_key(workers[2], 3)});
        CHECK(claims[2]->release());
        CHECK(signs_in(objects).empty());
    } while (std::ranges::next_permutation(workers).found);
}

TEST_CASE("run_claim: a sign excludes no process, and the only writer leaves none") {
    const memory_storage objects;
    object_store store{objects};
    run_claim alone{any_storage{store}, "worker_0", 1};
    run_claim another{any_storage{store}, "worker_0", 1};
    alone.begin();
    another.begin();
    CHECK(signs_in(objects).empty());
    run_claim first{any_storage{store}, "worker_0", 2};
    first.begin();
    run_claim second{any_storage{store}, "worker_0", 2};
    second.begin();
    CHECK(signs_in(objects) == std::vector<std::string>{"claim_worker_0.smd"});
    CHECK(alone.release());
    CHECK(another.release());
    CHECK(signs_in(objects).size() == 1);
}

TEST_CASE("run_claim: without claims, waits for workers that have not begun, and for dead ones until they return") {
    const memory_storage objects;
    any_storage store = like_s3(objects);
    const auto begun = [&](const std::string& worker) {
        auto made = std::make_unique<run_claim>(store, worker, 2);
        made->begin();
        return made;
    };
    auto first = begun("worker_0");
    mark_begun(store, "worker_0");
    CHECK_FALSE(first->release());  // worker_1 has not begun
    auto dies = begun("worker_1");
    mark_begun(store, "worker_1");
    dies.reset();
    CHECK(signs_in(objects) == std::vector<std::string>{"claim_worker_1.smd"});
    auto again = begun("worker_0");
    CHECK_FALSE(again->release());
    auto lives = begun("worker_1");
    CHECK(lives->release());
    CHECK(signs_in(objects).empty());
}

TEST_CASE("run_claim: one that never began leaves the sign of the one before it alone") {
    const memory_storage objects;
    any_storage store = like_s3(objects);
    run_claim first{store, "worker_0", 2};
    first.begin();
    { const run_claim refused{store, "worker_0", 2}; }
    CHECK(signs_in(objects).size() == 1);
}

TEST_CASE("run_claim: a listing that still shows removed signs does not keep a worker from being the last one") {
    struct out_of_date : object_store {
        using object_store::object_store;
        [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const {
            std::vector<std::string> keys = object_store::list(prefix, after);
            if (prefix.starts_with("claim")) {
                keys = {"claim_worker_0.smd", "claim_worker_1.smd"};
            }
            return keys;
        }
    };
    out_of_date store{memory_storage{}};
    run_claim first{any_storage{store}, "worker_0", 2};
    first.begin();
    mark_begun(store, "worker_0");
    mark_begun(store, "worker_1");
    CHECK(first.release());
}

TEST_CASE("run_claim: if workers finish at the same moment, release() returns true for at least one") {
    for (int round = 0; round < 200; ++round) {
        constexpr std::size_t count = 3;
        any_storage store = like_s3(memory_storage{});
        std::vector<std::unique_ptr<run_claim>> claims;
        for (std::size_t worker = 0; worker < count; ++worker) {
            const std::string name = "worker_" + std::to_string(worker);
            claims.push_back(std::make_unique<run_claim>(store, name, count));
            claims.back()->begin();
            mark_begun(store, name);
        }
        std::atomic<bool> go{false};
        std::atomic<int> last{0};
        {
            std::vector<std::jthread> threads;
            for (const auto& claim : claims) {
                threads.emplace_back([&] {
                    go.wait(false);
                    last += claim->release() ? 1 : 0;
                });
            }
            go = true;
            go.notify_all();
        }
        REQUIRE(last >= 1);
        REQUIRE(store.list("claim", "").empty());
    }
}
