#include <smdebug/trial/load/loader.hpp>

#include "support/counting_storage.hpp"
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
using namespace std::chrono_literals;

namespace {

trial_options quick() { return {.poll_interval = 1ms}; }

}  // namespace

TEST_CASE("loader: if there is no run, one sentence names the place and what was looked for") {
    const memory_storage store{"nowhere"};
    const trial_options options;
    const not_found thrown = caught<not_found>([&] { return storage_loader{store, options}.open(); });
    const std::string what = thrown.what();
    CHECK(what.find("memory:nowhere") != std::string::npos);
    CHECK(what.find("collections/") != std::string::npos);
    CHECK(what.find("index/") != std::string::npos);
    CHECK(what.find("training_job_end.ts") != std::string::npos);
    CHECK(thrown.where() == "memory:nowhere");
}

TEST_CASE("loader: waits for missing collections files, and throws when the time is up") {
    memory_storage store;
    run_builder build{store};
    build
        .put(smdebug::detail::locations::collections_key("worker_0"),
             R"({"collections": {}, "_meta": {"num_workers": 2}})")
        .step(one(0));
    trial_options options = quick();
    CHECK(thrown_code([&] { static_cast<void>(storage_loader{store, options}.open()); }) == error_code::timed_out);

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
    CHECK_THROWS_AS(static_cast<void>(storage_loader{empty, options}.open()), stopped_error);
}

namespace {

constexpr step_number many_steps = 900;  // enough to be read on threads

// Different layouts, some of them unusual.
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

// Everything in which two catalogs can differ, as text.
std::string to_message(const catalog& from) {
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
    return what_of<error>([&] { return storage_loader{store, options}.open(); }, "none");
}

}  // namespace

TEST_CASE("loader: many files of a local storage are read on threads, and give the same catalog") {
    const memory_storage objects = many_index_files();
    const trial_options options;
    const plain_counting_storage near{objects};
    const counting_storage<> far{objects};
    const catalog one_by_one = storage_loader{far, options}.open();
    CHECK(one_by_one.steps.size() == static_cast<std::size_t>(many_steps));
    for (int round = 0; round < 3; ++round) {
        CHECK(to_message(storage_loader{near, options}.open()) == to_message(one_by_one));
    }
}

TEST_CASE("loader: errors in some of many files are reported in file order, on threads or not") {
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
    CHECK(thrown_code([&] {
              static_cast<void>(storage_loader{store, options}.open());
          }) == error_code::missing_collection_files);
}

TEST_CASE("loader: a damaged collections file names itself and what is wrong") {
    memory_storage store;
    run_builder{store}.put("collections/000000000/worker_0_collections.json", "{\"collections\": ");
    const trial_options options;
    const corrupt_data thrown = caught<corrupt_data>([&] { return storage_loader{store, options}.open(); });
    CHECK(thrown.code() == error_code::corrupt_collections_file);
    CHECK(thrown.where() == "collections/000000000/worker_0_collections.json");
}

TEST_CASE("loader: two names of one worker are one worker") {
    memory_storage store;
    run_builder build{store};
    const std::string text = R"({"collections": {}, "_meta": {"num_workers": 2}})";
    build.put("collections/000000000/collections.json", text)
        .put(smdebug::detail::locations::collections_key("worker_0"), text)
        .step(one(0));
    const trial_options options;
    CHECK(thrown_code([&] { static_cast<void>(storage_loader{store, options}.open()); }) == error_code::timed_out);
}

TEST_CASE("loader: the largest step number, which no step can follow, is an error") {
    memory_storage store;
    run_builder{store}.collections().step(one(1)).put("index/000000000/9223372036854775807_worker_0.json", "{}");
    const trial_options options;
    CHECK(thrown_code([&] { static_cast<void>(storage_loader{store, options}.open()); }) == error_code::corrupt_index);
}

TEST_CASE("loader: files that are not index files are ignored") {
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

namespace {

/// Requests a stop when the first index file is read.
class stopping_storage {
public:
    stopping_storage(const memory_storage& inner, std::stop_source stop) : inner_(&inner), stop_(std::move(stop)) {}
    byte_buffer read(std::string_view key, byte_range where) const {
        if (where == whole_object && key.starts_with("index/")) {
            stop_.request_stop();
        }
        return inner_->read(key, where);
    }
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
        CHECK_THROWS_AS(static_cast<void>(storage_loader{stopping, options}.open()), stopped_error);
        CHECK(stop.stop_requested());
        build.step(one(steps));
        const auto second = opened.load(first);
        REQUIRE(second);
        CHECK(second->steps.size() == static_cast<std::size_t>(steps) + 1);
        // A stop that was requested before opening only means not to wait.
        CHECK(storage_loader{store, options}.open().steps.size() == static_cast<std::size_t>(steps) + 1);
    }
}
