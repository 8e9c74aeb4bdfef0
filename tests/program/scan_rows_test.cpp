#include <program/scan_rows.hpp>

#include "program/captured.hpp"

#include <program/rows.hpp>
#include <program/scan_arguments.hpp>
#include <program/stats.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;
using cli::detail::output_format;

TEST_CASE("scan_rows: a row for each rule, and one without a rule for other errors") {
    run_result result{.run = {.path = "runs/a"}, .state = run_state::timed_out, .error = "it took too long"};
    result.verdicts.push_back({.name = "dead_relu", .status = rule_status::not_applicable, .summary = "no tensor"});
    result.verdicts.push_back({.name = "all_zero",
                               .outcome = {.met_at = {2},
                                           .findings = {{.met = true, .tensor = "w", .rule = "all_zero", .step = 2}},
                                           .evaluated = 3},
                               .status = rule_status::issues_found,
                               .summary = "w: zero"});
    captured run;
    cli::detail::scan_rows rows{{.check = {.how = {.format = output_format::csv}}}, 1, run.to};
    rows.add(result);
    rows.finish("");
    const auto lines = lines_of(run.out.str());
    REQUIRE(lines.size() == 4);
    CHECK(lines[1] == "runs/a,dead_relu,NotApplicable,,,,,no tensor,,,");
    CHECK(lines[2] == "runs/a,all_zero,IssuesFound,3,1,1,2,w: zero,0,0,0");
    CHECK(lines[3] == "runs/a,,Error,,,,,it took too long,,,");
}

TEST_CASE("reduction_rows: the same rows as stats") {
    run_result result{.run = {.path = "runs/a"}, .reductions = std::make_shared<row_spool>()};
    reduction_row row{
        .step = 3, .mode_step = 1, .mode = mode::eval, .worker = "worker_0", .name = "w", .dtype = "float32"};
    row.shape = "2x3";
    row.reductions.count = 6;
    row.reductions.nan = 1;
    row.reductions.computed = reduction_set::counts();
    result.reductions->add(row);
    captured run;
    const cli::detail::scan_arguments args{.check = {.how = {.format = output_format::csv}},
                                           .statistics = cli::detail::parse_statistics("nan,mean")};
    cli::detail::reduction_rows rows{args, 1, run.to};
    rows.add(result);
    rows.add({.run = {.path = "runs/failed"}});
    rows.finish();
    const auto lines = lines_of(run.out.str());
    REQUIRE(lines.size() == 2);
    CHECK(lines[0] == "run,tensor,worker,step,mode,mode_step,dtype,shape,count,nan,mean");
    CHECK(lines[1] == "runs/a,w,worker_0,3,EVAL,1,float32,2x3,6,1,");
}
