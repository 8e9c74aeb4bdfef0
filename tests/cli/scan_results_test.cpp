#include <smdebug/cli/scan_results.hpp>

#include "cli/captured.hpp"
#include "support/archive_builder.hpp"
#include "support/temporary_folder.hpp"

#include <smdebug/archive.hpp>
#include <smdebug/cli/scan.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

using namespace smdebug;
using namespace smdebug_test;
using cli::detail::question_of;
using cli::detail::scan_arguments;

namespace {

const cli::program_rules& known() {
    static const cli::program_rules rules = cli::program_rules::built_in();
    return rules;
}

struct outcome {
    int status = 0;
    std::string out;
    std::string err;
};

/// What was written a moment ago has no version yet by which it could be known again.
void let_settle() { std::this_thread::sleep_for(std::chrono::milliseconds{60}); }

outcome scan_into(const std::string& database, scan_arguments args) {
    let_settle();
    captured run;
    args.output = database;
    args.rows = false;
    const int status = cli::detail::scan_runs(args, known(), run.to);
    return {status, run.out.str(), run.err.str()};
}

}  // namespace

TEST_CASE("question_of: another text whenever results would be others, the same for the same question") {
    std::set<std::string> all;
    const std::vector<scan_arguments> questions{
        {},
        {.check = {.rules = {cli::parse_rule("dead_relu,threshold=0.5")}}},
        {.check = {.rules = {cli::parse_rule("dead_relu,threshold=0.6")}}},
        {.check = {.rules = {cli::parse_rule("all_zero,collection_names=a;b")}}},
        {.check = {.rules = {cli::parse_rule("all_zero,collection_names=a")}}},
        {.other_trials = {"x"}},
        {.check = {.start = 3}},
        {.check = {.end = 3}},
        {.check = {.stop_at_first = true}},
        {.check = {.first_offender = true}},
        {.check = {.how = {.skip_damaged = true}}},
        {.check = {.how = {.storage = {.formats = {.as = data_format::smdebug}}}}},
        {.check = {.how = {.storage = {.formats = {.as = data_format::checkpoints}}}}},
        {.check = {.how = {.storage = {.formats = {.step_regex = "([0-9]+)"}}}}},
        {.check = {.how = {.storage = {.formats = {.folders_are_workers = false}}}}},
        {.statistics = cli::detail::all_statistics()},
        {.statistics = cli::detail::parse_statistics("mean")},
        {.statistics = cli::detail::parse_statistics("mean"), .tensors = "w"},
        {.statistics = cli::detail::parse_statistics("mean"), .collection = "w"}};
    for (const scan_arguments& each : questions) {
        all.insert(question_of(each));
        CHECK(question_of(each) == question_of(scan_arguments{each}));
    }
    CHECK(all.size() == questions.size());
    CHECK(question_of({.threads = 3, .progress = cli::detail::progress_format::none}) == question_of({}));
}

TEST_CASE("scan -o: the results are in the database; again nothing is done but what failed or has changed") {
    const temporary_folder folder;
    const temporary_folder runs;
    write_sick_run(runs);
    const std::string database = folder.path() + "/results.db";
    const scan_arguments args{.check = {.runs = {golden("torch_mlp"), "/nowhere/at/all", runs.path()}}};
    const outcome first = scan_into(database, args);
    CHECK(first.status == cli::exit_finding_and_error);
    CHECK(first.out == "3 runs: findings in 1; 1 could not be evaluated; results are in " + database + "\n");
    {
        results_database base{database};
        const auto sick = base.find(runs.path());
        REQUIRE(sick);
        CHECK(sick->state == run_state::ended);
        CHECK(sick->run.place == 2);
        CHECK(sick->steps == 3);
        CHECK(sick->run.bytes > 0);
        CHECK(sick->verdicts.size() == known().infos().size());
        const auto lost = base.find("/nowhere/at/all");
        REQUIRE(lost);
        CHECK(lost->state == run_state::failed);
        CHECK(contains(lost->error, "/nowhere/at/all"));
    }
    const outcome again = scan_into(database, args);
    CHECK(again.out == "1 run looked at; 2 runs had been looked at before; results are in " + database + "\n");
    CHECK(again.status == cli::exit_error);
    std::filesystem::remove(runs.path() + "/training_job_end.ts");
    const outcome changed = scan_into(database, args);
    CHECK(contains(changed.out, "1 run had been looked at before"));
    CHECK(results_database{database}.find(runs.path())->state == run_state::growing);
    scan_arguments others = args;
    others.check.start = 1;
    CHECK_FALSE(contains(scan_into(database, others).out, "before"));
}

TEST_CASE("scan -o: archives, as one stream and taken apart; what is done of them is not done again") {
    const temporary_folder folder;
    const temporary_folder run;
    write_sick_run(run);
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator{run.path()}) {
        if (entry.is_regular_file()) {
            std::ifstream file{entry.path(), std::ios::binary};
            const std::string content{std::istreambuf_iterator<char>{file}, {}};
            for (const char* name : {"x/", "y/"}) {
                files.emplace(name + entry.path().lexically_relative(run.path()).generic_string(), content);
            }
        }
    }
    folder.write("jobs.tar", tar_of(files));
    folder.write("jobs.tar.gz", gzip_of(tar_of(files)));
    const std::string database = folder.path() + "/results.db";
    const scan_arguments args{.check = {.runs = {folder.path() + "/jobs.tar.gz", folder.path() + "/jobs.tar"}}};
    CHECK(scan_into(database, args).status == cli::exit_finding);
    {
        results_database base{database};
        for (const char* path : {"/jobs.tar!/x", "/jobs.tar!/y", "/jobs.tar.gz!/x", "/jobs.tar.gz!/y"}) {
            INFO(path);
            const auto found = base.find(folder.path() + path);
            REQUIRE(found);
            CHECK(found->steps == 3);
            CHECK_FALSE(found->run.version.empty());
        }
    }
    CHECK(contains(scan_into(database, args).out, "0 runs looked at; 4 runs had been looked at before"));
    folder.write("jobs.tar.gz", gzip_of(tar_of(files), 5000));
    CHECK(contains(scan_into(database, args).out, "2 runs: findings in 2; 2 runs had been looked at before"));
}

TEST_CASE("scan -o --reductions: numbers in the database") {
    const temporary_folder folder;
    const temporary_folder runs;
    write_sick_run(runs);
    const std::string database = folder.path() + "/numbers.db";
    const scan_arguments args{.check = {.runs = {runs.path()}}, .statistics = cli::detail::parse_statistics("nan,max")};
    CHECK(scan_into(database, args).status == cli::exit_ok);
    std::size_t rows = 0;
    std::uint64_t nans = 0;
    results_database base{database};
    base.for_each_reduction(runs.path(), [&](const reduction_row& row) {
        ++rows;
        nans += row.reductions.nan;
    });
    CHECK(rows == 6);
    CHECK(nans == 1);
}
