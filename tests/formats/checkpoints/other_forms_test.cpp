// Steps in forms that are not read; links to checkpoints, and copies.
#include <smdebug/formats/checkpoints/find_checkpoints.hpp>

#include <smdebug/core/error.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <support/checkpoint_files.hpp>
#include "support/test.hpp"

#include "support/temporary_folder.hpp"

using namespace smdebug;
using namespace smdebug::formats::detail;
using namespace smdebug_test;

namespace {

using keys = std::vector<std::string>;

bool says(const std::string& text, std::string_view words) { return text.find(words) != std::string::npos; }

/// What is named of these beside the steps 100 and 300.
std::vector<left_out> beside(keys all) {
    all.insert(all.end(), {"step_100/model.safetensors", "step_300/model.safetensors"});
    std::sort(all.begin(), all.end());
    const found_checkpoints found = group_checkpoints("out", all);
    CHECK(found.steps.size() == 2);
    return found.not_read;
}

}  // namespace

TEST_CASE("group_checkpoints: a step in a form that is not read is named, with what it is and what converts it") {
    struct row {
        keys files;
        std::string what;
        std::string how;
    };
    const row rows[] = {
        {{"step_200/model.weights.h5"}, "HDF5", "keras"},
        {{"step_200.keras"}, "Keras", "keras"},
        {{"step_200/flax_model.msgpack"}, "msgpack", "flax"},
        {{"checkpoint_200"}, "Flax", "flax"},
        {{"step_200/pytorch_model_fsdp_0/__0_0.distcp"}, "torch.distributed", "saving it again"},
        {{"step_200/model.ckpt.data-00000-of-00001", "step_200/model.ckpt.index"}, "TensorFlow", "load_checkpoint"},
        {{"model.ckpt-200.index"}, "TensorFlow", "load_checkpoint"},
        {{"step_200/saved_model.pb"}, "SavedModel", "tf.saved_model"},
        {{"step_200.gguf"}, "GGUF", "gguf"},
        {{"step_200.onnx"}, "ONNX", "onnx"},
        {{"step_200/model.tflite"}, "TensorFlow Lite", "tf.lite"},
        {{"step_200/model.pdparams"}, "Paddle", "paddle.load"},
        {{"step_200.joblib"}, "pickled", ""},
        {{"step_200/default/_METADATA", "step_200/default/d/0"}, "Orbax", "orbax"},
        {{"step_200/w.zarr/.zarray", "step_200/w.zarr/0"}, "Zarr", "zarr.open"},
        {{"step_200/model.safetensors.incomplete"}, "not written to its end", ""},
        {{"step_200/model.safetensors.tmp"}, "not written to its end", ""},
        {{"step_200/config.json", "step_200/trainer_state.json"}, "no checkpoint", ""},
        {{"step_200/"}, "no checkpoint", ""},
        {{"step_400/model.h5"}, "HDF5", ""},  // beyond them
        {{"step_50/model.h5"}, "HDF5", ""},
    };
    for (const row& each : rows) {
        CAPTURE(each.files[0]);
        const std::vector<left_out> named = beside(each.files);
        const auto one = std::find_if(named.begin(), named.end(), [&](const left_out& some) {
            return says(some.why, each.what) && says(some.why, each.how);
        });
        REQUIRE(one != named.end());
        CHECK(named.size() == 1);
        CHECK(one->name.substr(0, 5) == each.files[0].substr(0, 5));
    }
}

TEST_CASE("group_checkpoints: what is no step is not named") {
    for (const std::string key :
         {"samples/step_200/0.png", "log_200.txt", "step_100/trainer_state.json", "step_100/model.safetensors.tmp",
          "model.onnx", "step_100/tokenizer.json", "runs/7/a"}) {
        CAPTURE(key);
        CHECK(beside({key}).empty());
    }
}

TEST_CASE("group_checkpoints: other tools' files alone are refused with what converts each") {
    const auto said = [](const keys& all) {
        return what_of<unsupported>([&] { return group_checkpoints("out", all); });
    };
    CHECK(says(said({"model.h5"}), "model.h5 is HDF5, as Keras writes it: convert it in Python by keras"));
    CHECK(says(said({"vdlrecords.1609224918.log"}), "VisualDL"));
    const std::string two = said({"step_1/model.h5", "step_1/state.joblib"});
    CHECK(says(two, "step_1/model.h5 is HDF5"));
    CHECK(says(two, "step_1/state.joblib is pickled by Python"));
    CHECK(group_checkpoints("out", keys{"trainer_state.json"}).steps.empty());
    CHECK(group_checkpoints("out", keys{"model.h5"}, {.finished_alone = true}).steps.empty());  // others may come
}

TEST_CASE("find_checkpoints: folders of steps that are empty are named") {
    const temporary_folder folder;
    folder.write("a/step_100/m.safetensors", "x");
    folder.write("a/step_300/m.safetensors", "x");
    std::filesystem::create_directories(folder.path() + "/a/step_200");
    std::filesystem::create_directories(folder.path() + "/a/step_400/deeper");
    std::filesystem::create_directories(folder.path() + "/a/logs");
    std::filesystem::create_directory_symlink("step_300", folder.path() + "/a/step_900");
    const found_checkpoints found = find_checkpoints(any_storage{local_storage{folder.path()}});
    REQUIRE(found.not_read.size() == 2);
    CHECK(found.not_read[0].name == "a/step_200/");
    CHECK(found.not_read[1].name == "a/step_400/");
    // While a training is followed, one that was made a moment ago may be filled.
    CHECK(find_checkpoints(any_storage{local_storage{folder.path()}}, {.finished_alone = true}).not_read.empty());
}

TEST_CASE("find_checkpoints: a link to a file of the set is no second checkpoint") {
    const temporary_folder folder;
    folder.write("step_500.safetensors", "one");
    folder.write("step_1000.safetensors", "two");
    std::filesystem::create_symlink("step_1000.safetensors", folder.path() + "/latest.safetensors");
    std::filesystem::create_symlink("step_1000.safetensors", folder.path() + "/best_step_1000.safetensors");
    const any_storage store{local_storage{folder.path()}};
    CHECK(find_checkpoints(store).not_read.empty());
    CHECK(find_checkpoints(store).steps.at(1).files.size() == 1);
    folder.write("last.safetensors", "two");  // a copy under another name may be meant as one
    REQUIRE(find_checkpoints(store).not_read.size() == 1);
    CHECK(find_checkpoints(store).not_read[0].name == "last.safetensors");
    const temporary_folder outside;  // a link that leads elsewhere is a checkpoint
    std::filesystem::create_symlink(folder.path() + "/step_500.safetensors", outside.path() + "/step_1.safetensors");
    CHECK(find_checkpoints(any_storage{local_storage{outside.path()}}).steps.size() == 1);
}

TEST_CASE("find_checkpoints: numbered adapters of mlx, and the last ones beside them") {
    memory_storage files{"out"};
    files.write("0000100_adapters.safetensors", as_bytes("one"));
    files.write("0000200_adapters.safetensors", as_bytes("two"));
    files.write("adapters.safetensors", as_bytes("two"));
    const found_checkpoints found = find_checkpoints(any_storage{files});
    REQUIRE(found.steps.size() == 2);
    CHECK(found.steps[1].step == 200);
    CHECK(found.not_read.empty());
    files.write("adapters.safetensors", as_bytes("owt"));
    CHECK(find_checkpoints(any_storage{files}).not_read.size() == 1);
}
