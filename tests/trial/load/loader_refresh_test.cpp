#include <smdebug/trial/load/loader.hpp>

#include "support/erased_storage.hpp"
#include "support/run_builder.hpp"
#include "support/scripted_storage.hpp"
#include "support/test.hpp"
#include "trial/one_step.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/storage/memory_storage.hpp>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;

TEST_CASE("loader: a refresh finds what is new, wherever it sorts, and reports when there is nothing") {
    memory_storage store;
    run_builder build{store};
    build.collections().step(one(5));
    const trial_options options;
    storage_loader load{store, options};
    catalog run = load.open();
    CHECK_FALSE(load.load(run).has_value());
    build.step(one(3));
    auto next = load.load(run);
    REQUIRE(next.has_value());
    CHECK(next->steps_of(mode::global, true) == std::vector<step_number>{3, 5});
    CHECK_FALSE(next->loaded_all_steps);
    build.step(one(7)).end();
    next = load.load(*next);
    REQUIRE(next.has_value());
    CHECK(next->steps_of(mode::global, true) == std::vector<step_number>{3, 5, 7});
    CHECK(next->loaded_all_steps);
}

TEST_CASE("loader: an empty or cut file of a running job is requested again, and read when it is complete") {
    memory_storage store;
    run_builder build{store};
    build.collections().step(one(1));
    const std::string key = smdebug::detail::locations::index_key(2, "worker_0");
    build.put(key, "");
    const trial_options options;
    storage_loader load{store, options};
    catalog run = load.open();
    CHECK(run.steps.size() == 1);
    build.put(key, "{\"meta\": {\"mode\":");
    CHECK_FALSE(load.load(run).has_value());
    build.step(one(2));
    const auto next = load.load(run);
    REQUIRE(next.has_value());
    CHECK(next->steps.size() == 2);
}

TEST_CASE("loader: files that a listing misses during writes are found before later files are shown") {
    scripted_storage store;
    run_builder build{store};
    build.collections({"worker_0", "worker_1"});
    for (const step_number step : {0, 1, 2}) {
        build.step(one(step)).step(one(step, "worker_1"));
    }
    // The first listing misses a file that is older than another one in it.
    int listings = 0;
    store.plays().on_list = [&](std::vector<std::string>& keys) {
        if (++listings == 1) {
            std::erase(keys, smdebug::detail::locations::index_key(1, "worker_0"));
        }
    };
    const trial_options options;
    const catalog run = storage_loader{store, options}.open();
    CHECK(listings >= 2);
    CHECK(run.find_step(1)->file_count == 2);
    CHECK(run.last_complete_step == 2);
}

TEST_CASE("loader: a job that writes faster than it can be listed is shown up to the last gapless step") {
    scripted_storage store;
    run_builder build{store};
    build.collections();
    step_number next = 0;
    // Each listing is followed by two more steps, of which it shows the later one.
    store.plays().on_list = [&](std::vector<std::string>& keys) {
        build.step(one(next)).step(one(next + 1));
        keys.push_back(smdebug::detail::locations::index_key(next + 1, "worker_0"));
        next += 2;
    };
    const trial_options options;
    storage_loader load{store, options};
    catalog run = load.open();
    for (int round = 0; round < 3; ++round) {
        const auto steps = run.steps_of(mode::global, true);
        for (std::size_t i = 0; i < steps.size(); ++i) {
            CHECK(steps[i] == static_cast<step_number>(i));  // none is missing
        }
        CHECK(steps.size() >= static_cast<std::size_t>(round + 1));
        if (auto more = load.load(run)) {
            run = *std::move(more);
        }
    }
    store.plays().on_list = [](auto&) {};
    CHECK(load.load(run)->steps.size() == static_cast<std::size_t>(next));
}

TEST_CASE("loader: a load that fails loses nothing, wherever it fails") {
    scripted_storage store;
    run_builder build{store};
    build.collections().step(one(0));
    const trial_options options;
    storage_loader load{store, options};
    catalog run = load.open();
    for (const int failing_listing : {1, 2}) {
        build.step(one(run.steps.back().step + 1));
        int listings = 0;
        store.plays().on_list = [&](auto&) {
            if (++listings == failing_listing) {
                throw unavailable("not now");
            }
        };
        CHECK_THROWS_AS(static_cast<void>(load.load(run)), unavailable);
        store.plays().on_list = [](auto&) {};
        run = *load.load(run);
    }
    build.step(one(3)).step(one(4));
    store.plays().on_read = [](std::string_view key) {
        if (key == smdebug::detail::locations::index_key(4, "worker_0")) {
            throw unavailable("not now");
        }
    };
    CHECK_THROWS_AS(static_cast<void>(load.load(run)), unavailable);
    store.plays().on_read = [](auto) {};
    run = *load.load(run);
    CHECK(run.steps_of(mode::global, true) == std::vector<step_number>{0, 1, 2, 3, 4});
}

TEST_CASE("loader: the same for a storage that follows its folders") {
    struct moody : memory_storage {
        std::shared_ptr<bool> refuses = std::make_shared<bool>(false);
        [[nodiscard]] byte_buffer read(std::string_view key, byte_range where = whole_object) const {
            if (*refuses && key.starts_with("index/")) {
                throw unavailable("not now");
            }
            return memory_storage::read(key, where);
        }
    };
    moody store;
    run_builder build{store};
    build.collections().step(one(0));
    const trial_options options;
    storage_loader load{store, options};
    catalog run = load.open();
    build.step(one(1));
    *store.refuses = true;
    CHECK_THROWS_AS(static_cast<void>(load.load(run)), unavailable);
    *store.refuses = false;
    run = *load.load(run);
    CHECK(run.steps.size() == 2);
}

TEST_CASE("loader: changed keys are read without a listing") {
    scripted_storage store;
    run_builder build{store};
    build.collections().step(one(0));
    const trial_options options;
    storage_loader load{store, options};
    catalog run = load.open();
    store.plays().listed_after.clear();
    build.step(one(1)).step(one(2));
    const std::vector<std::string> told{smdebug::detail::locations::index_key(1, "worker_0"), "index/000000000/x.tmp",
                                        smdebug::detail::locations::event_key(1, "worker_0"), "index/9_gone.json"};
    run = *load.load(run, &told);
    CHECK(run.steps_of(mode::global, true) == std::vector<step_number>{0, 1});
    CHECK_FALSE(load.load(run, &told).has_value());
    CHECK(store.plays().listed_after.size() == 2);  // checks whether a missing file is a dangling link
    run = *load.load(run);
    CHECK(run.steps.size() == 3);
    build.end();
    CHECK(load.load(run, &told)->loaded_all_steps);  // the end of the job requires a look at everything
    CHECK_FALSE(store.plays().listed_after.empty());
}

TEST_CASE("loader: a worker whose first file was half written is still the same worker later") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0", "worker_1"}).step(one(0));
    const trial_options options;
    storage_loader load{store, options};
    catalog run = load.open();
    build.put(smdebug::detail::locations::index_key(0, "worker_2"), "{")
        .put(smdebug::detail::locations::index_key(0, "worker_1"), "");
    CHECK_FALSE(load.load(run).has_value());
    build.step(one(0, "worker_1"));
    run = *load.load(run);
    REQUIRE(run.find_step(0)->file_count == 2);
    CHECK(run.workers[run.find_step(0)->files()[1].worker] == "worker_1");
}

TEST_CASE("loader: a worker is counted once, whatever its file names, and whenever it wrote") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0", "worker_1"}).step(one(0));
    const std::string other = "index/000000000/000000000000_worker_0.csv";
    build.put(other, "{\"meta\"");  // half written
    const trial_options options;
    storage_loader load{store, options};
    catalog run = load.open();
    store.write(other, store.read(smdebug::detail::locations::index_key(0, "worker_0")).view());
    if (auto next = load.load(run)) {
        run = *std::move(next);
    }
    CHECK(run.find_step(0)->file_count == 1);
    CHECK(run.last_complete_step == -1);
}

TEST_CASE("loader: files that may follow a gap wait for a listing, even if changed keys are given") {
    scripted_storage store;
    run_builder build{store};
    build.collections().step(one(0));
    const trial_options options;
    storage_loader load{store, options};
    catalog run = load.open();
    step_number next = 1;
    store.plays().on_list = [&](std::vector<std::string>& keys) {
        build.step(one(next)).step(one(next + 1));
        keys.push_back(smdebug::detail::locations::index_key(next + 1, "worker_0"));  // and hides the previous one
        next += 2;
    };
    run = *load.load(run);  // the newest file of the last listing is held back
    const std::size_t shown = run.steps.size();
    store.plays().on_list = [](auto&) {};
    const std::vector<std::string> told{smdebug::detail::locations::index_key(1, "worker_0")};
    run = *load.load(run, &told);
    CHECK(run.steps.size() == static_cast<std::size_t>(next));
    CHECK(run.steps.size() > shown);
}

TEST_CASE("loader: after a failed load everything is listed, even if changed keys are given") {
    scripted_storage store;
    run_builder build{store};
    build.collections().step(one(0)).put(smdebug::detail::locations::index_key(1, "worker_0"), "{");
    const trial_options options;
    storage_loader load{store, options};
    catalog run = load.open();  // step 1 is half written, and read again
    build.step(one(1)).step(one(2));
    const std::vector<std::string> told{smdebug::detail::locations::index_key(2, "worker_0")};
    store.plays().on_read = [](std::string_view) { throw unavailable("not now"); };
    CHECK_THROWS_AS(static_cast<void>(load.load(run, &told)), unavailable);
    store.plays().on_read = [](std::string_view) {};
    run = *load.load(run, &told);
    CHECK(run.steps_of(mode::global, true) == std::vector<step_number>{0, 1, 2});
}
