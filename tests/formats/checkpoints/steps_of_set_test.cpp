// Which number is the step where a set of files is known, and what every file is called.
#include <smdebug/formats/checkpoints/find_checkpoints.hpp>

#include <smdebug/core/error.hpp>
#include <support/checkpoint_files.hpp>
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::formats::detail;
using namespace smdebug_test;

namespace {

using keys = std::vector<std::string>;
using numbers = std::vector<step_number>;

found_checkpoints grouped(keys all, const std::string& step_regex = {}) {
    std::sort(all.begin(), all.end());
    return group_checkpoints("out", all, {.step_regex = step_regex});
}

numbers steps_of(const keys& all) {
    numbers steps;
    for (const checkpoint_step& step : grouped(all).steps) {
        steps.push_back(step.step);
    }
    return steps;
}

keys names_of(const keys& all, const std::string& step_regex = {}) {
    keys names;
    for (const checkpoint_step& step : grouped(all, step_regex).steps) {
        names.insert(names.end(), step.names.begin(), step.names.end());
    }
    return names;
}

bool says(const std::string& text, std::string_view words) { return text.find(words) != std::string::npos; }

}  // namespace

TEST_CASE("group_checkpoints: the number that differs is the step, whatever word stands before another") {
    struct row {
        keys files;
        numbers steps;
    };
    const row rows[] = {
        {{"lr1e-4_steps10000/checkpoint-500/m.npz", "lr1e-4_steps10000/checkpoint-1000/m.npz"}, {500, 1000}},
        {{"max_steps_10000/model_500.npz", "max_steps_10000/model_1000.npz"}, {500, 1000}},
        {{"10000_steps/500.npz", "10000_steps/1000.npz"}, {500, 1000}},
        {{"10000_steps/0000100_adapters.npz", "10000_steps/0000200_adapters.npz", "10000_steps/adapters.npz"},
         {100, 200}},
        {{"warmup_steps_100_ckpt_500.npz", "warmup_steps_100_ckpt_1000.npz"}, {500, 1000}},
        {{"model_500_fp16.npz", "model_1000_fp16.npz"}, {500, 1000}},
        {{"llama-7-step-500.npz", "llama-7-step-1000.npz"}, {500, 1000}},
        {{"epoch=0-step=500.npz", "epoch=1-step=1000.npz"}, {500, 1000}},
        {{"step1000-tokens4B/m.npz", "step2000-tokens8B/m.npz"}, {1000, 2000}},
        {{"epoch_0/iter_100/m.npz", "epoch_1/iter_100/m.npz"}, {0, 1}},
        {{"lr1e-4_steps10000/checkpoint-500/m.npz"}, {500}},  // one alone: the inner name
        {{"0000100_adapters.npz"}, {100}},
        {{"2024_model.npz"}, {0}},
        {{"step_500/layer_3.npz", "step_500/layer_4.npz"}, {500}},
        {{"step_500/rank_0.npz", "step_500/rank_1.npz", "step_1000/rank_0.npz"}, {500, 1000}},
        {{"step_500/model_0.npz", "step_500/model_1.npz", "step_1000/model_0.npz"}, {500, 1000}},
        {{"step_500/w_1.npy", "step_500/w_2.npy"}, {500}},
        {{"step_500_w_1.npy", "step_500_w_2.npy", "step_501_w_1.npy"}, {500, 501}},
        {{"conv1_500.npy", "conv2_500.npy"}, {500}},
    };
    for (const row& each : rows) {
        CAPTURE(each.files[0]);
        CHECK(steps_of(each.files) == each.steps);
    }
}

TEST_CASE("group_checkpoints: a number that is the same everywhere is no file's step, of a file with it alone either") {
    const found_checkpoints found =
        grouped({"steps10000/checkpoint-500/m.npz", "steps10000/checkpoint-1000/m.npz", "steps10000/final/m.npz"});
    CHECK(found.steps.size() == 2);
    REQUIRE(found.not_read.size() == 1);
    CHECK(found.not_read[0].name == "steps10000/final/m.npz");
}

TEST_CASE("group_checkpoints: two files of one step whose names differ in another number are refused") {
    for (const keys& all :
         {keys{"epoch_0_iter_100.npz", "epoch_0_iter_200.npz", "epoch_1_iter_100.npz", "epoch_1_iter_200.npz"},
          keys{"seed0_step_100.npz", "seed1_step_100.npz"}, keys{"step_100_seed0.npz", "step_100_seed1.npz"},
          keys{"step_5.npz", "step_05.npz"}, keys{"step=5-val_loss=0.25.npz", "step=5-val_loss=0.5.npz"},
          keys{"epoch_0/iter_100/m.npz", "epoch_0/iter_200/m.npz", "epoch_1/iter_100/m.npz"}}) {
        const std::string said = what_of<value_error>([&] { return grouped(all); });
        CAPTURE(all[0]);
        CHECK(says(said, "is in out twice"));
        CHECK(says(said, "--step-regex"));
    }
    for (const keys& all : {keys{"epoch_0_iter_200.npz", "epoch_1_iter_100.npz"},
                            keys{"2024-01-30_model.npz", "2024-01-31_model.npz", "2024-02-01_model.npz"},
                            keys{"epoch_0/iter_200/m.npz", "epoch_1/iter_100/m.npz"}}) {
        CHECK(says(what_of<value_error>([&] { return grouped(all); }), "say opposite orders"));
    }
    CHECK(grouped({"epoch_0_iter_200.npz", "epoch_1_iter_100.npz"}, "iter_([0-9]+)").steps.size() == 2);
    CHECK(names_of({"seed0_step_100.npz", "seed1_step_100.npz"}, "step_([0-9]+)") == keys{"seed0_step", "seed1_step"});
}

TEST_CASE("group_checkpoints: a file is called the same at every step") {
    CHECK(names_of({"step_1.npz", "step_2.npz", "optimizer_step_2.npz"}) == keys{"step", "optimizer_step", "step"});
    CHECK(names_of({"epoch=0-val_loss=0.25-step=5.npz", "epoch=1-val_loss=0.5-step=9.npz"}) ==
          keys{"epoch-val_loss-step", "epoch-val_loss-step"});
    CHECK(names_of({"0000100_adapters.npz", "0000200_adapters.npz"}) == keys{"adapters", "adapters"});
    CHECK(names_of({"checkpoint-5/global_step5/w.npz", "checkpoint-5/a/b.npz"}) == keys{"a/b", "global_step/w"});
    CHECK(names_of({"m-5-00001-of-00002.safetensors", "m-5-00002-of-00002.safetensors"}) == keys{"m", "m"});
    CHECK(names_of({"500.npy"}) == keys{"array"});
    CHECK(names_of({"step_5/w1.npy", "step_5/w2.npy"}) == keys{"w1", "w2"});
    CHECK(names_of({"v7_of_run3.npy", "v9_of_run3.npy"}, "v([0-9]+)_") == keys{"v_of_run3", "v_of_run3"});
}

TEST_CASE("group_checkpoints: what an index names belongs to its checkpoint, wherever it lies") {
    const keys all{"m.safetensors.index.json", "overlay-00007.safetensors", "parts/m-00001-of-00001.safetensors"};
    checkpoint_search how;
    how.index_of = {{all[1], all[0]}, {all[2], all[0]}};
    CHECK(group_checkpoints("out", all, how).steps == std::vector<checkpoint_step>{{0, "", all}});
    const keys steps{"step_1/a.safetensors.index.json", "step_1/x/part_9.safetensors", "step_2/a.safetensors"};
    how.index_of = {{steps[1], steps[0]}};
    CHECK(group_checkpoints("out", steps, how).steps ==
          std::vector<checkpoint_step>{{1, "step_1/", {steps[0], steps[1]}}, {2, "step_2/", {steps[2]}}});
}
