#include <smdebug/trial/load/loader.hpp>

#include "support/erased_storage.hpp"
#include "support/run_builder.hpp"
#include "support/test.hpp"
#include "support/thrown_code.hpp"
#include "trial/one_step.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/storage/memory_storage.hpp>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;

TEST_CASE("loader: once the job has ended the same file is damage; the last catalog stays usable") {
    memory_storage store;
    run_builder build{store};
    build.collections().step(one(1)).put(smdebug::detail::locations::index_key(2, "worker_0"), "{\"meta\"");
    const trial_options options;
    storage_loader load{store, options};
    const catalog run = load.open();
    build.step(one(3)).end();
    const corrupt_data thrown = caught<corrupt_data>([&] { return load.load(run); });
    CHECK(thrown.code() == error_code::corrupt_index);
    CHECK(thrown.where() == smdebug::detail::locations::index_key(2, "worker_0"));
    CHECK(thrown.step() == 2);
    CHECK(thrown.step_mode() == mode::global);
    CHECK(thrown.worker() == "worker_0");
    build.step(one(2));  // repaired: what was read before the damage is not lost to the next load
    const auto next = load.load(run);
    REQUIRE(next.has_value());
    CHECK(next->steps_of(mode::global, true) == std::vector<step_number>{1, 2, 3});
}

TEST_CASE("loader: damage other than a half-written file is damage in a running job, too") {
    for (const char* text : {"[]", "{}", R"({"meta": {}, "tensor_payload": []})"}) {
        memory_storage store;
        run_builder{store}.collections().step(one(1)).put(smdebug::detail::locations::index_key(2, "worker_0"), text);
        const trial_options options;
        CHECK(thrown_code([&] {
                  static_cast<void>(storage_loader{store, options}.open());
              }) == error_code::corrupt_index);
    }
    memory_storage store;
    run_builder{store}.collections().step(one(1)).put("index/000000000/garbage.json", "{}");
    const trial_options options;
    CHECK(thrown_code([&] { static_cast<void>(storage_loader{store, options}.open()); }) == error_code::corrupt_index);
}

TEST_CASE("loader: damage_policy::skip skips a damaged file and reports which") {
    memory_storage store;
    run_builder{store}
        .collections()
        .step(one(1))
        .put(smdebug::detail::locations::index_key(2, "worker_0"), "{")
        .put("index/000000000/garbage.json", "{}")
        .step(one(3))
        .end();
    const trial_options options{.damaged_index = damage_policy::skip};
    storage_loader load{store, options};
    const catalog run = load.open();
    CHECK(run.steps_of(mode::global, false) == std::vector<step_number>{1, 3});
    CHECK(run.loaded_all_steps);
    REQUIRE(load.problems().size() == 2);
    CHECK(load.problems()[0].where == smdebug::detail::locations::index_key(2, "worker_0"));
    CHECK(load.problems()[1].where == "index/000000000/garbage.json");
}

namespace {

/// Cannot read the index file of step 2, for a time; copies share that.
template <class Error>
struct with_unread_index : memory_storage {
    using memory_storage::memory_storage;
    std::shared_ptr<bool> refuses = std::make_shared<bool>(true);
    [[nodiscard]] byte_buffer read(std::string_view key, byte_range where = whole_object) const {
        if (*refuses && key == smdebug::detail::locations::index_key(2, "worker_0")) {
            throw Error("no", {.where = std::string{key}});
        }
        return memory_storage::read(key, where);
    }
};

template <class Error>
with_unread_index<Error> run_with_unread_index() {
    with_unread_index<Error> store;
    run_builder{store}.collections().step(one(1)).step(one(2)).step(one(3));
    return store;
}

/// The file is a problem that costs only its step, until it can be read.
void check_skips(const auto& store, const trial_options& options) {
    storage_loader load{store, options};
    const catalog run = load.open();
    CHECK(run.steps_of(mode::global, true) == std::vector<step_number>{1, 3});
    REQUIRE(load.problems().size() == 1);
    CHECK(load.problems()[0].where == smdebug::detail::locations::index_key(2, "worker_0"));
    *store.refuses = false;
    const auto next = load.load(run);
    REQUIRE(next.has_value());
    CHECK(next->steps.size() == 3);
    CHECK(load.problems().empty());
}

}  // namespace

TEST_CASE(
    "loader: an index file that is listed and not there, as a link to nothing, is a problem, and costs only itself") {
    check_skips(run_with_unread_index<not_found>(), {});
}

TEST_CASE("loader: damage_policy::skip skips what the storage cannot read, and withdraws the problem once it can") {
    const auto store = run_with_unread_index<access_denied>();
    const trial_options strict;
    CHECK_THROWS_AS(static_cast<void>(storage_loader{store, strict}.open()), access_denied);
    check_skips(store, {.damaged_index = damage_policy::skip});
}

TEST_CASE("loader: a damaged file that was removed is no longer a problem") {
    memory_storage store;
    run_builder build{store};
    const std::string key = smdebug::detail::locations::index_key(1, "worker_0");
    build.collections().step(one(0)).put(key,
                                         R"({"meta": {"mode": "NOT_ONE", "mode_step": 1, "event_file_name": "x"}})");
    const trial_options options{.damaged_index = damage_policy::skip};
    storage_loader load{store, options};
    const catalog run = load.open();
    CHECK(load.problems().size() == 1);
    store.remove(key);
    static_cast<void>(load.load(run));
    CHECK(load.problems().empty());
}
