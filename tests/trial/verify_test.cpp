#include <smdebug/trial/verify.hpp>

#include "support/run_builder.hpp"
#include "support/test.hpp"

#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug_test;
using texts = std::vector<std::string>;

namespace {

// Two steps of one worker: values, a saved reduction, a saved shape beside values.
written_step step_of(step_number step) {
    const auto number = static_cast<float>(step);
    return {.step = step,
            .tensors = {tensor_of<float>("w", {number, 2}), tensor_of<double>("smdebug/reductions/max/g", {3}, {})},
            .mode = step == 0 ? mode::train : mode::eval,
            .mode_step = step == 0 ? 0 : 10,
            .shapes = {{"w", "ww", {2}}}};
}

memory_storage sample() {
    memory_storage store;
    run_builder{store}.collections({"worker_0"}, {{"weights", {"w"}}}).step(step_of(0)).step(step_of(1)).end();
    return store;
}

const std::string index_1 = smdebug::detail::locations::index_key(1, "worker_0");
const std::string events_1 = smdebug::detail::locations::event_key(1, "worker_0");

texts kinds_of(const std::vector<inconsistency>& found) {
    texts kinds;
    for (const inconsistency& held : found) {
        kinds.emplace_back(name_of(held.kind));
    }
    return kinds;
}

// A storage that could not read everything below its root.
struct partial_storage : memory_storage {
    explicit partial_storage(memory_storage all) : memory_storage(std::move(all)) {}
    [[nodiscard]] std::vector<problem> problems() const override {
        return {{problem_kind::damaged, "a.tfevents, byte 8", "the record is damaged"},
                {problem_kind::unsupported, "b.ckpt", "it is not read"}};
    }
};

std::string text_of(const memory_storage& store, const std::string& key) {
    return std::string{as_text(store.read(key).view())};
}

// The inconsistencies after one text in the second index file was replaced.
std::vector<inconsistency> after(const std::string& text, const std::string& other) {
    memory_storage store = sample();
    std::string content = text_of(store, index_1);
    const std::size_t at = content.find(text);
    REQUIRE(at != std::string::npos);
    store.write(index_1, as_bytes(content.replace(at, text.size(), other)));
    return verify_run(store);
}

// Everything that can be read from a run.
std::string answers(const memory_trial& run) {
    std::string all;
    const auto add = [&](const std::string& text) { all += text + "\n"; };
    for (const mode in : {mode::global, mode::train, mode::eval, mode::predict}) {
        for (const step_number step : run.steps({.mode = in})) {
            add(std::string{name_of(in)} + std::to_string(step) + "=" + std::to_string(*run.global_step(in, step)));
        }
    }
    for (const std::string& name : run.tensor_names()) {
        const auto tensor = run.tensor(name);
        add(name + tensor.original_name().value_or("-"));
        for (const step_number step : tensor.steps()) {
            const auto value = tensor.find_value(step);
            add(std::to_string(step) + (value ? std::string{as_text(value->bytes())} : "none"));
            const auto shape = tensor.find_shape(step);
            add(shape && !shape->empty() ? std::to_string(shape->front()) : "none");
            const auto largest = tensor.find_reduction(step, reduction::max);
            add(largest ? std::to_string(*largest) : "none");
        }
    }
    return all;
}

}  // namespace

TEST_CASE("verify: a whole run has no inconsistencies") {
    CHECK(kinds_of(verify_run(sample())) == texts{});
    const memory_trial run{sample()};
    CHECK(verify_run(run).empty());
}

TEST_CASE("verify: objects that the storage could not read are inconsistencies, whatever the index says") {
    const std::vector<inconsistency> found = verify_run(partial_storage{sample()});
    CHECK(kinds_of(found) == texts{"damaged file", "unread"});
    CHECK(found.front().file == "a.tfevents, byte 8");
    CHECK(found.front().what == "the record is damaged");
}

TEST_CASE("verify: runs of other writers have no inconsistencies, and what they lack is reported") {
    for (const char* name : {"torch_mlp", "torch_ddp", "scalars", "shapes_raw", "shapes_only", "reductions_only",
                             "reductions_raw", "reductions_tf", "tf_workers", "collections", "xgboost_like", "dtypes",
                             "checksummed", "mode_workers", "sparse_steps", "double__underscore"}) {
        CAPTURE(name);
        const local_storage store{std::string{SMDEBUG_TEST_DATA} + "/golden/" + name};
        const auto found = verify_run(store);
        for (const inconsistency& held : found) {
            MESSAGE(std::string{name_of(held.kind)}, " ", held.file, " ", held.tensor, ": ", held.what);
        }
        CHECK(found.empty());
    }
    const local_storage missing{std::string{SMDEBUG_TEST_DATA} + "/golden/missing_event"};
    CHECK(kinds_of(verify_run(missing)) == texts{"missing file", "missing file"});
}

TEST_CASE("verify: names each disagreement between the index and the event file") {
    CHECK(kinds_of(after("tensor_payload", "tensor_qayload")) ==
          texts{"renamed key", "unnamed record", "unnamed record"});
    CHECK(kinds_of(after("shape_payload", "shape_paylo_d")) == texts{"renamed key"});
    CHECK(kinds_of(after("\"w\"", "\"v\"")).at(0) == "name");
    CHECK(kinds_of(after("\"start_idx\": 0", "\"start_idx\": 8")) == texts{"place", "unnamed record"});
    CHECK(kinds_of(after("\"length\": ", "\"length\": 1")) == texts{"place"});
    CHECK(kinds_of(after("EVAL", "TRAIN")) == texts{"mode"});
    CHECK(kinds_of(after("\"mode_step\": 10", "\"mode_step\": 11")) == texts{"mode"});
    CHECK(kinds_of(after("[2]", "[3]")) == texts{"shape"});
    CHECK(kinds_of(after("\"ww\"", "\"wx\"")) == texts{"name"});
    CHECK(kinds_of(after("\"tensorname\": \"w\", \"orig", "\"tensorname\": \"v\", \"orig")) == texts{"name"});
    const texts swapped = kinds_of(after("events/000000000001/000000000001", "events/000000000000/000000000000"));
    for (const char* kind : {"place", "step", "mode", "unnamed file"}) {
        CHECK(std::find(swapped.begin(), swapped.end(), kind) != swapped.end());
    }
    for (const char* outside : {"../0/events", "/tmp/0/events"}) {
        const auto left = after("events/000000000001", outside);
        CHECK(kinds_of(left) == texts{"place", "unnamed file"});
        CHECK(left.at(0).what.starts_with("it names no event file of the run: \"" + std::string{outside}));
    }
    CHECK(kinds_of(after("tfevents\"", "tfevent\"")) == texts{"missing file", "unnamed file"});
    CHECK(kinds_of(after("{\"meta\"", "{\"mera\"")) == texts{"renamed key", "damaged file", "unnamed file"});
    const auto told = after("\"w\"", "\"v\"").at(0);
    CHECK(told.file == events_1);
    CHECK(told.step == 1);
    CHECK(told.worker == "worker_0");
    CHECK(told.tensor == "v");
    CHECK(told.what == "the record at byte 0 is that of \"w\"");
}

TEST_CASE("verify: damaged event files, unknown workers and unnamed files are reported, and nothing is thrown") {
    memory_storage store = sample();
    std::string events = text_of(store, events_1);
    events.resize(events.size() - 1);
    store.write(events_1, as_bytes(events));
    CHECK(kinds_of(verify_run(store)) == texts{"place", "damaged record"});
    events[3] = 'x';
    store.write(events_1, as_bytes(events));
    CHECK(kinds_of(verify_run(store)) == texts{"place", "place", "damaged record"});

    memory_storage more = sample();
    run_builder build{more};
    build.step({.step = 2, .tensors = {tensor_of<float>("w", {1})}, .worker = "worker_7"});
    build.put(smdebug::detail::locations::event_key(5, "worker_0"), "").put("index/000000000/noise.json", "{}");
    build.put("collections/000000000/worker_1_collections.json", "{");
    CHECK(kinds_of(verify_run(more)) == texts{"damaged file", "workers", "workers", "damaged file", "unnamed file"});
}

TEST_CASE("verify: two steps that claim the same mode step, if no record contradicts") {
    memory_storage store;
    run_builder build{store};
    build.collections();
    for (const step_number step : {0, 1, 2}) {
        build.step(
            {.step = step, .tensors = {}, .mode = mode::train, .mode_step = step / 2, .shapes = {{"w", "w", {2}}}});
    }
    build.end();
    const auto found = verify_run(store);
    REQUIRE(kinds_of(found) == texts{"mode"});
    CHECK(found.at(0).step == 1);
    CHECK(found.at(0).what == "step 0 is TRAIN 0, too");
}

TEST_CASE("verify: a file that is larger than the limits allow is not read") {
    const std::size_t size = text_of(sample(), index_1).size();
    size_limits limits;
    limits.index_file = size - 1;
    const auto found = verify_run(sample(), limits);
    const auto large =
        std::find_if(found.begin(), found.end(), [](const inconsistency& one) { return one.file == index_1; });
    REQUIRE(large != found.end());
    CHECK(name_of(large->kind) == "damaged file");
    CHECK(large->what.find("more than the ") != std::string::npos);
}

TEST_CASE("verify: data that a running job may still write are not reported as missing") {
    memory_storage store;
    run_builder build{store};
    build.collections().step(step_of(0)).step(step_of(1));
    build.put(smdebug::detail::locations::event_key(2, "worker_0"), "half a rec");  // its index file is not written yet
    CHECK(verify_run(store).empty());
    build.put(smdebug::detail::locations::index_key(2, "worker_0"), "{\"meta\"");
    CHECK(verify_run(store).empty());
    build.end();
    CHECK(kinds_of(verify_run(store)) == texts{"damaged file", "unnamed file"});
}

TEST_CASE("verify: each flipped bit of an index file changes no answer, or is an error at opening, or is named") {
    memory_storage store = sample();
    const std::string content = text_of(store, index_1);
    const std::string healthy = answers(memory_trial{store});
    std::size_t unchanged = 0;
    std::size_t refused = 0;
    std::size_t named = 0;
    texts silent;
    for (std::size_t at = 0; at < content.size(); ++at) {
        for (unsigned bit = 0; bit < 8; ++bit) {
            std::string flipped = content;
            flipped[at] = static_cast<char>(flipped[at] ^ static_cast<char>(1U << bit));
            store.write(index_1, as_bytes(flipped));
            try {
                const memory_trial run{store};
                if (answers(run) == healthy) {
                    ++unchanged;
                } else if (!verify_run(run).empty()) {
                    ++named;
                } else {
                    silent.push_back(flipped);
                }
            } catch (const corrupt_data& caught) {
                if (caught.code() != error_code::corrupt_index) {
                    throw;
                }
                ++refused;
            }
        }
    }
    for (const std::string& content_of_it : silent) {
        FAIL_CHECK(content_of_it);
    }
    CHECK(refused > content.size());
    CHECK(named > 100);
    CHECK(unchanged > 0);
}
