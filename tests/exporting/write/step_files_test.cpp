#include <smdebug/exporting/write/export_walk.hpp>

#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/trial/catalog/catalog.hpp>

using namespace smdebug;
using namespace smdebug_test;
using detail::export_extent;
using detail::step_files;
namespace fs = std::filesystem;

namespace {

const detail::catalog::file one_file{};

export_extent extent_of(std::size_t files, std::size_t workers) {
    export_extent made;
    made.files.assign(files, &one_file);
    for (std::size_t i = 0; i < workers; ++i) {
        made.workers.push_back("worker_" + std::to_string(i));
    }
    return made;
}

detail::scanned_tensor at(step_number step, std::string_view worker = "worker_0") {
    detail::scanned_tensor tensor;
    tensor.step = step;
    tensor.shown_step = step;
    tensor.worker = worker;
    return tensor;
}

}  // namespace

TEST_CASE("step_files: a file a step, which appear together") {
    const temporary_folder folder;
    const std::string out = folder.path() + "/out";
    export_result result;
    step_files files{out, ".x", extent_of(2, 1), {}};
    for (const step_number step : {step_number{5}, step_number{1'234'567'890'123}}) {
        files.open(at(step)).append("text");
        files.close();
    }
    CHECK_FALSE(fs::exists(out));
    files.finish(result);
    CHECK(file_content(out + "/step_000000005.x") == "text");
    CHECK(file_content(out + "/step_1234567890123.x") == "text");
    CHECK(result.files == 2);
    CHECK(result.bytes == 8);
}

TEST_CASE("step_files: workers' names are parts of files' names, wherever they would lead") {
    const temporary_folder folder;
    export_result result;
    step_files files{folder.path() + "/out", ".x", extent_of(2, 2), {}};
    files.open(at(1, "worker_0")).append("a");
    files.close();
    files.open(at(1, "/../../job:0")).append("b");
    files.close();
    files.open(at(1, "/job:worker/replica:0")).append("c");
    files.close();
    files.finish(result);
    CHECK(file_content(folder.path() + "/out/step_000000001__job-worker_replica-0.x") == "c");  // as in runs
    CHECK(file_content(folder.path() + "/out/step_000000001_worker_0.x") == "a");
    CHECK(file_content(folder.path() + "/out/step_000000001_%2F%2E%2E%2F%2E%2E%2Fjob:0.x") == "b");
}

TEST_CASE("step_files: steps of several modes with one number are files with the mode in their names") {
    const temporary_folder folder;
    export_result result;
    export_extent what = extent_of(2, 1);
    what.repeats_steps = true;
    step_files files{folder.path() + "/out", ".x", what, {}};
    for (const auto& [global, in] : {std::pair{20, mode::train}, std::pair{21, mode::eval}}) {
        detail::scanned_tensor tensor = at(global);
        tensor.shown_step = 10;
        tensor.mode = in;
        files.open(tensor).append(name_of(in));
        files.close();
    }
    files.finish(result);
    CHECK(file_content(folder.path() + "/out/step_000000010_TRAIN.x") == "TRAIN");
    CHECK(file_content(folder.path() + "/out/step_000000010_EVAL.x") == "EVAL");
    CHECK(detail::is_step_file("step_000000010_EVAL.x", ".x"));
}

TEST_CASE("step_files: one file for one step; nothing is left where it is given up") {
    const temporary_folder folder;
    const std::string path = folder.path() + "/one.x";
    {
        step_files files{path, ".x", extent_of(1, 1), {}};
        files.open(at(1)).append("a");
        files.close();
        CHECK_THROWS_AS(static_cast<void>(files.open(at(2))), value_error);
    }
    CHECK(fs::is_empty(folder.path()));
    {
        step_files files{folder.path() + "/out", ".x", extent_of(2, 1), {}};
        files.open(at(1)).append("a");
    }
    CHECK(fs::is_empty(folder.path()));
    CHECK_THROWS_AS(step_files(path, ".x", extent_of(2, 1), {}), value_error);
    export_result result;
    step_files files{path, ".x", extent_of(1, 1), {}};
    files.open(at(1)).append("a");
    files.close();
    files.finish(result);
    CHECK(file_content(path) == "a");
    CHECK_THROWS_AS(step_files(path, ".x", extent_of(1, 1), {}), run_exists);
    CHECK_NOTHROW(step_files(path, ".x", extent_of(1, 1), {.replace = true}));
}

TEST_CASE("is_step_file: names that it gives") {
    CHECK(detail::is_step_file("step_000000005.npz", ".npz"));
    CHECK(detail::is_step_file("step_000000005_worker_0.npz", ".npz"));
    CHECK_FALSE(detail::is_step_file("step_000000005.npz", ".safetensors"));
    CHECK_FALSE(detail::is_step_file("step_.npz", ".npz"));
    CHECK_FALSE(detail::is_step_file("weights.npz", ".npz"));
    CHECK_FALSE(detail::is_step_file("sub/step_000000005.npz", ".npz"));
}
