#include <program/scan.hpp>

#include "program/captured.hpp"
#include "support/run_on_s3.hpp"
#include "support/test.hpp"

#include <program/check.hpp>
#include <program/evaluate_run.hpp>
#include <program/rows.hpp>
#include <program/rule_set.hpp>
#include <program/scan_arguments.hpp>
#include <program/stats.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/core/json_document.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/registry/rule_registry.hpp>
#include <smdebug/trial/trial.hpp>

using namespace smdebug;
using namespace smdebug_test;
using texts = std::vector<std::string>;

namespace {

struct verdict : ended {
    /// The table's line about a rule, one blank between its cells.
    [[nodiscard]] std::string about(const std::string& rule) const {
        for (const std::string& line : lines_of(squeezed(out))) {
            if (contains(line, " " + rule + " ")) {
                return line;
            }
        }
        return {};
    }
};

/// A row for each rule, those that are not applicable among them.
verdict scan_of(cli::detail::scan_arguments given,
                cli::detail::output_format format = cli::detail::output_format::table) {
    given.all = true;
    given.check.how.format = format;
    return {ended_by([&](auto& to) { return cli::detail::scan_runs(given, known(), to); })};
}

verdict scan_of(const std::string& run) { return scan_of(cli::detail::scan_arguments{.check = {.runs = {run}}}); }

}  // namespace

TEST_CASE("scan: a row for each rule and run; a rule that has nothing to look at says what it lacks") {
    const temporary_folder folder;
    write_sick_run(folder);
    const verdict got = scan_of(folder.path());
    CHECK(got.status == cli::exit_finding);
    CHECK(lines_of(got.out).size() == 4 + known().infos().size());
    CHECK(
        got.out.ends_with("\n\nthe first value that was not finite: step 1, w of worker_0, 1 NaN, 0 +Inf, 0 -Inf of 2 "
                          "values; before: largest magnitude 2 at step 0\n"));
    CHECK(squeezed(got.out).starts_with("run rule status steps_evaluated steps_met findings first_step details\n"));
    CHECK(got.about("exploding_tensor") ==
          folder.path() + " exploding_tensor IssuesFound 3 2 2 1 w: 1 NaN and 0 infinite of 2 values");
    CHECK(contains(got.about("vanishing_gradient"), "NoIssuesFound 3 0 0"));  // it does not last
    CHECK(contains(got.about("all_zero"), "NoIssuesFound 3 0 0"));
    CHECK(contains(got.about("unchanged_tensor"), "NoIssuesFound 3 0 0"));
    CHECK(contains(got.about("dead_relu"), "NotApplicable - - - - no tensor named like "));
    CHECK(contains(got.about("loss_not_decreasing"), "NotApplicable - - - - no tensor in collection losses"));
    CHECK(contains(got.about("overfit"),
                   "NotApplicable - - - - no tensor in collection losses or in collection metrics"));
    CHECK(contains(got.about("tensor_variance"), "NotApplicable - - - - it needs to know"));
    CHECK(contains(got.about("similar_across_runs"), "NotApplicable - - - - it needs runs to compare with"));
    CHECK(contains(got.about("stalled_training"), "NotApplicable - - - - it watches jobs that run"));
}

TEST_CASE("scan: a table has what is wrong, and counts the other rules unless --all is given") {
    const temporary_folder folder;
    write_sick_run(folder);
    captured run;
    CHECK(cli::detail::scan_runs({.check = {.runs = {golden("torch_mlp"), folder.path(), "/nowhere"}}}, known(),
                                 run.to) == cli::exit_finding_and_error);
    const texts lines = lines_of(squeezed(run.out.str()));
    REQUIRE(lines.size() > 8);
    CHECK(lines[2].starts_with(folder.path() + " exploding_tensor IssuesFound "));
    CHECK_FALSE(contains(run.out.str(), "NoIssuesFound"));
    CHECK_FALSE(contains(run.out.str(), "NotApplicable"));
    CHECK(contains(run.out.str(), "/nowhere"));
    CHECK(lines.back() == "3 runs: findings in 1; 1 could not be evaluated");
    CHECK(lines[lines.size() - 5].starts_with(folder.path() + ": the first value that was not finite: step 1, w "));
    const std::string& counts = lines[lines.size() - 3];
    const auto number_before = [&](std::string_view text) {
        const std::size_t end = counts.find(text);
        REQUIRE(end != std::string::npos);
        return std::stoul(counts.substr(counts.find_last_of(' ', end - 1) + 1));
    };
    const std::size_t shown = lines.size() - 8;  // of two runs, and of /nowhere
    CHECK(number_before(" results found nothing") + number_before(" are not applicable") + shown - 1 ==
          2 * known().infos().size());
    captured all;
    CHECK(cli::detail::scan_runs({.check = {.runs = {folder.path()}}, .all = true}, known(), all.to) ==
          cli::exit_finding);
    CHECK(contains(squeezed(all.out.str()), folder.path() + " all_zero NoIssuesFound 3 0 0 - "));
}

TEST_CASE("scan: a table fits the terminal; csv ignores it") {
    const temporary_folder folder;
    write_sick_run(folder);
    const cli::detail::scan_arguments given{.check = {.runs = {folder.path(), golden("torch_mlp")}}};
    captured run;
    run.to.set_table_width(80);
    CHECK(cli::detail::scan_runs(given, known(), run.to) == cli::exit_finding);
    for (const std::string& line : lines_of(run.out.str())) {
        INFO(line);
        CHECK((line.size() <= 80 || contains(line, ": the first value that was not finite: ")));
    }
    CHECK(contains(run.out.str(), "  w: 1 NaN"));
    CHECK(contains(run.err.str(), "note: no room for "));
    CHECK(contains(run.err.str(), "; --width 0 shows every column whole"));
    cli::detail::scan_arguments rows = given;
    rows.check.how.format = cli::detail::output_format::csv;
    captured narrow;
    narrow.to.set_table_width(80);
    captured wide;
    CHECK(cli::detail::scan_runs(rows, known(), narrow.to) == cli::detail::scan_runs(rows, known(), wide.to));
    CHECK(narrow.out.str() == wide.out.str());
}

TEST_CASE("scan: as csv and json, too, a row for each run and rule, with what the rule looked at") {
    const temporary_folder folder;
    write_sick_run(folder);
    const cli::detail::scan_arguments given{.check = {.runs = {folder.path(), "/nowhere"}}};
    const verdict rows = scan_of(given, cli::detail::output_format::csv);
    CHECK(rows.status == cli::exit_finding_and_error);
    const texts lines = lines_of(rows.out);
    REQUIRE(lines.size() == 2 + known().infos().size());
    CHECK(lines[0] ==
          "run,rule,status,steps_evaluated,steps_met,findings,first_step,details,steps_skipped,tensors,unread");
    CHECK(lines[1] == folder.path() + ",vanishing_gradient,NoIssuesFound,3,0,0,,,0,3,0");
    CHECK(lines[2] ==
          folder.path() + ",exploding_tensor,IssuesFound,3,2,2,1,w: 1 NaN and 0 infinite of 2 values,0,6,0");
    CHECK(contains(rows.out, folder.path() + ",all_zero,NoIssuesFound,3,0,0,,,0,6,0\n"));
    CHECK(contains(rows.out, folder.path() + ",dead_relu,NotApplicable,,,,,"));
    CHECK(lines.back().starts_with("/nowhere,,Error,,,,,"));
    CHECK(contains(lines.back(), "/nowhere"));
}

TEST_CASE("scan: JSON has an object for each run and rule exactly once, with the findings in it as check has them") {
    const temporary_folder folder;
    write_sick_run(folder);
    const verdict got = scan_of({.check = {.runs = {folder.path(), "/nowhere", golden("torch_mlp")}}},
                                cli::detail::output_format::json);
    CHECK(got.status == cli::exit_finding_and_error);
    std::map<std::string, std::size_t> times;
    smdebug::detail::json::document parser;
    for (const std::string& line : lines_of(got.out)) {
        INFO(line);
        const auto root = parser.parse(as_bytes(line));
        REQUIRE(root);
        const smdebug::detail::json::value one = *root;
        const std::string run{*one["run"]->string()};
        const std::string status{*one["status"]->string()};
        if (run == "/nowhere") {
            CHECK(contains(line, "\"rule\":null"));
            CHECK(status == "Error");
            CHECK(contains(std::string{*one["details"]->string()}, "/nowhere"));
            ++times[run];
            continue;
        }
        const std::string rule{*one["rule"]->string()};
        ++times[run + " " + rule];
        std::size_t found = 0;
        one["found"]->for_each_element([&](smdebug::detail::json::value each) {
            CHECK(*each["run"]->string() == run);
            CHECK(*each["rule"]->string() == rule);
            CHECK(each["step"]->integer().has_value());
            ++found;
            return true;
        });
        if (status != "NotApplicable") {
            CHECK(static_cast<std::size_t>(*one["findings"]->integer()) == found);
            CHECK(*one["unread"]->integer() == 0);
        }
        if (run == folder.path() && rule == "exploding_tensor") {
            CHECK(found == 2);
            CHECK(*one["tensors"]->integer() == 6);
            CHECK(contains(line,
                           R"("step":1,"mode":"EVAL","mode_step":0,"tensor":"w","worker":"worker_0","value":"NaN")"));
        }
    }
    CHECK(times.size() == 1 + 2 * known().infos().size());
    for (const auto& [what, count] : times) {
        INFO(what);
        CHECK(count == 1);
    }
}

TEST_CASE("scan: looks at all workers, except for rules of the service's JSON and where parameters say otherwise") {
    const temporary_folder folder;
    write_run_of_two_workers(folder);
    const auto status_of = [&](std::vector<rule_request> rules) {
        const verdict got =
            scan_of(cli::detail::scan_arguments{.check = {.runs = {folder.path()}, .rules = std::move(rules)}});
        return got.about("exploding_tensor").substr(folder.path().size() + 1);
    };
    const std::string one =
        "exploding_tensor NoIssuesFound 2 0 0 - only 1 of 2 workers was checked; all_workers=true checks all";
    CHECK(status_of({}).starts_with("exploding_tensor IssuesFound 2 1 1 1 "));
    CHECK(status_of({cli::parse_rule("exploding_tensor")}).starts_with("exploding_tensor IssuesFound 2 1 1 1 "));
    CHECK(status_of({cli::parse_rule("exploding_tensor,all_workers=false")}) == one);
    CHECK(status_of(parse_rules_json(R"([{"rule": "exploding_tensor"}])", "rules.json")) == one);
}

TEST_CASE("scan: the status file names the runs of a folder, and has each of them") {
    const temporary_folder folder;
    std::filesystem::create_directory(folder.path() + "/jobs");
    std::filesystem::copy(golden("torch_mlp"), folder.path() + "/jobs/a", std::filesystem::copy_options::recursive);
    std::filesystem::copy(golden("torch_mlp"), folder.path() + "/jobs/b", std::filesystem::copy_options::recursive);
    cli::detail::scan_arguments given{.check = {.runs = {folder.path() + "/jobs"}}};
    given.check.actions.status_file = folder.path() + "/status.json";
    scan_of(given);
    for (const std::string run : {"/jobs/a", "/jobs/b"}) {
        CHECK(contains(file_content(given.check.actions.status_file), folder.path() + run + ": exploding_tensor\""));
    }
    given.check.runs = {folder.path() + "/./jobs/a/"};
    given.check.actions.status_file = folder.path() + "/one.json";
    scan_of(given);
    CHECK(contains(file_content(given.check.actions.status_file), "\"exploding_tensor\""));
}

TEST_CASE("scan: a run whose event files are gone has no rule that found no issues") {
    const temporary_folder folder;
    write_sick_run(folder);
    std::filesystem::remove_all(folder.path() + "/events");
    cli::detail::scan_arguments given{.check = {.runs = {folder.path()}}};
    given.check.actions.status_file = folder.path() + "/status.json";
    const verdict table = scan_of(given);
    CHECK(table.status == cli::exit_error);
    CHECK_FALSE(contains(table.out, "NoIssuesFound"));
    CHECK(
        table.about("exploding_tensor")
            .starts_with(folder.path() + " exploding_tensor Error 3 0 0 - 6 of 6 tensors could not be read, first: "));
    CHECK_FALSE(contains(file_content(given.check.actions.status_file), "NoIssuesFound"));
    CHECK(lines_of(table.err).size() == 7);
    const verdict json = scan_of(given, cli::detail::output_format::json);
    CHECK(json.status == cli::exit_error);
    CHECK(contains(json.out, R"("rule":"exploding_tensor","status":"Error",)"));
    CHECK(contains(json.out, R"("tensors":6,"unread":6,"found":[]})"));
    CHECK_FALSE(contains(json.out, "NoIssuesFound"));
}

TEST_CASE("scan: if a run to compare with cannot be opened, only that rule fails") {
    const temporary_folder folder;
    write_sick_run(folder);
    const verdict got = scan_of({.check = {.runs = {folder.path()}}, .other_trials = {"/nowhere"}});
    CHECK(got.status == cli::exit_finding_and_error);
    CHECK(contains(got.about("similar_across_runs"), " Error 0 0 0 - "));
    CHECK(contains(got.about("exploding_tensor"), "IssuesFound"));
}

TEST_CASE("scan: a configured rule is evaluated as configured, and rules that compare get the other runs") {
    const temporary_folder folder;
    write_sick_run(folder);
    const verdict got =
        scan_of({.check = {.runs = {folder.path()},
                           .rules = {cli::parse_rule("ExplodingTensor,only_nan=True"),
                                     cli::parse_rule("dead_relu,tensor_regex=^w$"),
                                     cli::parse_rule("tensor_variance,tensor_regex=w,max_threshold=100")}},
                 .other_trials = {folder.path()}});
    CHECK(contains(got.about("exploding_tensor"), "IssuesFound 3 1 1 1 w: 1 NaN"));
    CHECK_FALSE(contains(got.about("dead_relu"), "NotApplicable"));
    CHECK_FALSE(contains(got.about("tensor_variance"), "NotApplicable"));
    CHECK_FALSE(contains(got.about("similar_across_runs"), "NotApplicable"));
    CHECK(lines_of(got.out).size() == 4 + known().infos().size());
    const verdict twice = scan_of(
        {.check = {.runs = {folder.path()},
                   .rules = {cli::parse_rule("exploding_tensor,only_nan=True"), cli::parse_rule("exploding_tensor")}}});
    CHECK(lines_of(twice.out).size() == 5 + known().infos().size());
}

TEST_CASE("scan: a rule whose parameters are given without collections looks at those that a scan chooses for it") {
    const temporary_folder folder;
    {
        local_storage store{folder.path()};
        run_builder{store}
            .collections({"worker_0"}, {{"both", {"w", "x"}}, {"weights", {"w"}}})
            .step({.step = 0, .tensors = {tensor_of<float>("w", {0, 0, 1}), tensor_of<float>("x", {0, 0, 1})}})
            .end();
    }
    const auto about = [&](const std::string& parameters) {
        return scan_of({.check = {.runs = {folder.path()}, .rules = {cli::parse_rule("AllZero," + parameters)}}})
            .about("all_zero");
    };
    CHECK(contains(about("threshold=50,patience=1"), " IssuesFound 1 1 1 0 w: "));
    CHECK(contains(about("threshold=50,patience=1,collection_names=both"), " IssuesFound 1 1 2 0 w: "));
    CHECK(contains(about("threshold=50,patience=1,tensor_regex=x"), " IssuesFound 1 1 1 0 x: "));
    std::filesystem::remove_all(folder.path());
    write_sick_run(folder);
    CHECK(contains(about("threshold=50"), " NoIssuesFound 3 0 0 "));
}

TEST_CASE("scan: steps, the first finding, and the first step that is bad, as check takes them") {
    const temporary_folder folder;
    write_sick_run(folder);
    const verdict late = scan_of({.check = {.runs = {folder.path()}, .start = 2}});
    CHECK(contains(late.about("exploding_tensor"), "IssuesFound 1 1 1 2 "));
    CHECK(contains(late.about("vanishing_gradient"), "NoIssuesFound 1 0 0"));
    const verdict healthy = scan_of({.check = {.runs = {folder.path()}, .end = 1}});
    CHECK(healthy.status == cli::exit_ok);
    const verdict first = scan_of({.check = {.runs = {folder.path()}, .stop_at_first = true}});
    CHECK(contains(first.about("exploding_tensor"), "IssuesFound 2 1 1 1 "));
}

TEST_CASE("scan: rules that compare TRAIN with EVAL need both, or metrics") {
    const temporary_folder folder;
    {
        local_storage store{folder.path()};
        run_builder build{store};
        build.collections({"worker_0"}, {{"losses", {"loss"}}});
        for (step_number step = 0; step < 3; ++step) {
            build.step({.step = step, .tensors = {tensor_of<float>("loss", {1})}});
        }
        build.end();
    }
    const verdict got = scan_of(folder.path());
    CHECK(contains(got.about("overfit"), "NotApplicable - - - - it compares steps of TRAIN with steps of EVAL"));
    CHECK(contains(got.about("loss_not_decreasing"), "IssuesFound"));
    CHECK_FALSE(contains(scan_of(golden("xgboost_like")).about("overfit"), "steps of TRAIN"));
}

TEST_CASE("scan: many runs; one that cannot be opened does not affect the others") {
    const verdict got = scan_of({.check = {.runs = {golden("torch_mlp"), "/nowhere", golden("xgboost_like")}}});
    CHECK(contains(got.err, "/nowhere"));
    CHECK(lines_of(got.out).size() == 5 + 2 * known().infos().size());
    CHECK(contains(got.out, golden("xgboost_like")));
    CHECK(contains(squeezed(got.out), "\n/nowhere - Error - - - - "));
    const verdict none = scan_of("/nowhere");
    CHECK(none.status == cli::exit_error);
    CHECK(lines_of(none.out).size() == 3);
}

TEST_CASE("scan: a run that exceeds --memory is a row that says so, and the others are scanned") {
    const verdict got = scan_of({.check = {.runs = {golden("torch_mlp"), golden("scalars")}}, .memory = 4096},
                                cli::detail::output_format::csv);
    CHECK(contains(got.out, golden("torch_mlp") + ",,Error,"));
    CHECK(contains(got.err, "bytes, more than the 1024 allowed"));
    CHECK(contains(got.err, "--memory allows a run no more: "));
    CHECK_FALSE(contains(got.err, "trial_options"));
    const cli::detail::scan_arguments enough{.check = {.runs = {golden("torch_mlp")}},
                                             .memory = std::uint64_t{64} << 20U};
    CHECK_FALSE(contains(scan_of(enough).err, "error"));
}

TEST_CASE("scan: every golden run can be scanned, however odd it is") {
    for (const char* run : {"torch_ddp", "reductions_only", "reductions_raw", "shapes_only", "mode_workers", "dtypes",
                            "sparse_running", "incomplete_workers", "missing_event", "damaged/flipped_length"}) {
        const verdict got = scan_of(golden(run));
        INFO(run << "\n" << got.err);
        CHECK_FALSE(contains(got.out, " Error "));
        const bool has_nan = contains(got.out, "the first value that was not finite");
        CHECK(has_nan == (std::string_view{run} == "dtypes"));
        CHECK(lines_of(got.out).size() == (has_nan ? 4 : 2) + known().infos().size());
    }
}

TEST_CASE("scan: each event file in S3 is fetched once, for any number of rules; also by check") {
    const run_on_s3 far{{.steps = 40, .workers = 2}};
    far.end();
    const cli::detail::check_arguments given{
        .runs = {"s3://bucket/run"},
        .rules = {{.label = "dead_relu", .rule = "dead_relu"},
                  {.label = "all_zero", .rule = "all_zero", .parameters = {{"collection_names", "gradients"}}}}};
    for (const bool scans : {true, false}) {
        CAPTURE(scans);
        captured seen;
        const trial run{far.storage()};
        static_cast<void>(far.fetches());
        cli::detail::rule_maker make{known(), given.how};
        std::vector<rule_request> chosen = given.rules;
        if (scans) {
            chosen.clear();
            for (const auto& each : smdebug::detail::plan_rules(known(), run)) {
                if (each.why_not.empty()) {
                    chosen.push_back(each.request);
                }
            }
        }
        CHECK(chosen.size() >= 2);
        auto actions = cli::detail::actions_of(given);
        const auto results =
            cli::detail::check_run(make, chosen, run, given.runs.front(), given, nullptr, actions, seen.to);
        for (const rule_result& each : results) {
            CHECK(each.outcome.evaluated == 40);
        }
        CHECK(far.fetches() == std::map<std::size_t, std::size_t>{{1, far.files()}});
    }
}

TEST_CASE("scan --reductions: the rows of stats, run by run, for any number of threads; failures are reported") {
    const temporary_folder folder;
    write_sick_run(folder);
    const texts runs{golden("torch_mlp"), "/nowhere", folder.path()};
    captured numbers;
    CHECK(cli::detail::stats({.runs = {runs[0], runs[2]}, .how = {.format = cli::detail::output_format::csv}},
                             numbers.to) == cli::exit_ok);
    for (const unsigned threads : {1U, 3U}) {
        captured run;
        CHECK(cli::detail::scan_runs({.check = {.runs = runs, .how = {.format = cli::detail::output_format::csv}},
                                      .threads = threads,
                                      .statistics = cli::detail::all_statistics()},
                                     known(), run.to) == cli::exit_error);
        CHECK(run.out.str() == numbers.out.str());
        CHECK(contains(run.err.str(), "error: "));
        CHECK(contains(run.err.str(), "/nowhere"));
    }
    captured some;
    CHECK(cli::detail::scan_runs({.check = {.runs = {folder.path()},
                                            .start = 1,
                                            .end = 2,
                                            .how = {.format = cli::detail::output_format::csv}},
                                  .statistics = cli::detail::parse_statistics("nan,max"),
                                  .tensors = "^w$"},
                                 known(), some.to) == cli::exit_ok);
    CHECK(lines_of(some.out.str()).size() == 2);
    CHECK(contains(some.out.str(), ",w,worker_0,1,EVAL,0,float32,2,2,1,"));
}

TEST_CASE("scan: a run that takes too long, or an interrupt, ends what waits; the others are there") {
    const temporary_folder folder;
    write_sick_run(folder);
    captured run;
    std::stop_source stop;
    stop.request_stop();
    CHECK(cli::detail::scan_runs({.check = {.runs = {folder.path(), folder.path()}}}, known(), run.to,
                                 stop.get_token()) == cli::exit_interrupted);
    CHECK(contains(run.err.str(), "interrupted: 0"));
}
