// The whole program over checkpoints of which a part is not looked at, or has other names than its neighbours.
#include "program/captured.hpp"
#include "support/checkpoint_files.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;

namespace {

const std::string one_tensor = safetensors_of(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8);

bool says(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

/// `check` of one rule over a folder.
ended check(const temporary_folder& folder, const std::string& rule) {
    return run_to_end({"check", folder.path(), "--rule", rule, "--format", "csv"});
}

}  // namespace

TEST_CASE("check: a step that lies in a form that is not read ends it with status 1, and is named") {
    for (const std::string other : {"step_200/model.h5", "step_200.gguf", "step_200/model.safetensors.incomplete",
                                    "step_200/trainer_state.json", "checkpoint_200", "step_200/"}) {
        CAPTURE(other);
        const temporary_folder folder;
        folder.write("step_100/model.safetensors", one_tensor);
        folder.write("step_300/model.safetensors", one_tensor);
        CHECK(check(folder, "exploding_tensor").status == cli::exit_ok);
        if (other.ends_with('/')) {
            std::filesystem::create_directories(folder.path() + "/" + other);
        } else {
            folder.write(other, "x");
        }
        const ended named = check(folder, "exploding_tensor");
        CHECK(named.status == cli::exit_error);
        CHECK(says(named.err, other + ": step 200 has"));
    }
}

TEST_CASE("check: an unchanged tensor is found whatever lies beside it at one of the steps") {
    const temporary_folder folder;
    for (const std::string step : {"1", "2", "3"}) {
        folder.write("checkpoint-" + step + "/model.safetensors", one_tensor);
    }
    const std::string alone = check(folder, "unchanged_tensor,tensor_regex=.*").out;
    folder.write("checkpoint-2/ema.safetensors", one_tensor);
    folder.write("checkpoint-3/optimizer.safetensors", one_tensor);
    const ended beside = check(folder, "unchanged_tensor,tensor_regex=.*");
    CHECK(beside.status == cli::exit_finding);
    CHECK(beside.out == alone);
}

TEST_CASE("check: checkpoints without tensors and tensors without elements are not healthy") {
    const temporary_folder folder;
    folder.write("checkpoint-1/model.safetensors", one_tensor);
    folder.write("checkpoint-2/model.safetensors", safetensors_of("{}"));
    CHECK(check(folder, "exploding_tensor").status == cli::exit_error);
    folder.write("checkpoint-2/model.safetensors",
                 safetensors_of(R"({"w":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}})"));
    const ended empty = check(folder, "exploding_tensor");
    CHECK(empty.status == cli::exit_error);
    CHECK(says(empty.err, "checkpoint-2/model.safetensors: w, step 2: it has no elements"));
}

TEST_CASE("ls: data of another tool is called by its name") {
    const temporary_folder folder;
    folder.write("a/model.onnx", "x");
    for (const std::string path : {"/a", "/a/model.onnx"}) {
        const ended named = run_to_end({"ls", folder.path() + path});
        CHECK(named.status == cli::exit_error);
        CHECK(says(named.err, "is ONNX: convert it in Python by onnx.numpy_helper"));
    }
}
