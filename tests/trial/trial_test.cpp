#include <smdebug/reduce/default_kernel.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/trial.hpp>

#include "support/archetypes.hpp"
#include "support/run_builder.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"
#include "support/thrown_code.hpp"

#include <smdebug/trial/step_stream.hpp>
#include <smdebug/xtensor.hpp>

using namespace smdebug;
using namespace smdebug_test;
using namespace std::chrono_literals;
using steps_list = std::vector<step_number>;

namespace {

written_step one(step_number step, mode in = mode::train, step_number mode_step = -1, std::string worker = "worker_0") {
    return {.step = step,
            .tensors = {tensor_of<float>("a", {1})},
            .mode = in,
            .mode_step = mode_step,
            .worker = std::move(worker)};
}

/// Decrypts a record, and lets the library decode the plain bytes, which it owns.
class xor_decoder {
public:
    explicit xor_decoder(unsigned char key = 0) : key_{key} {}
    [[nodiscard]] status decode(byte_view record, std::string_view expected_name, decoded_tensor& out) const {
        auto plain = std::make_shared<std::vector<std::byte>>(record.begin(), record.end());
        for (std::byte& each : *plain) {
            each ^= key_;
        }
        const status outcome = inner_.decode(*plain, expected_name, out);
        out.owner = std::move(plain);
        return outcome;
    }
    [[nodiscard]] static std::string name() { return "xor_decoder"; }

private:
    std::byte key_;
    event_decoder<> inner_;
};
static_assert(tensor_decoder<xor_decoder>);

// A trial names the types of its policies.
static_assert(std::same_as<local_trial::storage_type, local_storage>);
static_assert(std::same_as<local_trial::decoder_type, event_decoder<>>);
static_assert(std::same_as<local_trial::kernel_type, default_kernel>);
static_assert(std::copyable<local_trial>);

}  // namespace

TEST_CASE("trial: opens a recorded run and answers every question about it") {
    const local_trial run{std::string{SMDEBUG_TEST_DATA} + "/golden/torch_mlp"};
    CHECK(run.name() == "torch_mlp");
    CHECK(run.workers() == std::vector<std::string>{"worker_0"});
    CHECK(run.workers(3) == std::vector<std::string>{"worker_0"});
    CHECK(run.workers(4).empty());
    CHECK(run.num_workers() == 1);
    CHECK(run.loaded_all_steps());
    CHECK(run.last_complete_step() == 5);
    CHECK(run.steps() == steps_list{0, 2, 3, 5});
    CHECK(run.steps({.mode = mode::train}) == steps_list{0, 2, 4});
    CHECK(run.modes() == std::vector<mode>{mode::train, mode::eval});
    CHECK(run.mode(3) == mode::eval);
    CHECK(run.mode_step(5) == 4);
    CHECK_FALSE(run.mode(4).has_value());
    CHECK(run.global_step(mode::train, 4) == 5);
    CHECK_FALSE(run.global_step(mode::predict, 0).has_value());
    CHECK(run.tensor_names().size() == 19);
    CHECK(run.has_tensor("Sequential_0.weight"));
    CHECK_FALSE(run.has_tensor("no_such_tensor"));
    CHECK_THROWS_WITH_AS(static_cast<void>(run.tensor("no_such_tensor")),
                         "TensorUnavailable: Tensor no_such_tensor was not saved.", tensor_unavailable);
    for (int i = 0; i < 2; ++i) {  // the second time it is cached
        CHECK_THROWS_WITH_AS(static_cast<void>(run.tensor("Sequential_0.wieght")),
                             doctest::Contains("was not saved. Did you mean Sequential_0.weight, "),
                             tensor_unavailable);
    }
    CHECK(run.collection("gradients").tensor_names.size() == 4);
    CHECK(thrown_code([&] { static_cast<void>(run.collection("unknown")); }) == error_code::collection_unavailable);
    CHECK(run.collections().contains("losses"));
    CHECK(run.has_passed_step(1) == step_state::unavailable);
    CHECK(run.has_passed_step(4, mode::train) == step_state::available);
    CHECK(run.problems().empty());
}

TEST_CASE("trial: composes of policies that can do nothing but what their concepts say") {
    memory_storage store;
    run_builder{store}.collections().step(one(0)).step(one(2)).end();
    const basic_trial<storage_archetype, decoder_archetype, kernel_archetype> run{
        storage_archetype{store}, {}, decoder_archetype{1}, kernel_archetype{1}};
    CHECK(run.steps() == steps_list{0, 2});
    CHECK(run.tensor("a").value<float>(2)(0) == 1);
    CHECK(run.tensor("a").reduction_value(2, reduction::sum) == 1);
    CHECK(run.name() == "archetype");
    const no_refresh guard{run};
    CHECK(run.tensor_names({.step = 2}) == std::vector<std::string>{"a"});
    run.wait_for_steps({0, 2});
}

TEST_CASE("trial: of many missing tensors the first 16 have near names") {
    const local_trial run{std::string{SMDEBUG_TEST_DATA} + "/golden/torch_mlp"};
    std::size_t hints = 0;
    for (int i = 0; i < 100; ++i) {
        try {
            static_cast<void>(run.tensor("Sequential_0.weight" + std::to_string(i)));
        } catch (const tensor_unavailable& missing) {
            hints += missing.message().find("Did you mean Sequential_0.weight") != std::string_view::npos ? 1U : 0U;
        }
    }
    CHECK(hints == 16);
}

TEST_CASE("trial: a decoder that decrypts returns values that own their bytes, reductions, scans and texts") {
    constexpr unsigned char key = 0x5A;
    memory_storage store;
    run_builder{store}
        .collections()
        .step({.step = 0,
               .tensors = {tensor_of<float>("a", {1, 2, 3}),
                           tensor_of<std::uint8_t>("bytes", {4, 5}),
                           {.name = "texts",
                            .type = dtype::string,
                            .shape = {2},
                            .strings = {"some text that is long enough to lie on a heap", "b"}}}})
        .end();
    for (const std::string& file : store.list("events/", "")) {
        const byte_buffer plain = store.read(file);
        std::vector<std::byte> encrypted(plain.view().begin(), plain.view().end());
        for (std::byte& each : encrypted) {
            each ^= std::byte{key};
        }
        store.write(file, encrypted);
    }
    std::optional<basic_trial<memory_storage, xor_decoder>> run{std::in_place, store, trial_options{},
                                                                xor_decoder{key}};
    CHECK(run->tensor("a").reduction_value(0, reduction::sum) == 6);
    std::size_t scanned = 0;
    for_each_tensor(*run, {.regex = "a|bytes"}, reduction::sum, [&](const reduced_tensor& each) {
        scanned += each.failure == nullptr && each.reductions.computed.contains(reduction::sum) ? 1U : 0U;
    });
    CHECK(scanned == 2);
    const tensor_value value = run->tensor("a").value(0);
    const tensor_value bytes = run->tensor("bytes").value(0);
    const tensor_value texts = run->tensor("texts").value(0);
    const auto array = run->tensor("a").value<float>(0);
    run.reset();
    CHECK(array(1) == 2);
    CHECK(value.elements<float>()[2] == 3);
    CHECK(bytes.elements<std::uint8_t>()[1] == 5);
    CHECK_FALSE(bytes.copied());
    CHECK(texts.strings()[0].starts_with("some text"));
    const basic_trial<memory_storage, xor_decoder> wrong_key{store, {}, xor_decoder{1}};
    CHECK(thrown_code([&] { static_cast<void>(wrong_key.tensor("a").value(0)); }) == error_code::corrupt_record);
}

TEST_CASE("trial: a missing path, an empty folder, a folder that is no run: one sentence each") {
    const temporary_folder folder;
    const auto sentence = [](const std::string& path) {
        const not_found thrown = caught<not_found>([&] { const local_trial run{path}; });
        CHECK(thrown.where() == path);
        return std::string{thrown.what()};
    };
    CHECK(
        sentence(folder.path() + "/missing").starts_with("NotFound: there is no folder " + folder.path() + "/missing"));
    CHECK(sentence(folder.path()).starts_with("NotFound: there is no training run in " + folder.path()));
    folder.write("file", "x");
    CHECK(sentence(folder.path() + "/file")
              .starts_with("NotFound: " + folder.path() + "/file is a file, not the folder of a run ("));
    CHECK(sentence(folder.path()).find("training_job_end.ts") != std::string::npos);
}

TEST_CASE("trial: queries see new steps while the job runs, and the end") {
    memory_storage store;
    run_builder build{store};
    build.collections().step(one(0));
    const memory_trial run{store};
    CHECK(run.steps() == steps_list{0});
    build.step(one(1, mode::eval, 0));
    CHECK(run.has_passed_step(0, mode::eval) == step_state::available);
    CHECK(run.global_step(mode::eval, 0) == 1);
    build.step(one(2, mode::train, 1));
    CHECK(run.mode_step(2) == 1);
    CHECK_FALSE(run.loaded_all_steps());
    build.end();
    CHECK_FALSE(run.loaded_all_steps());  // this call does not refresh
    run.refresh();
    CHECK(run.loaded_all_steps());
    build.step(one(9));
    CHECK(run.steps() == steps_list{0, 1, 2});  // a finished run does not grow
}

TEST_CASE("trial: wait_for_steps returns when the steps are available, and throws the reason when they will not be") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0", "worker_1"}).step(one(0)).step(one(0, mode::train, 0, "worker_1")).step(one(2));
    const memory_trial run{store, {.poll_interval = 1ms}};
    run.wait_for_steps({0});
    CHECK(thrown_code([&] { static_cast<void>(run.wait_for_steps({2}, {.timeout = 5ms})); }) == error_code::timed_out);
    CHECK(thrown_code([&] { static_cast<void>(run.wait_for_steps({1}, {.timeout = 5ms})); }) ==
          error_code::timed_out);  // step 1 may still come

    const std::jthread late{[&] {
        std::this_thread::sleep_for(10ms);
        build.step(one(2, mode::train, 2, "worker_1"));
    }};
    {
        const no_refresh guard{run};  // waiting looks anyway, and leaves the guard's setting
        run.wait_for_steps({0, 2}, {.timeout = 60s});
        CHECK_FALSE(run.dynamic_refresh());
    }
    CHECK(run.dynamic_refresh());
    CHECK_THROWS_AS(run.wait_for_steps({1}, {.timeout = 60s}), step_unavailable);
    std::stop_source source;
    source.request_stop();
    CHECK_THROWS_AS(run.wait_for_steps({7}, {.stop = source.get_token()}), stopped_error);
    build.end();
    CHECK_THROWS_AS(run.wait_for_steps({7}), no_more_data);
    CHECK_THROWS_AS(run.wait_for_steps({1}), step_unavailable);
    run.wait_for_steps({});
}

TEST_CASE("trial: inputs, labels and predictions are the values of the collections of that name") {
    memory_storage store;
    run_builder{store}
        .collections({"worker_0"}, {{"labels", {"y"}}, {"predictions", {"p2", "p1"}}})
        .step({.step = 0,
               .tensors = {tensor_of<float>("y", {1}), tensor_of<float>("p2", {2}), tensor_of<float>("p1", {3})}})
        .end();
    const memory_trial run{store};
    CHECK(run.labels(0).size() == 1);
    const auto predictions = run.predictions(0);
    REQUIRE(predictions.size() == 2);
    CHECK(predictions[0].elements<float>()[0] == 3);  // p1
    CHECK(run.inputs(0).empty());
    CHECK(run.labels(5).empty());
}

TEST_CASE("trial: an event file's name that leaves the run is damage, and the file outside is not read") {
    const temporary_folder folder;
    folder.write("secret", "outside of the run");
    local_storage store{folder.path() + "/run"};
    const written_step step = one(0);
    run_builder{store}
        .collections()
        .put(smdebug::detail::locations::index_key(0, "worker_0"), index_text(step, {{0, 8}}, "../secret"))
        .step(one(1))
        .end();
    const local_trial run{folder.path() + "/run"};
    const auto found = run.tensor("a").find_value(0);
    REQUIRE_FALSE(found.has_value());
    CHECK(found.error().why == lookup_failure_kind::damaged);
    CHECK(run.tensor("a").find_value(1).has_value());
}

TEST_CASE("trial: many threads query while the run grows and another thread refreshes") {
    memory_storage store;
    run_builder build{store};
    build.collections().step(one(0));
    const memory_trial run{store};
    std::atomic<bool> done{false};
    std::atomic<int> wrong{0};
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 3; ++i) {
            threads.emplace_back([&] {
                std::size_t seen = 0;
                while (!done) {
                    const auto steps = run.steps();
                    wrong += steps.size() < seen ? 1 : 0;  // a run never shrinks
                    seen = steps.size();
                    const auto tensor = run.tensor("a");
                    wrong += tensor.find_value(steps.back()).has_value() ? 0 : 1;
                    wrong += run.tensor_names({.step = steps.front()}).size() == 1 ? 0 : 1;
                }
            });
        }
        threads.emplace_back([&] {
            while (!done) {
                run.refresh();
            }
        });
        for (step_number step = 1; step < 100; ++step) {
            build.step(one(step));
        }
        build.end();
        done = true;
    }
    CHECK(wrong == 0);
    CHECK(run.steps().size() == 100);
}
