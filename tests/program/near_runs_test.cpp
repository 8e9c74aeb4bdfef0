#include <program/near_runs.hpp>

#include "program/captured.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>

using namespace smdebug;
using namespace smdebug_test;

namespace {

void make_run(const std::string& path) {
    for (const char* part : {"/collections", "/index/000000000", "/events/000000000000"}) {
        std::filesystem::create_directories(path + part);
    }
}

}  // namespace

TEST_CASE("run_hint: a folder of runs gives their number, and what to type") {
    const temporary_folder folder;
    const std::string runs = folder.path() + "/runs";
    for (int i = 0; i < 12; ++i) {
        make_run(runs + "/run_" + std::to_string(i));
    }
    std::filesystem::create_directories(runs + "/no_run");
    CHECK(cli::detail::run_hint(runs) == " There are 12 runs below it; to name them all write " + runs + "/*");
    CHECK(cli::detail::run_hint(runs + "/") == " There are 12 runs below it; to name them all write " + runs + "/*");
    CHECK(cli::detail::run_hint(folder.path()) ==
          " There are 12 runs below it; to name them all write " + folder.path() + "/*/*");
    CHECK(cli::detail::run_hint(runs + "/no_run") == "");
    make_run(runs + "/no_run/deep");
    CHECK(cli::detail::run_hint(runs + "/no_run") == " There is a run below it: " + runs + "/no_run/deep");
}

TEST_CASE("run_hint: a folder or file inside a run names the run") {
    const temporary_folder folder;
    make_run(folder.path() + "/a");
    folder.write("a/events/000000000000/x.tfevents", "x");
    const std::string said = " It is a part of the run " + folder.path() + "/a";
    CHECK(cli::detail::run_hint(folder.path() + "/a/events") == said);
    CHECK(cli::detail::run_hint(folder.path() + "/a/events/000000000000/x.tfevents") == said);
    CHECK(cli::detail::run_hint("run.tar.gz").empty());
    CHECK(cli::detail::run_hint("file://" + folder.path() + "/a/index") == said);
}

TEST_CASE("run_hint: a missing path suggests folders with similar names, and is empty if there are none") {
    const temporary_folder folder;
    std::filesystem::create_directories(folder.path() + "/resnet_50");
    folder.write("resnet_5", "a file");
    CHECK(cli::detail::run_hint(folder.path() + "/resent_50") == " Did you mean " + folder.path() + "/resnet_50?");
    CHECK(cli::detail::run_hint(folder.path() + "/resent_50", true) == "");  // that one may come
    CHECK(cli::detail::run_hint(folder.path() + "/other") == "");
    CHECK(cli::detail::run_hint("/nowhere/at/all") == "");
}

TEST_CASE("run_hint: a file of another tool is called by its name, with what converts it") {
    const temporary_folder folder;
    for (const char* name : {"model.h5", "model.gguf", "legacy.joblib", "vdlrecords.1.log"}) {
        folder.write(name, "x");
    }
    CHECK(cli::detail::run_hint(folder.path() + "/model.h5").starts_with(" It is HDF5, as Keras writes it: convert"));
    CHECK(cli::detail::run_hint(folder.path() + "/model.gguf").find("gguf.GGUFReader") != std::string::npos);
    CHECK(cli::detail::run_hint(folder.path() + "/legacy.joblib").find("joblib.load") != std::string::npos);
    CHECK(cli::detail::run_hint(folder.path() + "/vdlrecords.1.log").find("VisualDL") != std::string::npos);
    CHECK(cli::detail::run_hint(folder.path() + "/none.h5").empty());
    CHECK(cli::detail::run_hint("s3://bucket/model.onnx").starts_with(" It is ONNX"));
}

TEST_CASE("run_hint: for a prefix, where a search costs requests, it names the command that searches") {
    CHECK(cli::detail::run_hint("s3://bucket/runs") == " Runs below it are found by scan, and by --list");
    CHECK(cli::detail::run_hint("s3://bucket/runs", true) == "");
    CHECK(cli::detail::run_hint("s3://bucket/runs.tar") == "");
    const not_found no_run{error_code::no_training_run, "there is no training run in s3://bucket/runs: a run has ..."};
    CHECK(cli::detail::run_hint(no_run, "s3://bucket/runs") == " Runs below it are found by scan, and by --list");
    const not_found no_bucket{"listing s3://bucket/runs failed: ... There is no bucket"};
    CHECK(cli::detail::run_hint(no_bucket, "s3://bucket/runs") == "");
    const temporary_folder folder;
    make_run(folder.path() + "/a");
    const std::string below = " There is a run below it: " + folder.path() + "/a";
    CHECK(cli::detail::run_hint(not_found{"..."}, folder.path()) == below);
}

TEST_CASE("run_hint: in a folder with very many entries only some are checked") {
    const temporary_folder folder;
    make_run(folder.path() + "/run");
    std::size_t left = 10;
    for (int i = 0; i < 30; ++i) {
        std::filesystem::create_directories(folder.path() + "/run/collections/" + std::to_string(i));
    }
    CHECK(cli::detail::folders_in(folder.path() + "/run/collections", left).size() == 10);
    CHECK(left == 0);
    CHECK(cli::detail::folders_in(folder.path() + "/run/collections", left).empty());
}
