#include <smdebug/trial/load/loader.hpp>

#include "support/counting_storage.hpp"
#include "support/erased_storage.hpp"
#include "support/run_builder.hpp"
#include "support/scripted_storage.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/storage/memory_storage.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;
using namespace std::chrono_literals;

namespace {

written_step one(step_number step, std::string worker = "worker_0") {
    return {.step = step, .tensors = {tensor_of<float>("a", {1})}, .worker = std::move(worker)};
}

trial_options quick() { return {.poll_interval = 1ms}; }

}  // namespace

TEST_CASE("loader: nothing there is one sentence that names the place and what was looked for") {
    const memory_storage store{"nowhere"};
    const trial_options options;
    try {
        static_cast<void>(storage_loader{store, options}.open());
        FAIL("opened");
    } catch (const not_found& thrown) {
        const std::string what = thrown.what();
        CHECK(what.find("memory:nowhere") != std::string::npos);
        CHECK(what.find("collections/") != std::string::npos);
        CHECK(what.find("index/") != std::string::npos);
        CHECK(what.find("training_job_end.ts") != std::string::npos);
        CHECK(thrown.where() == "memory:nowhere");
    }
}

TEST_CASE("loader: a run whose collections files are not all there is waited for, and told when time is up") {
    memory_storage store;
    run_builder build{store};
    build
        .put(smdebug::detail::locations::collections_key("worker_0"),
             R"({"collections": {}, "_meta": {"num_workers": 2}})")
        .step(one(0));
    trial_options options = quick();
    CHECK_THROWS_AS(static_cast<void>(storage_loader{store, options}.open()), timed_out);

    options.open_timeout = 60s;
    std::jthread late{[&] {
        std::this_thread::sleep_for(20ms);
        build.put(smdebug::detail::locations::collections_key("worker_1"), "never read");
    }};
    const catalog opened = storage_loader{store, options}.open();
    CHECK(opened.job->num_workers == 2);
    CHECK(opened.job->collection_workers == std::vector<std::string>{"worker_0", "worker_1"});
    CHECK(opened.steps.size() == 1);

    std::stop_source source;
    source.request_stop();
    options.stop = source.get_token();
    memory_storage empty;
    CHECK_THROWS_AS(static_cast<void>(storage_loader{empty, options}.open()), stopped);
}

namespace {

constexpr step_number many_steps = 900;  // more than are worth threads

// Layouts that differ, some that do not stand as usual.
memory_storage many_index_files() {
    memory_storage store;
    run_builder build{store};
    build.collections();
    for (step_number step = 0; step < many_steps; ++step) {
        written_step made = one(step);
        for (step_number i = 0; i < step % 5; ++i) {
            made.tensors.push_back(tensor_of<float>("t" + std::to_string(i * (step % 3)), {1, 2}));
        }
        if (step % 7 == 0) {
            made.shapes.push_back({"s", "o", {3}});
        }
        build.step(made);
    }
    return build.end(), store;
}

std::string damaged_key(step_number step) { return smdebug::detail::locations::index_key(step, "worker_0"); }

// What two catalogs tell apart.
std::string words_of(const catalog& from) {
    std::string words;
    for (const catalog::file* file : from.files_in({})) {
        words += std::to_string(file->step) + ":";
        const layout& entries = from.layout_of(*file);
        for (std::size_t i = 0; i < entries.size(); ++i) {
            words += std::to_string(entries[i].what.name) + (*from.names)[entries[i].what.name] + "@" +
                     std::to_string(entries[i].record.offset) + ",";
        }
        words += std::to_string(file->layout) + "/" + std::to_string(entries.shapes().size()) + ";";
    }
    return words;
}

template <class Storage>
std::string error_of(const Storage& store, const trial_options& options) {
    try {
        static_cast<void>(storage_loader{store, options}.open());
    } catch (const error& thrown) {
        return thrown.what();
    }
    return "none";
}

}  // namespace

TEST_CASE("loader: many files of a near storage are read on threads, and give the same catalog") {
    const memory_storage objects = many_index_files();
    const trial_options options;
    const plain_counting_storage near{objects};
    const counting_storage<> far{objects};
    const catalog one_by_one = storage_loader{far, options}.open();
    CHECK(one_by_one.steps.size() == static_cast<std::size_t>(many_steps));
    for (int round = 0; round < 3; ++round) {
        CHECK(words_of(storage_loader{near, options}.open()) == words_of(one_by_one));
    }
}

TEST_CASE("loader: what is wrong with some of many files is told in their order, whoever reads them") {
    memory_storage objects = many_index_files();
    for (const step_number step : {80, 300, 301, 777}) {
        objects.write(damaged_key(step), as_bytes(std::string_view{"{\"meta\": 1}"}));
    }
    trial_options options;
    const plain_counting_storage near{objects};
    const counting_storage<> far{objects};
    CHECK(error_of(near, options).find(damaged_key(80)) != std::string::npos);
    CHECK(error_of(near, options) == error_of(far, options));
    const auto fail = [](const std::string& call) {
        if (call.ends_with(damaged_key(70)) || call.ends_with(damaged_key(600))) {
            throw unavailable("a bad sector in " + call.substr(call.find(' ') + 1));
        }
    };
    near.before_each(fail);
    CHECK(error_of(near, options).find("a bad sector in " + damaged_key(70)) != std::string::npos);
    options.damaged_index = damage_policy::skip;
    storage_loader reading{near, options};
    const catalog rest = reading.open();
    CHECK(rest.steps.size() == static_cast<std::size_t>(many_steps) - 6);
    REQUIRE(reading.problems().size() == 6);
    CHECK(reading.problems()[0].where == damaged_key(70));
    CHECK(reading.problems()[0].what.find("a bad sector") != std::string::npos);
    CHECK(reading.problems()[4].where == damaged_key(600));
}

TEST_CASE("loader: an ended job without its collections files will not get them") {
    memory_storage store;
    run_builder{store}.end();
    const trial_options options{.open_timeout = std::chrono::hours{1}};
    CHECK_THROWS_AS(static_cast<void>(storage_loader{store, options}.open()), missing_collection_files);
}

TEST_CASE("loader: a damaged collections file names itself and what is wrong") {
    memory_storage store;
    run_builder{store}.put("collections/000000000/worker_0_collections.json", "{\"collections\": ");
    const trial_options options;
    try {
        static_cast<void>(storage_loader{store, options}.open());
        FAIL("opened");
    } catch (const collections_file_exception& thrown) {
        CHECK(thrown.where() == "collections/000000000/worker_0_collections.json");
    }
}

TEST_CASE("loader: a refresh finds what is new, wherever it sorts, and says when there is nothing") {
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

TEST_CASE("loader: a file of a running job that is empty or cut is asked for again, and read when it is whole") {
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

TEST_CASE("loader: once the job has ended the same file is damage; the last catalog stays usable") {
    memory_storage store;
    run_builder build{store};
    build.collections().step(one(1)).put(smdebug::detail::locations::index_key(2, "worker_0"), "{\"meta\"");
    const trial_options options;
    storage_loader load{store, options};
    const catalog run = load.open();
    build.step(one(3)).end();
    try {
        static_cast<void>(load.load(run));
        FAIL("loaded");
    } catch (const index_reader_exception& thrown) {
        CHECK(thrown.where() == smdebug::detail::locations::index_key(2, "worker_0"));
        CHECK(thrown.step() == 2);
        CHECK(thrown.step_mode() == mode::global);
        CHECK(thrown.worker() == "worker_0");
    }
    build.step(one(2));  // mended: what was read before the damage is not lost to the next load
    const auto next = load.load(run);
    REQUIRE(next.has_value());
    CHECK(next->steps_of(mode::global, true) == std::vector<step_number>{1, 2, 3});
}

TEST_CASE("loader: damage that is no half-written file is damage in a running job, too") {
    for (const char* text : {"[]", "{}", R"({"meta": {}, "tensor_payload": []})"}) {
        memory_storage store;
        run_builder{store}.collections().step(one(1)).put(smdebug::detail::locations::index_key(2, "worker_0"), text);
        const trial_options options;
        CHECK_THROWS_AS(static_cast<void>(storage_loader{store, options}.open()), index_reader_exception);
    }
    memory_storage store;
    run_builder{store}.collections().step(one(1)).put("index/000000000/garbage.json", "{}");
    const trial_options options;
    CHECK_THROWS_AS(static_cast<void>(storage_loader{store, options}.open()), index_reader_exception);
}

TEST_CASE("loader: damage_policy::skip goes past a damaged file and says which") {
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

TEST_CASE(
    "loader: an index file that is listed and not there, as a link to nothing, is a problem, and costs only itself") {
    struct with_loose_link : memory_storage {
        using memory_storage::memory_storage;
        using memory_storage::read;
        std::shared_ptr<bool> is_gone = std::make_shared<bool>(true);  // of copies, too
        [[nodiscard]] byte_buffer read(std::string_view key) const {
            if (*is_gone && key == smdebug::detail::locations::index_key(2, "worker_0")) {
                throw not_found("no", {.where = std::string{key}});
            }
            return memory_storage::read(key);
        }
    };
    with_loose_link store;
    run_builder{store}.collections().step(one(1)).step(one(2)).step(one(3));
    const trial_options options;
    storage_loader load{store, options};
    const catalog run = load.open();
    CHECK(run.steps_of(mode::global, true) == std::vector<step_number>{1, 3});
    REQUIRE(load.problems().size() == 1);
    CHECK(load.problems()[0].where == smdebug::detail::locations::index_key(2, "worker_0"));
    *store.is_gone = false;
    const auto next = load.load(run);
    REQUIRE(next.has_value());
    CHECK(next->steps.size() == 3);
    CHECK(load.problems().empty());
}

TEST_CASE("loader: damage_policy::skip goes past what the storage cannot read, and forgets what was mended") {
    struct moody : memory_storage {
        using memory_storage::memory_storage;
        using memory_storage::read;
        std::shared_ptr<bool> refuses = std::make_shared<bool>(true);
        [[nodiscard]] byte_buffer read(std::string_view key) const {
            if (*refuses && key == smdebug::detail::locations::index_key(2, "worker_0")) {
                throw access_denied("no", {.where = std::string{key}});
            }
            return memory_storage::read(key);
        }
    };
    moody store;
    run_builder{store}.collections().step(one(1)).step(one(2)).step(one(3));
    const trial_options strict;
    CHECK_THROWS_AS(static_cast<void>(storage_loader{store, strict}.open()), access_denied);
    const trial_options options{.damaged_index = damage_policy::skip};
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

TEST_CASE("loader: two names of one worker are one worker") {
    memory_storage store;
    run_builder build{store};
    const std::string text = R"({"collections": {}, "_meta": {"num_workers": 2}})";
    build.put("collections/000000000/collections.json", text)
        .put(smdebug::detail::locations::collections_key("worker_0"), text)
        .step(one(0));
    const trial_options options;
    CHECK_THROWS_AS(static_cast<void>(storage_loader{store, options}.open()), timed_out);
}

TEST_CASE("loader: a step that nothing could follow is no step") {
    memory_storage store;
    run_builder{store}.collections().step(one(1)).put("index/000000000/9223372036854775807_worker_0.json", "{}");
    const trial_options options;
    CHECK_THROWS_AS(static_cast<void>(storage_loader{store, options}.open()), index_reader_exception);
}

TEST_CASE("loader: files that are no index files are somebody else's") {
    memory_storage store;
    run_builder{store}
        .collections()
        .step(one(1))
        .put("index/000000000/000000000002_worker_0.json.tmp", "half")
        .put("index/README.txt", "x");
    const trial_options options;
    CHECK(storage_loader{store, options}.open().steps.size() == 1);
}

TEST_CASE("loader: a range loads only its steps, short keys and long ones alike") {
    memory_storage store;
    run_builder build{store};
    build.collections();
    for (step_number step = 0; step < 10; ++step) {
        build.step(one(step));
        store.write("index/" + std::to_string(10 + step) + "_w.json",
                    store.read(smdebug::detail::locations::index_key(step, "worker_0")).view());
    }
    const trial_options options{.range = {3, 16}};
    const catalog run = storage_loader{store, options}.open();
    CHECK(run.steps_of(mode::global, true) == std::vector<step_number>{3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
}

TEST_CASE("loader: what a listing hides while it is written to is found before anything that came later is shown") {
    scripted_storage store;
    run_builder build{store};
    build.collections({"worker_0", "worker_1"});
    for (const step_number step : {0, 1, 2}) {
        build.step(one(step)).step(one(step, "worker_1"));
    }
    // The first listing misses a file that is older than another one which it shows.
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

TEST_CASE("loader: a job that writes faster than it can be listed is shown as far as nothing is hidden") {
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
            CHECK(steps[i] == static_cast<step_number>(i));  // none is left out
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
        using memory_storage::read;
        [[nodiscard]] byte_buffer read(std::string_view key) const {
            if (*refuses && key.starts_with("index/")) {
                throw unavailable("not now");
            }
            return memory_storage::read(key);
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

TEST_CASE("loader: what it is told of is read without a listing") {
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
    CHECK(store.plays().listed_after.size() == 2);  // whether what is gone is a link to nothing
    run = *load.load(run);
    CHECK(run.steps.size() == 3);
    build.end();
    CHECK(load.load(run, &told)->loaded_all_steps);  // the end wants a look at everything
    CHECK_FALSE(store.plays().listed_after.empty());
}

TEST_CASE("loader: a worker whose first file was half written is no other worker later") {
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

TEST_CASE("loader: a worker is counted once, under whatever names it wrote a step, and whenever") {
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

TEST_CASE("loader: a damaged file that is gone is no problem any more") {
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

TEST_CASE("loader: what may hide something waits for a listing, whatever else is told") {
    scripted_storage store;
    run_builder build{store};
    build.collections().step(one(0));
    const trial_options options;
    storage_loader load{store, options};
    catalog run = load.open();
    step_number next = 1;
    store.plays().on_list = [&](std::vector<std::string>& keys) {
        build.step(one(next)).step(one(next + 1));
        keys.push_back(smdebug::detail::locations::index_key(next + 1, "worker_0"));  // and hides the one before it
        next += 2;
    };
    run = *load.load(run);  // the last listing's newest is held back
    const std::size_t shown = run.steps.size();
    store.plays().on_list = [](auto&) {};
    const std::vector<std::string> told{smdebug::detail::locations::index_key(1, "worker_0")};
    run = *load.load(run, &told);
    CHECK(run.steps.size() == static_cast<std::size_t>(next));
    CHECK(run.steps.size() > shown);
}

TEST_CASE("loader: after a load that failed everything is listed, whatever is told") {
    scripted_storage store;
    run_builder build{store};
    build.collections().step(one(0)).put(smdebug::detail::locations::index_key(1, "worker_0"), "{");
    const trial_options options;
    storage_loader load{store, options};
    catalog run = load.open();  // step 1 is half written, and asked for again
    build.step(one(1)).step(one(2));
    const std::vector<std::string> told{smdebug::detail::locations::index_key(2, "worker_0")};
    store.plays().on_read = [](std::string_view) { throw unavailable("not now"); };
    CHECK_THROWS_AS(static_cast<void>(load.load(run, &told)), unavailable);
    store.plays().on_read = [](std::string_view) {};
    run = *load.load(run, &told);
    CHECK(run.steps_of(mode::global, true) == std::vector<step_number>{0, 1, 2});
}

namespace {

/// Asks for a stop when the first index file is read.
class stopping_storage {
public:
    stopping_storage(const memory_storage& inner, std::stop_source stop) : inner_(&inner), stop_(std::move(stop)) {}
    byte_buffer read(std::string_view key) const {
        if (key.starts_with("index/")) {
            stop_.request_stop();
        }
        return inner_->read(key);
    }
    byte_buffer read(std::string_view key, byte_range where) const { return inner_->read(key, where); }
    std::vector<std::string> list(std::string_view prefix, std::string_view after) const {
        return inner_->list(prefix, after);
    }
    std::optional<std::uint64_t> size(std::string_view key) const { return inner_->size(key); }
    std::string name() const { return "stopping"; }

private:
    const memory_storage* inner_;
    mutable std::stop_source stop_;
};

}  // namespace

TEST_CASE("loader: opening is stopped between two index files, few or many; a refresh is not") {
    for (const step_number steps : {3, 2000}) {
        memory_storage store;
        run_builder build{store};
        build.collections();
        for (step_number step = 0; step < steps; ++step) {
            build.step(one(step));
        }
        std::stop_source stop;
        trial_options options = quick();
        options.stop = stop.get_token();
        storage_loader opened{store, options};
        const catalog first = opened.open();
        const stopping_storage stopping{store, stop};
        CHECK_THROWS_AS(static_cast<void>(storage_loader{stopping, options}.open()), stopped);
        CHECK(stop.stop_requested());
        build.step(one(steps));
        const auto second = opened.load(first);
        REQUIRE(second);
        CHECK(second->steps.size() == static_cast<std::size_t>(steps) + 1);
        // One that was asked for before says that nothing is to be waited for.
        CHECK(storage_loader{store, options}.open().steps.size() == static_cast<std::size_t>(steps) + 1);
    }
}
