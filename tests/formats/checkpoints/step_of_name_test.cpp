#include <smdebug/formats/checkpoints/find_checkpoints.hpp>

#include <smdebug/core/error.hpp>
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::formats::detail;

namespace {

std::optional<step_number> step(std::string_view path) {
    const std::optional<named_step> found = step_of_name(path);
    return found ? std::optional{found->step} : std::nullopt;
}

}  // namespace

TEST_CASE("step_of_name: the names that trainings give their checkpoints") {
    const std::pair<std::string_view, step_number> names[] = {
        {"checkpoint-500", 500},
        {"checkpoint-500/model.safetensors", 500},
        {"checkpoint-500/model-00001-of-00002.safetensors", 500},
        {"checkpoint-500/model.safetensors.index.json", 500},
        {"out/step_500.npz", 500},
        {"global_step500/model.safetensors", 500},
        {"epoch=3-step=500.safetensors", 500},
        {"epoch=3/step=500/model.npz", 500},
        {"model_000500.safetensors", 500},
        {"model-500-00001-of-00002.safetensors", 500},
        {"Step 500.npy", 500},
        {"STEPS:500.npy", 500},
        {"rl_model_50000_steps.npz", 50000},
        {"iter_0000500/model.safetensors", 500},
        {"weights.iteration-7.npz", 7},
        {"ckpt-12.npz", 12},
        {"epoch_4.npz", 4},
        {"500/model.npz", 500},
        {"500.npz", 500},
        {"step_0.npz", 0},
        {"v2/llama-7b/checkpoint-10/model.safetensors", 10},
        {"checkpoint-500/global_step501/model.safetensors", 501},
        {"step_1/step_2.npz", 2},
        {"step_500/layer_3.npy", 500},
        {"epoch_1_iter_9_checkpoint_3.npz", 9},
        {"step_9223372036854775807.npz", 9223372036854775807},
        {"step_1e3.npz", 1000},
        {"step_2E+3.npz", 2000},
        {"step_10k.npz", 10000},
        {"ckpt-2M/model.npz", 2'000'000},
        {"step_1,000.npz", 1000},
        {"step_1,234,567.npz", 1'234'567},
        {"10k_steps.npz", 10000},
        {"epoch3step500.npz", 500},
        {"500steps.npz", 500},
        {"lr1e-4_step_7.npz", 7},
        {"lr1e-4_steps10000/checkpoint-500/model.npz", 500},
        {"0000200_adapters.npz", 200},
        {"seed0_step_100.npz", 100},
    };
    for (const auto& [name, wanted] : names) {
        CAPTURE(name);
        CHECK(step(name) == wanted);
    }
}

TEST_CASE("step_of_name: numbers that are no step's") {
    for (const std::string_view name : {"",
                                        "/",
                                        "model.safetensors",
                                        "gpt2.safetensors",
                                        "llama-7b/model.safetensors",
                                        "v2/model.npz",
                                        "model-00001-of-00002.safetensors",
                                        "model-00002-of-00002.safetensors",
                                        "model_0.5.npz",
                                        "step.npz",
                                        "step_9223372036854775808.npz",
                                        "2024-run/model.npz",
                                        "step/x.npz",
                                        "step_-1.npz",
                                        "step=-1.npz",
                                        "-1.npz",
                                        "step_1e-3.npz",
                                        "step_1.5k.npz",
                                        "step_1_000.npz",
                                        "step_7b.npz",
                                        "step_0.5.npz",
                                        "step_1.2.3.npz",
                                        "step_1e30.npz",
                                        "checkpoint-3f2a/model.npz",
                                        "2024_model.npz",
                                        "layer_3.npz",
                                        "rank_0.npz"}) {
        CAPTURE(name);
        CHECK(step(name) == std::nullopt);
    }
}

TEST_CASE("step_of_name: returns where the number ends") {
    CHECK(step_of_name("checkpoint-500/model.safetensors")->end == 14);
    CHECK(step_of_name("a/step_7.npz")->end == 8);
}

TEST_CASE("step_of_name: a long name takes no longer than it is") {
    const std::string digits(1'000'000, '7');
    CHECK(step("step_" + digits) == std::nullopt);
    std::string many;
    for (std::size_t i = 0; i < 100'000; ++i) {
        many += "step_1/";
    }
    CHECK(step(many) == 1);
}

TEST_CASE("step_pattern: takes its one group") {
    const step_pattern pattern{"run-([0-9]+)-of"};
    CHECK(pattern("a/run-0042-of/step_7.npz") == named_step{42, 10});
    CHECK(pattern("a/step_7.npz") == std::nullopt);
    CHECK(step_pattern{"(?:a|b)(\\d+)"}("b3")->step == 3);
}

TEST_CASE("step_pattern: what cannot be right is a value_error") {
    CHECK_THROWS_AS(step_pattern{"run-[0-9]+"}, value_error);
    CHECK_THROWS_AS(step_pattern{"(a)([0-9]+)"}, value_error);
    CHECK_THROWS_AS(step_pattern{"("}, value_error);
    for (const std::string_view name : {"run-x", "run-", "run--3", "run-9223372036854775808"}) {
        CAPTURE(name);
        CHECK_THROWS_AS(static_cast<void>(step_pattern{"run-(.*)"}(name)), value_error);
    }
}
