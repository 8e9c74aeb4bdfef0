#include <program/report.hpp>

#include "program/captured.hpp"

#include <program/program.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/learn/learn.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;

namespace {

struct outcome : ended {
    std::string page;
};

outcome report_of(std::vector<std::string> arguments) {
    const temporary_folder place;
    const std::string path = place.path() + "/page.html";
    arguments.insert(arguments.begin(), "report");
    arguments.insert(arguments.end(), {"-o", path});
    ended how = run_to_end(arguments);
    return {std::move(how), std::filesystem::exists(path) ? file_content(path) : std::string{}};
}

}  // namespace

TEST_CASE("report: a run with the findings of rules, and the rules that have nothing to look at") {
    const temporary_folder folder;
    write_sick_run(folder);
    const outcome sick = report_of({folder.path(), "--rule", "vanishing_gradient,patience=1"});
    CHECK(sick.status == cli::exit_finding);
    CHECK(contains(sick.out, ": 1 run, "));
    CHECK(contains(sick.out, "open it in a browser\n"));
    CHECK(contains(sick.page, R"({"name":"vanishing_gradient","status":"IssuesFound")"));
    CHECK(
        contains(sick.page, R"("tensorName":"g","worker":"worker_0","count":1,"first":1,"mode":"EVAL","modeStep":0)"));
    CHECK(contains(sick.page, R"({"name":"tree_depth","why":)"));
    const outcome healthy = report_of({folder.path(), "--no-rules"});
    CHECK(healthy.status == cli::exit_ok);
    CHECK(contains(healthy.page, R"("rules":[],"notEvaluated":[])"));
    const outcome named = report_of({folder.path(), "--title", "<b>", "--tensors", "^g$", "--steps", "1:2"});
    CHECK(contains(named.page, "<title>&#60;b&#62;</title>"));
    CHECK(contains(named.page, R"("tensors":[{"name":"g",)"));
    const outcome configured =
        report_of({folder.path(), "--rule", "vanishing_gradient,threshold=1e-20", "--tensors", "g"});
    CHECK(contains(configured.page, R"({"name":"vanishing_gradient","status":"NoIssuesFound")"));
}

TEST_CASE("report: numbers beside healthy runs, where the rule learned has its file") {
    const temporary_folder folder;
    learned_facts facts;
    for (const char* const name : {"run-a", "run-b"}) {
        memory_storage store;
        run_builder{store}
            .collections()
            .step({.step = 0, .tensors = {tensor_of<float>("g", {0.5F, -0.5F}), tensor_of<float>("w", {1, 2})}})
            .step(
                {.step = 2, .tensors = {tensor_of<float>("g", {4, -4}), tensor_of<float>("w", {1, 2})}, .mode_step = 1})
            .end();
        facts.join(learn(memory_trial{store, {.name = name}}));
    }
    facts.save(folder.path() + "/normal.json");
    const temporary_folder run;
    write_sick_run(run);
    const std::string rule = "learned,file=" + folder.path() + "/normal.json";
    const outcome beside = report_of({run.path(), "--rule", rule});
    CHECK(contains(beside.page, R"("bands":[{"rule":)"));
    CHECK(contains(beside.page, R"("number":"l2","found":[{"step":2,"value":0.70710)"));
    CHECK(contains(report_of({run.path(), run.path(), "--rule", rule + ",kinds=high"}).page, R"("bands":[{"rule":)"));
    CHECK(!contains(report_of({run.path(), "--rule", rule + ",kinds=missing"}).page, R"("bands")"));
    CHECK(!contains(report_of({run.path()}).page, R"("bands")"));
}

TEST_CASE("report: two runs, and since when they differ") {
    const temporary_folder first;
    const temporary_folder second;
    write_sick_run(first);
    write_sick_run(second);
    const outcome same = report_of({first.path(), second.path(), "--no-rules"});
    CHECK(contains(same.page,
                   R"("comparison":{"title":"The runs are the same","sentence":"the runs are the same: 3 steps)"));
    local_storage store{second.path()};
    run_builder{store}.step({.step = 2, .tensors = {tensor_of<float>("w", {1, 2})}, .mode_step = 1});
    const outcome other = report_of({first.path(), second.path(), "--no-rules"});
    CHECK(contains(other.page,
                   R"("comparison":{"title":"Where the runs part","sentence":"the runs part at step 2 (TRAIN 1))"));
    CHECK(contains(other.out, ": 2 runs, "));
}

TEST_CASE("report: runs that cannot be opened or read are shown on the page, and as failures") {
    const outcome none = report_of({"/nowhere/at/all", golden("torch_mlp")});
    CHECK(none.status == cli::exit_error);
    CHECK(contains(none.page, R"("state":"failed","failed":")"));
    CHECK(contains(none.page, R"("name":"torch_mlp")"));
    const outcome damaged = report_of({golden("missing_event"), "--no-rules"});
    CHECK(damaged.status == cli::exit_error);
    CHECK(contains(damaged.err, "cannot be read, the first: "));
    CHECK(contains(damaged.page, "is missing"));
}

TEST_CASE("report: wrong usage, and a file that cannot be written") {
    const ended run = run_to_end({"report", golden("torch_mlp")});
    CHECK(run.status == cli::exit_usage);
    CHECK(report_of({golden("torch_mlp"), "--no-rules", "--rule", "overfit"}).status == cli::exit_usage);
    CHECK(report_of({golden("torch_mlp"), "--max-size", "large"}).status == cli::exit_usage);
    CHECK(report_of({golden("torch_mlp"), "--interval", "1s"}).status == cli::exit_usage);
    const ended full = run_to_end({"report", golden("torch_mlp"), "-o", "/proc/none/page.html"});
    CHECK(full.status == cli::exit_error);
    CHECK(contains(full.err, "/proc/none"));
}
