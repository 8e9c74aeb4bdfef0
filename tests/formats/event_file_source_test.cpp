#include <smdebug/formats/event_file_source.hpp>

#include <smdebug/index/locations.hpp>
#include <smdebug/record/framing.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/verify.hpp>
#include <smdebug/xtensor.hpp>

#include "support/run_builder.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

using namespace smdebug;

namespace {

const std::string golden = std::string{SMDEBUG_TEST_DATA} + "/golden/";

/// A copy of a recorded run without its index.
[[nodiscard]] memory_storage without_index(const std::string& name) {
    const local_storage from{golden + name};
    memory_storage to{name};
    for (const std::string& key : from.list("", "")) {
        if (!key.starts_with("index/")) {
            to.write(key, from.read(key).view());
        }
    }
    return to;
}

[[nodiscard]] std::vector<std::string> texts_of(const trial& run) {
    std::vector<std::string> texts;
    for (const problem& one : run.problems()) {
        texts.push_back(text_of(one));
    }
    return texts;
}

[[nodiscard]] trial presented(const memory_storage& files, std::vector<std::string>* problems = nullptr) {
    const any_storage store{files};
    trial run{as_run(store, event_file_source{store}), {.missing_event_file_retry_limit = 0}};
    if (problems != nullptr) {
        *problems = texts_of(run);
    }
    return run;
}

[[nodiscard]] bool same_bytes(const tensor_value& a, const tensor_value& b) {
    return a.type() == b.type() && a.shape() == b.shape() && a.bytes().size() == b.bytes().size() &&
           (a.bytes().empty() || std::memcmp(a.bytes().data(), b.bytes().data(), a.bytes().size()) == 0);
}

/// NaN is NaN here.
[[nodiscard]] bool same_numbers(const std::map<reduction_key, double>& a, const std::map<reduction_key, double>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& one, const auto& other) {
        return one.first == other.first && std::memcmp(&one.second, &other.second, sizeof one.second) == 0;
    });
}

}  // namespace

TEST_CASE("event_file_source: recorded runs without their index give the same answers") {
    std::size_t values = 0;
    std::size_t runs = 0;
    for (const auto& folder : std::filesystem::directory_iterator{golden}) {
        const std::string name = folder.path().filename();
        if (!folder.is_directory() || !std::filesystem::exists(folder.path() / "index") ||
            !std::filesystem::exists(folder.path() / "events") || name.starts_with("damaged") ||
            name.starts_with("missing_event")) {
            continue;
        }
        CAPTURE(name);
        const trial with{any_storage{local_storage{folder.path().string()}}, {.missing_event_file_retry_limit = 0}};
        const trial run = presented(without_index(name));
        // Information that only an index holds is lost: steps without an event file, tensors with only a shape.
        ++runs;
        for (const step_number step : run.steps({.show_incomplete_steps = true})) {
            CAPTURE(step);
            CHECK(run.mode(step) == with.mode(step));
            CHECK(run.mode_step(step) == with.mode_step(step));
            for (const std::string& tensor : run.tensor_names({.step = step})) {
                CAPTURE(tensor);
                const auto expected = with.tensor(tensor).find_value(step);
                const auto is = run.tensor(tensor).find_value(step);
                REQUIRE(static_cast<bool>(is) == static_cast<bool>(expected));
                if (is) {
                    CHECK(same_bytes(*is, *expected));
                    ++values;
                }
                CHECK(same_numbers(run.tensor(tensor).saved_reduction_values(step),
                                   with.tensor(tensor).saved_reduction_values(step)));
            }
        }
        CHECK(run.num_workers() == with.num_workers());
        CHECK(run.loaded_all_steps() == with.loaded_all_steps());
        CHECK(run.collections().size() == with.collections().size());
    }
    CHECK(runs > 10);
    CHECK(values > 100);
}

TEST_CASE("event_file_source: a complete run has the same names and steps, and nothing to say against it") {
    const memory_storage files = without_index("torch_mlp");
    std::vector<std::string> problems;
    const trial run = presented(files, &problems);
    const local_trial with{golden + "torch_mlp"};
    CHECK(run.tensor_names() == with.tensor_names());
    CHECK(run.steps() == with.steps());
    CHECK(run.workers() == with.workers());
    CHECK(run.collections() == with.collections());
    CHECK(verify_run(run).empty());
    CHECK(problems.empty());
}

TEST_CASE("event_file_source: a cut record is waited for, and left out once the job has ended") {
    memory_storage files = without_index("torch_mlp");
    const bool has_ended = files.remove("training_job_end.ts");
    static_cast<void>(has_ended);
    const std::vector<std::string> events = files.list("events/", "");
    REQUIRE_FALSE(events.empty());
    const byte_buffer whole = files.read(events.back());
    files.write(events.back(), whole.view().first(whole.size() - 1));
    std::vector<std::string> problems;
    const trial run = presented(files, &problems);
    const std::size_t steps = run.steps().size();
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].ends_with("1 byte early; nothing of the file is read until it is whole, or the job has ended"));
    files.write(events.back(), whole.view());
    CHECK(run.steps().size() == steps + 1);
    CHECK(run.problems().empty());

    files.write(events.back(), whole.view().first(whole.size() - 1));
    files.write("training_job_end.ts", {});
    const trial ended = presented(files, &problems);
    CHECK(ended.steps().size() == steps + 1);
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].starts_with(events.back() + ", byte "));
    CHECK(problems[0].ends_with("the record is cut: the file ends 1 byte early"));
}

TEST_CASE(
    "event_file_source: a cut file behind which its worker wrote a later one is over, also where no job's end is "
    "marked") {
    memory_storage files{"run"};
    smdebug_test::run_builder build{files};
    for (const step_number step : {0, 1, 2}) {
        build.step({.step = step,
                    .tensors = {smdebug_test::tensor_of<float>("a", {1}), smdebug_test::tensor_of<float>("b", {2})}});
    }
    for (const std::string& key : files.list("index/", "")) {
        REQUIRE(files.remove(key));
    }
    const std::string cut = files.list("events/", "")[1];
    const byte_buffer whole = files.read(cut);
    files.write(cut, whole.view().first(whole.size() - 1));
    std::vector<std::string> problems;
    const trial run = presented(files, &problems);
    CHECK(run.steps() == std::vector<step_number>{0, 1, 2});
    CHECK(run.tensor("a").steps() == std::vector<step_number>{0, 1, 2});
    CHECK(run.tensor("b").steps() == std::vector<step_number>{0, 2});
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].starts_with(cut + ", byte "));
    CHECK(problems[0].ends_with("the record is cut: the file ends 1 byte early"));
}

TEST_CASE("event_file_source: a damaged record and a strange name are left out and named") {
    memory_storage files = without_index("torch_mlp");
    const std::vector<std::string> events = files.list("events/", "");
    const byte_buffer whole = files.read(events.front());
    std::vector<std::byte> bad(whole.view().begin(), whole.view().end());
    bad[2] ^= std::byte{1};
    files.write(events.front(), bad);
    files.write("events/000000000009/notes.tfevents", {});
    files.write("events/readme.txt", {});
    std::vector<std::string> problems;
    const trial run = presented(files, &problems);
    CHECK(run.steps().size() == 3);
    REQUIRE(problems.size() == 2);
    CHECK(problems[0] == events.front() + ", byte 0: the length of a record is damaged: nothing behind it can be read");
    CHECK(problems[1].starts_with("events/000000000009/notes.tfevents: the name is not"));
}

TEST_CASE("event_file_source: a collections file that is too large is not read, and reported") {
    const smdebug_test::temporary_folder folder;
    local_storage store{folder.path()};
    const memory_storage from = without_index("torch_mlp");
    std::string collections;
    for (const std::string& key : from.list("", "")) {
        store.write(key, from.read(key).view());
        collections = key.starts_with("collections/") ? key : collections;
    }
    std::filesystem::resize_file(folder.path() + "/" + collections, std::uint64_t{1} << 40U);  // sparse
    const any_storage files{store};
    const trial run{as_run(files, event_file_source{files})};
    const std::vector<std::string> problems = texts_of(run);
    CHECK(run.steps() == std::vector<step_number>{0, 2, 3, 5});
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].starts_with(collections + ": the file has 1099511627776 bytes"));
}

TEST_CASE("event_file_source: a damaged collections file is reported; the workers then come from the event files") {
    memory_storage files{"run"};
    smdebug_test::run_builder build{files};
    for (const char* const worker : {"worker_0", "worker_1"}) {
        build.step({.step = 0, .tensors = {smdebug_test::tensor_of<float>("a", {1})}, .worker = worker});
    }
    build.end();
    std::vector<std::string> problems;
    CHECK(presented(files, &problems).num_workers() == 2);
    CHECK(problems.empty());
    const std::string key = smdebug::detail::locations::collections_key("worker_0");
    build.put(key, "{\"collections\": {");
    const trial run = presented(files, &problems);
    CHECK(run.steps() == std::vector<step_number>{0});
    CHECK(run.workers() == std::vector<std::string>{"worker_0", "worker_1"});
    CHECK(run.num_workers() == 2);
    REQUIRE(problems.size() == 1);
    CHECK(problems[0] == key + ": the file is not JSON, or is cut off: the run has no collections");
}

TEST_CASE("event_file_source: a record that holds no event is left out and named, what is behind it is read") {
    memory_storage files{"run"};
    smdebug_test::run_builder build{files};
    build.collections();
    const smdebug_test::written_step step{.step = 4, .tensors = {smdebug_test::tensor_of<float>("a", {1, 2})}};
    std::vector<std::byte> bytes;
    record::append_record(bytes, as_bytes("\x0a"));
    const std::size_t begin = bytes.size();
    const auto events = smdebug_test::encode_events(step);
    bytes.insert(bytes.end(), events.bytes.begin(), events.bytes.end());
    const std::string key = smdebug::detail::locations::event_key(4, "worker_0");
    files.write(key, bytes);
    build.end();
    REQUIRE(begin > 0);
    std::vector<std::string> problems;
    const trial run = presented(files, &problems);
    CHECK(run.steps() == std::vector<step_number>{4});
    CHECK(run.tensor("a").value<float>(4)(1) == 2);
    REQUIRE(problems.size() == 1);
    CHECK(problems[0] == key + ", byte 0: the record holds no event: it is left out");
}
