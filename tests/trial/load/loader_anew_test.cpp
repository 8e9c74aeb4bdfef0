// What is written again while a run is open: the loader begins anew, and says which steps have changed.
#include <smdebug/trial/load/loader.hpp>

#include "support/erased_storage.hpp"
#include "support/run_builder.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"
#include "trial/one_step.hpp"

#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;
using namespace std::chrono_literals;
using steps = std::vector<step_number>;

namespace {

// A run in a folder, loaded step by step.
struct folder_run {
    temporary_folder folder;
    local_storage store{folder.path()};
    run_builder<local_storage> build{store};
    trial_options options;
    storage_loader load{store, options};
    catalog last;

    folder_run() {
        build.collections();
        for (step_number step = 0; step < 6; ++step) {
            build.step(one(step));
        }
        last = load.open();
    }
    [[nodiscard]] std::filesystem::path path_of(step_number step) const {
        return folder.path() + "/" + smdebug::detail::locations::index_key(step, "worker_0");
    }
    // Another time than that of the file before it, whatever the file system's clock shows.
    void date(step_number step, std::chrono::seconds later = 5s) const {
        std::filesystem::last_write_time(path_of(step), std::filesystem::file_time_type::clock::now() + later);
    }
    // Steps that count as changed by the last load.
    [[nodiscard]] steps changed() const {
        steps found;
        for (const auto& entry : last.steps) {
            if (entry.load == last.load) {
                found.push_back(entry.step);
            }
        }
        return found;
    }
    [[nodiscard]] bool refresh() {
        auto next = load.load(last);
        if (next) {
            last = *std::move(next);
        }
        return next.has_value();
    }
};

written_step with(step_number step, const std::string& name, std::vector<float> values) {
    return {.step = step, .tensors = {tensor_of<float>(name, std::move(values))}};
}

}  // namespace

TEST_CASE("loader: steps that a restarted training writes again are read anew, and only they count as changed") {
    folder_run run;
    for (const step_number step : {3, 4, 5}) {
        std::filesystem::remove(run.path_of(step));
    }
    for (const step_number step : {3, 4, 5, 6}) {
        run.build.step(with(step, step == 4 ? "b" : "a", {1, 2, 3}));
        run.date(step);
    }
    REQUIRE(run.refresh());
    CHECK(run.last.steps_of(mode::global, true) == steps{0, 1, 2, 3, 4, 5, 6});
    CHECK(run.changed() == steps{3, 4, 5, 6});
    CHECK(run.last.last_disorder == run.last.load);
    CHECK(run.last.tensor_names_at(*run.last.find_step(4)) == std::vector<std::string>{"b"});
    CHECK_FALSE(run.refresh());
}

TEST_CASE("loader: a step that is written again with an equal index file has changed, one that is touched has not") {
    folder_run run;
    run.date(2);  // touched: its event file is older than the newest index file
    static_cast<void>(run.load.load(run.last, nullptr));
    run.build.step(one(6));
    REQUIRE(run.refresh());
    CHECK(run.changed() == steps{6});
    run.build.step(one(1));
    run.date(1, 10s);
    std::filesystem::last_write_time(run.folder.path() + "/" + smdebug::detail::locations::event_key(1, "worker_0"),
                                     std::filesystem::file_time_type::clock::now() + 9s);
    run.build.end();
    REQUIRE(run.refresh());
    CHECK(run.changed() == steps{1});
}

TEST_CASE("loader: a step has changed if its event file was written again, whatever index file was seen meanwhile") {
    folder_run run;
    const auto now = std::filesystem::file_time_type::clock::now();
    std::filesystem::last_write_time(run.folder.path() + "/" + smdebug::detail::locations::event_key(1, "worker_0"),
                                     now + 9s);
    run.build.step(one(6));
    run.date(6, 10s);  // before the index file of step 1 is written again
    REQUIRE(run.refresh());
    CHECK(run.changed() == steps{6});
    run.date(1, 11s);
    run.build.end();
    REQUIRE(run.refresh());
    CHECK(run.changed() == steps{1});
}

TEST_CASE("loader: at its end a job's files are compared with what was loaded: also those overwritten in place") {
    folder_run run;
    const std::string key = smdebug::detail::locations::index_key(1, "worker_0");
    {
        const event_bytes events = encode_events(with(1, "other", {7}));
        run.folder.write(smdebug::detail::locations::event_key(1, "worker_0"), as_text(events.bytes));
        run.folder.write(key, index_text(with(1, "other", {7}), events.places,
                                         smdebug::detail::locations::event_key(1, "worker_0")));
        run.date(1);
    }
    std::filesystem::remove(run.path_of(5));
    run.build.end();
    REQUIRE(run.refresh());
    CHECK(run.last.loaded_all_steps);
    CHECK(run.last.steps_of(mode::global, true) == steps{0, 1, 2, 3, 4});
    CHECK(run.changed() == steps{1});
    CHECK(run.last.tensor_names_at(*run.last.find_step(1)) == std::vector<std::string>{"other"});
}

TEST_CASE("loader: names and workers keep their numbers, and a tensor that is gone is none any more") {
    folder_run run;
    const auto a = run.last.find_tensor("a");
    REQUIRE(a.has_value());
    for (step_number step = 0; step < 6; ++step) {
        run.build.step(with(step, step == 0 ? "z" : "b", {1}));
        run.date(step);
    }
    REQUIRE(run.refresh());
    CHECK(run.last.names->find("a") == a);
    CHECK_FALSE(run.last.find_tensor("a").has_value());
    CHECK(run.last.find_tensor("b").has_value());
    CHECK(run.last.workers == std::vector<std::string>{"worker_0"});
}

TEST_CASE("loader: a half-written index file of a step that is written again is awaited, as that of a new step is") {
    memory_storage store;
    run_builder build{store};
    build.collections().step(one(0)).step(one(1));
    const trial_options options;
    storage_loader load{store, options};
    catalog run = load.open();
    std::this_thread::sleep_for(2ms);
    build.put(smdebug::detail::locations::index_key(1, "worker_0"), "{\"meta\": {");
    auto next = load.load(run);
    REQUIRE(next.has_value());
    CHECK(next->steps_of(mode::global, true) == steps{0});
    build.step(with(1, "b", {3}));
    next = load.load(*next);
    REQUIRE(next.has_value());
    CHECK(next->tensor_names_at(*next->find_step(1)) == std::vector<std::string>{"b"});
}

TEST_CASE("loader: collections files that change are read again; then every step counts as changed") {
    folder_run run;
    run.build.collections({"worker_0"}, {{"mine", {"a"}}});
    std::filesystem::last_write_time(run.folder.path() + "/" + smdebug::detail::locations::collections_key("worker_0"),
                                     std::filesystem::file_time_type::clock::now() + 5s);
    run.build.step(one(6));
    REQUIRE(run.refresh());
    CHECK(run.last.job->collections.contains("mine"));
    CHECK(run.changed() == steps{0, 1, 2, 3, 4, 5, 6});
}
