#include <smdebug/formats/event_file_source.hpp>

#include <smdebug/core/error.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include "support/test.hpp"

using namespace smdebug;

namespace {

[[nodiscard]] memory_storage copy_of(const std::string& name) {
    const local_storage from{std::string{SMDEBUG_TEST_DATA} + "/golden/" + name};
    memory_storage to{name};
    for (const std::string& key : from.list("", "")) {
        to.write(key, from.read(key).view());
    }
    return to;
}

}  // namespace

TEST_CASE("repair_index: a good run needs nothing") {
    const memory_storage files = copy_of("torch_mlp");
    const index_repair plan = plan_index_repair(any_storage{files});
    CHECK(plan.files.empty());
    CHECK(plan.problems.empty());
    CHECK(plan.good == 4);
    CHECK(plan.event_files == 4);
}

TEST_CASE("repair_index: missing and damaged index files are made as they were, byte for byte") {
    memory_storage files = copy_of("torch_mlp");
    const memory_storage original = copy_of("torch_mlp");
    const std::vector<std::string> keys = files.list("index/", "");
    REQUIRE(keys.size() == 4);
    files.remove(keys[0]);
    files.write(keys[1], as_bytes("{\"meta\": {"));
    std::string moved{as_text(files.read(keys[2]).view())};
    const std::size_t place = moved.find("\"length\": ");
    moved.insert(place + 10, "1");
    files.write(keys[2], as_bytes(moved));

    any_storage store{files};
    const index_repair plan = plan_index_repair(store);
    REQUIRE(plan.files.size() == 3);
    CHECK(plan.good == 1);
    CHECK(plan.files[0].what == index_repair::action::written);
    CHECK(plan.files[0].why == "it is missing");
    CHECK(plan.files[1].what == index_repair::action::replaced);
    CHECK(plan.files[1].why == "the file is not JSON, or is cut off");
    CHECK(plan.files[2].why.ends_with("lies elsewhere than it says"));
    CHECK(as_text(files.read(keys[1]).view()) == "{\"meta\": {");  // only planned so far

    repair_index(store, plan);
    for (const std::string& key : keys) {
        CAPTURE(key);
        CHECK(as_text(files.read(key).view()) == as_text(original.read(key).view()));
    }
    CHECK(as_text(files.read(keys[1] + ".damaged").view()) == "{\"meta\": {");
    CHECK(plan_index_repair(store).files.empty());
    CHECK(memory_trial{files}.steps().size() == 4);
}

TEST_CASE("repair_index: an index file of another mode, mode step or event file is replaced") {
    memory_storage files = copy_of("torch_mlp");
    const memory_storage original = copy_of("torch_mlp");
    const std::vector<std::string> keys = files.list("index/", "");
    REQUIRE(keys.size() == 4);
    const auto change = [&](const std::string& key, const std::string& from, const std::string& to) {
        std::string text{as_text(files.read(key).view())};
        const std::size_t place = text.find(from);
        REQUIRE(place != std::string::npos);
        files.write(key, as_bytes(text.replace(place, from.size(), to)));
    };
    const std::string first = "events/000000000000/000000000000_worker_0.tfevents";
    const std::string second = "events/000000000002/000000000002_worker_0.tfevents";
    change(keys[0], R"("mode": "TRAIN")", R"("mode": "PREDICT")");
    change(keys[1], second, first);
    change(keys[2], R"("mode_step": 0)", R"("mode_step": 1)");
    any_storage store{files};
    const index_repair plan = plan_index_repair(store);
    CHECK(plan.good == 1);
    REQUIRE(plan.files.size() == 3);
    CHECK(plan.files[0].why == "its mode or mode step is not what the records say");
    CHECK(plan.files[1].why == "it names another event file, " + first);
    CHECK(plan.files[2].why == "its mode or mode step is not what the records say");
    repair_index(store, plan);
    for (const std::string& key : keys) {
        CHECK(as_text(files.read(key).view()) == as_text(original.read(key).view()));
    }
}

TEST_CASE("repair_index: a file that is replaced keeps its shapes and its order; what is lost of it is named") {
    const memory_storage original = copy_of("shapes_only");
    const std::vector<std::string> keys = original.list("index/", "");
    const std::string text{as_text(original.read(keys[0]).view())};
    const auto repaired = [&](const std::string& from, const std::string& to) {
        memory_storage files = copy_of("shapes_only");
        std::string changed = text;
        const std::size_t place = changed.find(from);
        REQUIRE(place != std::string::npos);
        files.write(keys[0], as_bytes(changed.replace(place, from.size(), to)));
        any_storage store{files};
        const index_repair plan = plan_index_repair(store);
        REQUIRE(plan.files.size() == 1);
        CHECK(repair_index(store, plan) == 1);
        return std::pair{plan.files[0].dropped, std::string{as_text(files.read(keys[0]).view())}};
    };
    const std::string first = R"("start_idx": 0)";
    CHECK(repaired(first, R"("start_idx": 3)") == std::pair{std::string{}, text});
    CHECK(repaired(R"("mode": "TRAIN")", R"("mode": "EVAL")") == std::pair{std::string{}, text});
    CHECK(repaired("000000000000_worker_0.tf", "000000000000_worker_7.tf") == std::pair{std::string{}, text});
    CHECK(repaired(R"("tensorname": "MSELoss_output_0")", R"("tensorname": "other")") ==
          std::pair{std::string{"tensor other, of which the event file has no record"}, text});
    const auto cut = repaired(text.substr(text.size() / 2), "");
    CHECK(cut.first == "shapes and order, if it had any, which cannot be read");
    CHECK(cut.second.ends_with("\"shape_payload\": []}"));
    const std::string meta = text.substr(0, text.find(", \"tensor_payload"));
    const std::string other{as_text(original.read(keys[1]).view())};
    const auto moved = repaired(meta, other.substr(0, other.find(", \"tensor_payload")));
    CHECK(moved.first.starts_with("19 shapes, the first Sequential_0.weight, which belong to events/"));
}

TEST_CASE("repair_index: a run that has only its event files") {
    memory_storage files = copy_of("torch_mlp");
    for (const std::string& key : files.list("", "")) {
        if (!key.starts_with("events/")) {
            files.remove(key);
        }
    }
    any_storage store{files};
    const index_repair plan = plan_index_repair(store);
    CHECK(plan.files.size() == 5);
    CHECK(plan.files[0].key == "collections/000000000/worker_0_collections.json");
    repair_index(store, plan);
    const memory_trial run{files};
    CHECK(run.steps().size() == 4);
    CHECK(run.tensor_names() == local_trial{std::string{SMDEBUG_TEST_DATA} + "/golden/torch_mlp"}.tensor_names());
}

TEST_CASE("repair_index: what cannot be mended is named") {
    memory_storage files = copy_of("torch_mlp");
    const std::vector<std::string> events = files.list("events/", "");
    const byte_buffer whole = files.read(events[0]);
    files.write(events[0], whole.view().first(whole.size() - 1));
    files.remove(events[3]);
    const index_repair plan = plan_index_repair(any_storage{files});
    REQUIRE(plan.problems.size() == 2);
    CHECK(plan.problems[0].starts_with(events[0] + ", byte "));
    CHECK(plan.problems[0].ends_with("the record is cut: the file ends 1 byte early"));
    CHECK(plan.problems[1].ends_with("there is no event file for it: it stays as it is"));
    REQUIRE(plan.files.size() == 1);
    CHECK(plan.files[0].why.starts_with("it names "));

    CHECK_THROWS_AS(static_cast<void>(plan_index_repair(any_storage{memory_storage{}})), not_found);
}
