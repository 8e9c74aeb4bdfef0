#include <smdebug/trial/load/loader.hpp>

#include "support/run_builder.hpp"
#include "support/scripted_storage.hpp"
#include "support/test.hpp"
#include "trial/one_step.hpp"

#include <smdebug/storage/memory_storage.hpp>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;
using steps_list = std::vector<step_number>;

namespace {

// A run over a storage that can only list, refreshed by hand.
struct listed_run {
    scripted_storage store;
    run_builder<scripted_storage> build{store};
    trial_options options;
    std::optional<any_storage> seen;
    std::optional<loader> load;
    catalog last;

    explicit listed_run(std::vector<std::string> workers, int window = 1000) {
        options.incomplete_step_wait_window = window;
        build.collections(workers);
    }
    void open() {
        seen.emplace(store);
        load.emplace(*seen, options);
        last = load->open();
    }
    void refresh() {
        store.plays().listed_after.clear();
        if (auto next = load->load(last)) {
            last = *std::move(next);
        }
    }
    [[nodiscard]] const std::vector<std::string>& listed_after() const { return store.plays().listed_after; }
};

}  // namespace

TEST_CASE("index_listing: a storage that follows its folders reports what is new, and everything after forget") {
    memory_storage store;
    run_builder build{store};
    build.step(one(1)).step(one(2));
    const any_storage seen{store};
    index_listing listing{seen, 10};
    const catalog nothing;
    CHECK(listing.next(nothing).size() == 2);
    build.step(one(0));
    const auto late = listing.next(nothing);
    REQUIRE(late.size() == 1);
    CHECK(late[0].key == smdebug::detail::locations::index_key(0, "worker_0"));
    CHECK(listing.next(nothing).empty());
    listing.forget();
    CHECK(listing.next(nothing).size() == 3);
}

TEST_CASE("index_listing: without following, complete steps are not listed again") {
    listed_run run{{"worker_0"}};
    run.build.step(one(3)).step(one(998));
    run.open();
    CHECK(run.listed_after().front().empty());  // everything, the first time
    run.refresh();
    CHECK(run.listed_after() == std::vector<std::string>{"index/000000000/000000000999"});
    run.build.step(one(999)).step(one(1000)).step(one(2005));
    run.refresh();
    CHECK(run.last.steps_of(mode::global, false) == steps_list{3, 998, 999, 1000, 2005});
    run.refresh();
    CHECK(run.listed_after() == std::vector<std::string>{"index/000000002/000000002006"});
}

TEST_CASE("index_listing: steps that a worker has not written yet are listed again, as far as the window goes") {
    listed_run run{{"worker_0", "worker_1"}, 4};
    run.build.step(one(0)).step(one(0, "worker_1")).step(one(1)).step(one(2)).step(one(3));
    run.open();
    run.build.step(one(1, "worker_1"));
    run.refresh();
    CHECK(run.last.last_complete_step == 1);
    run.refresh();
    CHECK(run.listed_after().front() == "index/000000000/000000000002");
    // Worker 1 has died: steps beyond the window no longer wait for it.
    for (step_number step = 4; step < 20; ++step) {
        run.build.step(one(step));
    }
    run.refresh();
    run.refresh();
    CHECK(run.listed_after().front() == "index/000000000/000000000016");
    run.build.step(one(17, "worker_1"));
    run.refresh();
    CHECK(run.last.find_step(17)->file_count == 2);
}

TEST_CASE("index_listing: late files that are out of order are seen at the latest when the job has ended") {
    listed_run run{{"worker_0"}};
    run.build.step(one(10));
    run.open();
    run.build.step(one(7));
    run.refresh();
    CHECK(run.last.steps_of(mode::global, true) == steps_list{10});
    run.build.end();
    run.refresh();
    CHECK(run.listed_after() == std::vector<std::string>{""});
    CHECK(run.last.steps_of(mode::global, true) == steps_list{7, 10});
    CHECK(run.last.loaded_all_steps);
}

TEST_CASE("index_listing: step numbers that do not fit their names are always listed") {
    listed_run large{{"worker_0"}};
    large.build.step(one(3'000'000'000'000));
    large.open();
    large.build.step(one(20'000'000'000'000));
    large.refresh();  // its key sorts before the other one
    CHECK(large.last.steps.size() == 2);
}
