#include <program/learn.hpp>

#include "program/captured.hpp"
#include "program/healthy_runs.hpp"

#include <program/program.hpp>
#include <smdebug/learn/learn.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;
namespace fs = std::filesystem;

TEST_CASE("learn: a file of runs, and other runs checked against it") {
    const healthy_runs all;
    const std::string file = all.at("normal.json");
    const ended learned = run_to_end({"learn", all.at("runs"), "-o", file, "--threads", "2"});
    CHECK(learned.status == cli::exit_ok);
    CHECK(learned.out == "learned from 8 runs: 1 tensor, into " + file +
                             "\nnone of 8 runs would raise an alarm if learned from the others\n");
    CHECK(learned.err.empty());
    write_healthy_run(all.at("good"), 1.2);
    write_healthy_run(all.at("bad"), 1.2, 3);
    const std::string rule = "learned,file=" + file;
    CHECK(run_to_end({"check", all.at("good"), "--rule", rule}).status == cli::exit_ok);
    const ended bad = run_to_end({"check", all.at("bad"), "--rule", rule, "--format", "json"});
    CHECK(bad.status == cli::exit_finding);
    CHECK(contains(bad.out, "high: abs_max is 243 at TRAIN step 3, above "));
    CHECK(contains(bad.out, "in 8 healthy runs 5 to 5.7 in step 3"));
    const ended scanned = run_to_end({"scan", all.at("bad"), all.at("good"), "--rule", rule, "--format", "csv"});
    CHECK(contains(scanned.out, "IssuesFound"));
    CHECK(run_to_end({"check", all.at("bad"), "--rule", rule + ",kinds=low;missing"}).status == cli::exit_ok);
}

TEST_CASE("learn: the same bytes from parts, added, merged and in shards") {
    const healthy_runs all;
    run_to_end({"learn", all.at("runs"), "-o", all.at("all.json")});
    const std::string whole = file_content(all.at("all.json"));
    run_to_end({"learn", all.run(0), all.run(1), all.run(2), "-o", all.at("some.json")});
    CHECK(run_to_end({"learn", all.at("runs/[d-h]"), "--add", all.at("some.json"), "-o", all.at("some.json")}).status ==
          0);
    CHECK(file_content(all.at("some.json")) == whole);
    for (const char* part : {"1", "2", "3"}) {
        run_to_end(
            {"learn", all.at("runs"), "--shard", std::string{part} + "/3", "-o", all.at(std::string{part} + ".json")});
    }
    std::vector<std::string> merge{"learn", "-o", all.at("merged.json")};
    for (const char* part : {"1", "2", "3"}) {
        if (fs::exists(all.at(std::string{part} + ".json"))) {
            merge.insert(merge.end(), {"--add", all.at(std::string{part} + ".json")});
        }
    }
    CHECK(run_to_end(merge).status == cli::exit_ok);
    CHECK(file_content(all.at("merged.json")) == whole);
    all.folder.write("list", "# healthy\n" + all.run(0) + "\n" + all.run(1) + "\n");
    CHECK(run_to_end({"learn", all.at("runs/[c-h]"), "--list", all.at("list"), "-o", all.at("listed.json")}).status ==
          0);
    CHECK(file_content(all.at("listed.json")) == whole);
}

TEST_CASE("learn: runs that are left out, and a run that has not ended") {
    const healthy_runs all;
    const std::string file = all.at("normal.json");
    write_healthy_run(all.at("unended"), 1, -1, false);
    write_healthy_run(all.at("damaged"), 1);
    fs::resize_file(all.at("damaged/events/000000000002/000000000002_worker_0.tfevents"), 30);
    const ended some =
        run_to_end({"learn", all.run(0), all.at("damaged"), all.at("unended"), all.at("none"), "-o", file});
    CHECK(some.status == cli::exit_error);
    CHECK(contains(some.err, all.at("damaged") + " is left out: "));
    CHECK(contains(some.err, all.at("none") + " is left out: "));
    CHECK(contains(some.err, "note: " + all.at("unended") + ": its job has not ended"));
    CHECK(contains(some.out, "learned from 2 runs"));
    const ended json = run_to_end({"learn", all.run(0), all.at("damaged"), "-o", file, "--format", "json"});
    CHECK(json.status == cli::exit_error);
    CHECK(json.out.starts_with("{\"runs\": 1, \"tensors\": 1, \"left_out\": [{\"run\": \"" + all.at("damaged") +
                               "\", \"why\": \""));
    CHECK(json.out.ends_with("}], \"suspects\": []}\n"));
    CHECK(run_to_end({"learn", all.run(0), "-o", file}).out.ends_with("one run: no envelopes\n"));
    const std::string before = file_content(file);
    const ended nothing = run_to_end({"learn", all.at("damaged"), "-o", file});
    CHECK(nothing.status == cli::exit_error);
    CHECK(contains(nothing.err, "nothing is written"));
    CHECK(file_content(file) == before);
}

TEST_CASE("learn: suspects are named") {
    const healthy_runs all;
    write_healthy_run(all.at("runs/i"), 1, 4);
    const ended learned = run_to_end({"learn", all.at("runs"), "-o", all.at("normal.json")});
    CHECK(learned.status == cli::exit_ok);
    CHECK(contains(learned.out,
                   "1 of 9 runs would raise an alarm if learned from the others: " + all.at("runs/i") + "\n"));
    CHECK(contains(learned.out, "look at these runs"));
}

TEST_CASE("learn: wrong usage writes nothing") {
    const healthy_runs all;
    const std::string file = all.at("normal.json");
    const auto refused = [&](std::vector<std::string> arguments, const std::string& says) {
        const ended done = run_to_end(std::move(arguments));
        CAPTURE(done.err);
        CHECK(done.status == cli::exit_usage);
        CHECK(contains(done.err, says));
    };
    run_to_end({"learn", all.run(0), all.run(1), "-o", all.at("two.json")});
    refused({"learn", all.run(0)}, "--output");
    refused({"learn", "-o", file}, "at least one run");
    refused({"learn", all.run(0), all.run(0) + "/", "-o", file}, "is given twice");
    refused({"learn", all.run(0), "--add", all.at("two.json"), "-o", file}, "has been learned from already");
    refused({"learn", "--add", all.at("two.json"), "--add", all.at("two.json"), "-o", file}, "is in both");
    refused({"learn", all.run(2), "--add", all.at("none.json"), "-o", file}, "--add");
    refused({"learn", all.run(2), "--add", all.at("two.json"), "--reductions", "l1", "-o", file}, "--reductions");
    refused({"learn", all.run(0), "--reductions", "l3", "-o", file}, "there is no number \"l3\"");
    refused({"learn", all.run(0), "--list", all.at("none"), "-o", file}, "cannot be read");
    refused({"check", all.run(0), "--rule", "learned"}, "file");
    refused({"check", all.run(0), "--rule", "learned,file=" + all.at("none.json")}, "none.json");
    refused({"check", all.run(0), "--rule", "learned,patience=0,file=" + all.at("two.json")}, "patience");
    CHECK_FALSE(fs::exists(file));
    CHECK(run_to_end({"learn", all.run(2), "--add", all.at("two.json"), "--reductions", "zeros,l2,abs_max", "-o", file})
              .status == 0);
}

TEST_CASE("learn: --show prints the file, or one tensor") {
    const healthy_runs all;
    run_to_end({"learn", all.at("runs"), "-o", all.at("normal.json")});
    const ended whole = run_to_end({"learn", "--show", all.at("normal.json")});
    CHECK(whole.status == cli::exit_ok);
    CHECK(contains(squeezed(whole.out), "w TRAIN 8 1 float64 2 "));
    CHECK(contains(run_to_end({"learn", "--show", all.at("normal.json"), "w"}).out, "l2: margins"));
    CHECK(run_to_end({"learn", "--show", all.at("normal.json"), "v"}).status == cli::exit_usage);
    CHECK(run_to_end({"learn", "--show", all.at("none.json")}).status == cli::exit_usage);
    CHECK(run_to_end({"learn", "--show", all.at("normal.json"), "w", "v"}).status == cli::exit_usage);
}

namespace {

learned_facts two_runs() {
    learned_facts all;
    for (int run = 0; run < 2; ++run) {
        memory_storage store;
        run_builder build{store};
        build.collections();
        for (int i = 0; i < 3; ++i) {
            const auto values = std::vector<double>{3.0 + run, 1.0 * i};
            build.step({.step = i, .tensors = {tensor_of<double>("b", values), tensor_of<double>("a", values)}});
        }
        build.end();
        all.join(learn(trial{store, {.name = "run-" + std::to_string(run)}}, {.reductions = "abs_max"}));
    }
    return all;
}

}  // namespace

TEST_CASE("learned table: a line for each tensor and mode, what is equal, and the suspects") {
    const std::string text = squeezed(cli::detail::learned_table(two_runs(), std::nullopt));
    CHECK(contains(text, "a TRAIN 2 1 float64 2 finite:6 nonnegative:2 changing:4 abs_max"));
    CHECK(contains(text, "equal in each of 6 saves: a b\n"));
    CHECK(contains(text, "2 runs; none of 2 runs would raise an alarm if learned from the others\n"));
}

TEST_CASE("learned table: one tensor with its windows") {
    const std::string text = squeezed(cli::detail::learned_table(two_runs(), "b"));
    CHECK(contains(text, "b in TRAIN: in 2 runs, every 1 saves and 1 steps; dtype float64, shape 2; "));
    CHECK(contains(text, "abs_max: margins down 3.2, up 3.2\n"));
    CHECK(contains(text, "0 0 2 3 4 0.714286 16.8\n"));
    CHECK(contains(text, "equal in each of 6 saves: a b\n"));
}
