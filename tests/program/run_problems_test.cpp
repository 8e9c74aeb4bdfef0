#include "program/captured.hpp"

#include <program/run_problems.hpp>
#include <program/runs.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;

TEST_CASE("with_run: a run is named once") {
    CHECK(cli::detail::with_run("it is gone", "runs/a") == "it is gone [run runs/a]");
    CHECK(cli::detail::with_run("runs/a is gone", "runs/a") == "runs/a is gone");
    CHECK(cli::detail::with_run("a\\tb is gone", "a\tb") == "a\\tb is gone");
    CHECK(cli::detail::with_run("gone [run a\tb]", "a\tb") == "gone [run a\tb]");
    CHECK(cli::detail::with_run("it is a link without a target", "a") == "it is a link without a target [run a]");
    CHECK(cli::detail::with_run("this is left out, too", "out") == "this is left out, too [run out]");
    CHECK(cli::detail::with_run("they are left without it", "out") == "they are left without it [run out]");
    CHECK(cli::detail::with_run("out/checkpoint-2 is cut", "out") == "out/checkpoint-2 is cut");
}

TEST_CASE("run_problems: each place is reported once: the first few, then their number") {
    captured run;
    cli::detail::run_problems problems{false};
    std::vector<problem> all;
    for (int i = 0; i < 25; ++i) {
        all.push_back({.where = "file, byte " + std::to_string(i), .what = "the record is damaged"});
    }
    problems.tell_all(all, "runs/a", run.to);
    problems.tell_all(all, "runs/a", run.to);
    problems.finish("runs/a", run.to);
    const auto lines = lines_of(run.err.str());
    REQUIRE(lines.size() == 21);
    CHECK(lines[0] == "smdebug: error: file, byte 0: the record is damaged [run runs/a]");
    CHECK(lines[20] == "smdebug: note: and 5 more places that are not read [run runs/a]");
    CHECK(run.to.status() == cli::exit_error);
}

TEST_CASE("run_problems: of several problems at one place each is reported once, though its count grows") {
    captured run;
    cli::detail::run_problems problems{false};
    std::vector<problem> all{{.where = "file", .what = "1 value of a is left out", .topic = "a"},
                             {.where = "file", .what = "1 value of b is left out", .topic = "b"}};
    problems.tell_all(all, "runs/a", run.to);
    all[0].what = "2 values of a are left out";
    problems.tell_all(all, "runs/a", run.to);
    CHECK(lines_of(run.err.str()).size() == 2);
}

TEST_CASE("run_problems: with --skip-damaged they are notes") {
    const auto opened = cli::detail::open_run(golden("damaged/truncated_index"), {.skip_damaged = true});
    captured run;
    cli::detail::run_problems problems{true};
    problems.report(opened, "runs/a", run.to);
    problems.tell_all(std::vector<problem>{{.where = "x", .what = "it is cut"}}, "runs/a", run.to);
    CHECK(run.err.str().starts_with("smdebug: note: skipped the damaged index file index/"));
    CHECK(contains(run.err.str(), " of runs/a: "));
    CHECK(contains(run.err.str(), "smdebug: note: x: it is cut [run runs/a]\n"));
    CHECK(run.to.status() == cli::exit_ok);
}
