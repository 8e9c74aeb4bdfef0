#include <smdebug/formats/checkpoints/find_checkpoints.hpp>

#include <smdebug/core/error.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <support/checkpoint_files.hpp>
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::formats::detail;
using namespace smdebug_test;

namespace {

using keys = std::vector<std::string>;

found_checkpoints grouped(keys all, const std::string& step_regex = {}) {
    std::sort(all.begin(), all.end());
    return group_checkpoints("s3://b/run", all, {.step_regex = step_regex});
}

bool says(const std::string& text, std::string_view words) { return text.find(words) != std::string::npos; }

keys names_of(const std::vector<left_out>& some) {
    keys names;
    for (const left_out& each : some) {
        names.push_back(each.name);
    }
    return names;
}

}  // namespace

TEST_CASE("kind_of: by the ending") {
    CHECK(kind_of("a/model.safetensors") == checkpoint_kind::safetensors);
    CHECK(kind_of("a/model.safetensors.index.json") == checkpoint_kind::index);
    CHECK(kind_of("a/model.safetensors.index.fp16.json") == checkpoint_kind::index);
    CHECK(kind_of("pytorch_model.bin.index.json") == checkpoint_kind::index);
    CHECK(kind_of("a.npz") == checkpoint_kind::npz);
    CHECK(kind_of("a.npy") == checkpoint_kind::npy);
    for (const std::string_view name : {"a.pt", "a.pth", "a.bin", "a.ckpt", "a.pkl"}) {
        CHECK(kind_of(name) == checkpoint_kind::torch);
    }
    CHECK(kind_of("a.joblib") == checkpoint_kind::pickle);
    CHECK(kind_of("step_5/.metadata") == checkpoint_kind::distributed);
    CHECK(kind_of(".metadata") == checkpoint_kind::distributed);
    for (const std::string_view name : {"", "a.json", "npz", "a.index.json", "a.npz.tmp", "trainer_state.json",
                                        "a/._model.safetensors", "._x.npz", "._x.pt", "a.metadata", "pt"}) {
        CHECK(kind_of(name) == checkpoint_kind::none);
    }
}

TEST_CASE("checkpoint_of: what shards and their index have in common, with the variant") {
    for (const std::string_view name :
         {"a/m-00001-of-00002.safetensors", "a/m.safetensors.index.json", "a/m.safetensors"}) {
        CHECK(checkpoint_of(name) == "a/m");
    }
    for (const std::string_view name : {"m.fp16-00001-of-00002.safetensors", "m-00001-of-00002.fp16.safetensors",
                                        "m.safetensors.index.fp16.json", "m.fp16.safetensors"}) {
        CHECK(checkpoint_of(name) == "m.fp16");
    }
    for (const std::string_view name : {"m-00001-of-00002.bin", "m.bin.index.json", "m.bin"}) {
        CHECK(checkpoint_of(name) == "m.bin");
    }
    CHECK(checkpoint_of("a/x.npz") == "a/x.npz");
}

TEST_CASE("find_checkpoints: a folder of Hugging Face's Trainer") {
    const any_storage store{local_storage{checkpoint_folder + "/trainer"}};
    const found_checkpoints found = find_checkpoints(store);
    CHECK(found.steps ==
          std::vector<checkpoint_step>{
              {500, "checkpoint-500/", {"checkpoint-500/model.safetensors", "checkpoint-500/optimizer.pt"}},
              {1000, "checkpoint-1000/", {"checkpoint-1000/model.safetensors", "checkpoint-1000/optimizer.pt"}}});
    CHECK(found.not_read.empty());
}

TEST_CASE("group_checkpoints: the final model beside steps is left out and named") {
    const found_checkpoints found = grouped({"model.safetensors", "checkpoint-5/model.safetensors", "config.json"});
    CHECK(found.steps.size() == 1);
    CHECK(names_of(found.not_read) == keys{"model.safetensors"});
    CHECK(found.not_read[0].kind == problem_kind::left_out);
}

TEST_CASE("group_checkpoints: files of one folder that name the same step are one step, by number and not by text") {
    const found_checkpoints found = grouped({"step_100.npz", "step_20.npz", "optimizer_step_20.npz", "step_3.npy"});
    CHECK(found.steps == std::vector<checkpoint_step>{{3, "", {"step_3.npy"}},
                                                      {20, "", {"optimizer_step_20.npz", "step_20.npz"}},
                                                      {100, "", {"step_100.npz"}}});
}

TEST_CASE("group_checkpoints: what lies in folders of a step belongs to it") {
    const found_checkpoints found =
        grouped({"checkpoint-5/model.safetensors", "checkpoint-5/global_step5/w.safetensors",
                 "checkpoint-5/adapter/adapter.safetensors"});
    REQUIRE(found.steps.size() == 1);
    CHECK(found.steps[0].folder == "checkpoint-5/");
    CHECK(found.steps[0].files.size() == 3);
    const found_checkpoints inner_first =
        grouped({"checkpoint-5/global_step5/w.safetensors", "checkpoint-5/model.safetensors"});
    CHECK(inner_first.steps.at(0).folder == "checkpoint-5/");
    CHECK(inner_first.steps.at(0).files.size() == 2);
}

TEST_CASE("group_checkpoints: a step in two places is refused with what to do") {
    for (const keys& two : {keys{"a/step_5.npz", "b/step_5.npz"}, keys{"step_5.npz", "b/step_5.npz"},
                            keys{"a/checkpoint-5/m.npz", "b/checkpoint-5/m.npz"}, keys{"step_5/x.npy", "step_05/x.npy"},
                            keys{"step_5.npz", "step_5/x.npy"}}) {
        CAPTURE(two[1]);
        const std::string said = what_of<value_error>([&] { return grouped(two); });
        CHECK(says(said, "step 5 is in s3://b/run twice"));
        CHECK(says(said, two[0]));
        CHECK(says(said, two[1]));
        CHECK(says(said, "--step-regex"));
    }
}

TEST_CASE("group_checkpoints: one checkpoint without a number is step 0, in parts, too") {
    CHECK(grouped({"model.safetensors", "README.md"}).steps ==
          std::vector<checkpoint_step>{{0, "", {"model.safetensors"}}});
    CHECK(grouped({"out/weights.npz"}).steps == std::vector<checkpoint_step>{{0, "out/", {"out/weights.npz"}}});
    const keys parts{"model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors",
                     "model.safetensors.index.json"};
    CHECK(grouped(parts).steps == std::vector<checkpoint_step>{{0, "", parts}});
}

TEST_CASE("group_checkpoints: several without a number are refused with what to do") {
    for (const keys& several :
         {keys{"a.npz", "b.npz"}, keys{"a/model.safetensors", "b/model.safetensors"},
          keys{"adapter.safetensors", "model-00001-of-00001.safetensors"}, keys{"x.npy", "x.npz", "y.npy"}}) {
        const std::string said = what_of<value_error>([&] { return grouped(several); });
        CAPTURE(said);
        CHECK(says(said, std::to_string(several.size()) + " files of checkpoints whose names say no step"));
        CHECK(says(said, several[0]));
        CHECK(says(said, "--step-regex"));
    }
}

TEST_CASE("group_checkpoints: what is saved beside a model is a part of its checkpoint") {
    const keys model{"model.safetensors", "optimizer.pt", "rng_state_0.pth", "training_args.bin"};
    CHECK(grouped(model).steps == std::vector<checkpoint_step>{{0, "", model}});
    CHECK(grouped({"a/pytorch_model.bin", "optimizer.pt"}).steps.at(0).files == keys{"a/pytorch_model.bin"});
    CHECK(names_of(grouped({"a/pytorch_model.bin", "optimizer.pt"}).not_read) == keys{"optimizer.pt"});
    CHECK(grouped({"optimizer.pt"}).steps.at(0).files == keys{"optimizer.pt"});
    const keys shards{"pytorch_model-00001-of-00002.bin", "pytorch_model-00002-of-00002.bin",
                      "pytorch_model.bin.index.json", "scheduler.pt"};
    CHECK(grouped(shards).steps == std::vector<checkpoint_step>{{0, "", shards}});
    const keys folders{"optimizer_0/.metadata", "pytorch_model_fsdp_0/.metadata", "random_states_0.pkl"};
    CHECK(grouped(folders).steps == std::vector<checkpoint_step>{{0, "", folders}});
    CHECK(grouped(folders).steps.at(0).names == keys{"optimizer_0", "pytorch_model_fsdp_0", "random_states_0"});
    CHECK(named_by("optimizer_0/.metadata") == "optimizer_0");
    // Of a model in two forms one is read.
    CHECK(grouped({"model.safetensors", "pytorch_model.bin"}).steps.at(0).files == keys{"model.safetensors"});
    CHECK(names_of(grouped({"model.safetensors", "pytorch_model.bin"}).not_read) == keys{"pytorch_model.bin"});
}

TEST_CASE("group_checkpoints: files of PyTorch without a number are the steps that they say inside") {
    const auto said = [](const keys& all, const std::map<std::string, step_number>& inside) {
        return group_checkpoints("out", all, {.step_inside = [&](const std::string& key) {
                                     const auto found = inside.find(key);
                                     return found != inside.end() ? std::optional{found->second} : std::nullopt;
                                 }});
    };
    CHECK(said({"last.ckpt"}, {{"last.ckpt", 70}}).steps == std::vector<checkpoint_step>{{70, "", {"last.ckpt"}}});
    CHECK(said({"best.ckpt", "last.ckpt"}, {{"best.ckpt", 30}, {"last.ckpt", 70}}).steps ==
          std::vector<checkpoint_step>{{30, "", {"best.ckpt"}}, {70, "", {"last.ckpt"}}});
    CHECK_THROWS_AS(static_cast<void>(said({"a.pt", "b.pt"}, {{"a.pt", 1}, {"b.pt", 1}})), value_error);
    CHECK_THROWS_AS(static_cast<void>(said({"a.pt", "b.pt"}, {{"a.pt", 1}})), value_error);
    // A name says it first.
    CHECK(said({"step_5.pt"}, {{"step_5.pt", 9}}).steps.at(0).step == 5);
}

TEST_CASE("group_checkpoints: pickled files alone are refused with how to convert them") {
    const std::string said = what_of<unsupported>([&] { return grouped({"a.joblib"}); });
    CHECK(says(said, "a.joblib is pickled by Python"));
    CHECK(says(said, "joblib.load"));
}

TEST_CASE("group_checkpoints: by a pattern of the user's") {
    const found_checkpoints found = grouped({"run-7/a.npz", "run-8/a.npz", "other/a.npz"}, "run-(\\d+)");
    CHECK(found.steps == std::vector<checkpoint_step>{{7, "run-7/", {"run-7/a.npz"}}, {8, "run-8/", {"run-8/a.npz"}}});
    CHECK(names_of(found.not_read) == keys{"other/a.npz"});
    const std::string said = what_of<value_error>([&] { return grouped({"a.npz", "b.npz"}, "run-(\\d+)"); });
    CHECK_FALSE(says(said, "--step-regex"));
    CHECK_THROWS_AS(static_cast<void>(grouped({"run-7.npz"}, "run-")), value_error);
}

TEST_CASE("group_checkpoints: nothing where nothing is") {
    CHECK(grouped({}).steps.empty());
    CHECK(grouped({"collections/000000000/worker_0_collections.json", "index/0.json"}).steps.empty());
}
