#include <program/export.hpp>

#include "program/captured.hpp"

#include <program/program.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;
namespace fs = std::filesystem;

TEST_CASE("export: every format, with what stats selects") {
    const temporary_folder folder;
    write_sick_run(folder);
    const temporary_folder place;
    const auto exported = [&](const std::string& to, const std::string& name, std::vector<std::string> more = {}) {
        std::vector<std::string> arguments{"export", folder.path(), "--to", to, "-o", place.path() + "/" + name};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const ended done = run_to_end(arguments);
        CHECK(done.status == cli::exit_ok);
        CHECK(done.err.empty());
        return done.out;
    };
    CHECK(contains(exported("npz", "npz"), "exported 6 tensors into " + place.path() + "/npz: 3 files, "));
    CHECK(contains(exported("npz", "w.npz", {"--tensors", "^w$"}), "exported 3 tensors"));
    CHECK(contains(exported("safetensors", "st", {"--steps", "1:"}), "exported 4 tensors"));
    CHECK(contains(exported("tensorboard", "tb", {"--mode", "eval"}), "exported 2 tensors"));
    CHECK(contains(exported("smdebug", "run", {"--collection", "gradients"}), "exported 3 tensors"));
    CHECK(contains(run_to_end({"ls", place.path() + "/run"}).out, "ended"));
    CHECK(contains(exported("csv", "x.csv", {"--threads", "2"}), "exported 6 tensors"));
    CHECK(file_content(place.path() + "/x.csv") == run_to_end({"stats", folder.path(), "--format", "csv"}).out);
    exported("csv", "some.csv", {"--reductions", "nan,mean", "--steps", ":2"});
    CHECK(file_content(place.path() + "/some.csv") ==
          run_to_end({"stats", folder.path(), "--format", "csv", "--reductions", "nan,mean", "--steps", ":2"}).out);
    exported("csv", "values.csv", {"--values", "--tensors", "^w$", "--steps", "0:1"});
    CHECK(file_content(place.path() + "/values.csv") == "run,tensor,worker,step,mode,mode_step,index,value\n" +
                                                            folder.path() + ",w,worker_0,0,TRAIN,0,0,1\n" +
                                                            folder.path() + ",w,worker_0,0,TRAIN,0,1,2\n");
}

TEST_CASE("export: existing output is replaced only by --replace, or --force") {
    const temporary_folder folder;
    write_sick_run(folder);
    const temporary_folder place;
    const std::string out = place.path() + "/out";
    const std::vector<std::string> arguments{"export", folder.path(), "--to", "npz", "-o", out};
    CHECK(run_to_end(arguments).status == cli::exit_ok);
    const ended again = run_to_end(arguments);
    CHECK(again.status == cli::exit_error);
    CHECK(contains(again.err, "is there already"));
    for (const std::string flag : {"--replace", "--force"}) {
        std::vector<std::string> forced = arguments;
        forced.insert(forced.end(), {flag, "--steps", "0:1"});
        CHECK(run_to_end(forced).status == cli::exit_ok);
    }
    CHECK_FALSE(fs::exists(out + "/step_000000001.npz"));
}

TEST_CASE("export: wrong usage") {
    const temporary_folder place;
    const auto refused = [&](std::vector<std::string> more) {
        std::vector<std::string> arguments{"export", "run"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const ended done = run_to_end(arguments);
        CHECK(done.status == cli::exit_usage);
        return done.err;
    };
    refused({"--to", "npz"});
    refused({"-o", "x"});
    CHECK(contains(refused({"--to", "hdf5", "-o", "x"}), "hdf5"));
    CHECK(contains(refused({"--to", "npz", "-o", "x", "--values"}), "--values is for --to csv"));
    CHECK(contains(refused({"--to", "csv", "-o", "x", "--values", "--reductions", "mean"}),
                   "--reductions is for --to csv without"));
    CHECK(contains(refused({"--to", "csv", "-o", "x", "--reductions", "median"}), "median"));
    CHECK(contains(refused({"--to", "csv", "-o", "x", "--as-tensors"}), "--as-tensors is for --to tensorboard"));
    CHECK(contains(refused({"--to", "npz", "-o", "x", "--tensors", "("}), "--tensors"));
    CHECK(contains(refused({"--to", "npz", "-o", "x", "--mode", "nap"}), "--mode"));
}

TEST_CASE("export: damage is named, the rest is exported, and the status is 1") {
    const temporary_folder folder;
    write_sick_run(folder);
    const temporary_folder place;
    folder.remove("events/000000000001/000000000001_worker_0.tfevents");
    const ended done = run_to_end({"export", folder.path(), "--to", "safetensors", "-o", place.path() + "/out"});
    CHECK(done.status == cli::exit_error);
    CHECK(contains(done.err, "000000000001_worker_0.tfevents is missing: nothing of step 1 of worker_0"));
    CHECK(contains(done.out, "exported 4 tensors"));
    CHECK(contains(done.out, "; 1 place of the run left out, see the messages\n"));
    CHECK(fs::exists(place.path() + "/out/step_000000002.safetensors"));
}

TEST_CASE("export: a missing run, an unknown worker, an archive of several runs, an interruption") {
    const temporary_folder folder;
    write_sick_run(folder);
    const temporary_folder place;
    const std::string out = place.path() + "/out";
    CHECK(run_to_end({"export", place.path() + "/none", "--to", "npz", "-o", out}).status == cli::exit_error);
    const ended worker = run_to_end({"export", folder.path(), "--to", "npz", "-o", out, "--worker", "worker_7"});
    CHECK(worker.status == cli::exit_error);
    CHECK(contains(worker.err, "worker_7"));
    CHECK(run_to_end({"pack", golden("scalars"), golden("dtypes"), "-o", place.path() + "/two.tar"}).status ==
          cli::exit_ok);
    const ended several = run_to_end({"export", place.path() + "/two.tar", "--to", "npz", "-o", out});
    CHECK(several.status == cli::exit_error);
    CHECK(contains(several.err, "holds 2 runs, and one is exported"));
    CHECK(run_to_end({"export", place.path() + "/two.tar!/scalars", "--to", "npz", "-o", out}).status == cli::exit_ok);
    captured run;
    std::stop_source stop;
    stop.request_stop();
    CHECK(cli::status_of(run.to, [&] {
              return cli::detail::export_to({.run = folder.path(), .output = out + "2"}, run.to, stop.get_token());
          }) == cli::exit_interrupted);
    CHECK(contains(run.err.str(), "was stopped; nothing was written"));
    CHECK_FALSE(fs::exists(out + "2"));
}
