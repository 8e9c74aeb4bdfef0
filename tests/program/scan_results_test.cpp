#include <program/scan_results.hpp>

#include "program/captured.hpp"
#include "support/archive_builder.hpp"
#include "support/child_process.hpp"
#include "support/run_builder.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <program/batch_progress.hpp>
#include <program/database/sqlite.hpp>
#include <program/program.hpp>
#include <program/rule_set.hpp>
#include <program/scan.hpp>
#include <program/scan_arguments.hpp>
#include <program/stats.hpp>
#include <smdebug/archive.hpp>
#include <smdebug/storage/local_storage.hpp>

using namespace smdebug;
using namespace smdebug_test;
using cli::detail::question_of;
using cli::detail::scan_arguments;

namespace {

/// What was written a moment ago has no version yet by which it could be known again.
void let_settle() { std::this_thread::sleep_for(std::chrono::milliseconds{60}); }

ended scan_into(const std::string& database, scan_arguments args) {
    let_settle();
    args.output = database;
    args.rows = false;
    return ended_by([&](auto& to) { return cli::detail::scan_runs(args, known(), to); });
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
        {.other_trials = {golden("scalars")}},
        {.check = {.start = 3}},
        {.check = {.end = 3}},
        {.check = {.stop_at_first = true}},
        {.check = {.first_offender = true}},
        {.check = {.how = {.skip_damaged = true}}},
        {.check = {.how = {.untrusted = true}}},
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

TEST_CASE("scan -o: the results are in the database; a second scan does only failed or changed runs") {
    const temporary_folder folder;
    const temporary_folder runs;
    write_sick_run(runs);
    const std::string database = folder.path() + "/results.db";
    const scan_arguments args{.check = {.runs = {golden("torch_mlp"), "/nowhere/at/all", runs.path()}}};
    const ended first = scan_into(database, args);
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
    const ended again = scan_into(database, args);
    CHECK(again.out == "1 run looked at; 2 runs had been looked at before; results are in " + database + "\n");
    CHECK(again.status == cli::exit_error);
    std::filesystem::remove(runs.path() + "/training_job_end.ts");
    const ended changed = scan_into(database, args);
    CHECK(contains(changed.out, "1 run had been looked at before"));
    CHECK(results_database{database}.find(runs.path())->state == run_state::growing);
    scan_arguments others = args;
    others.check.start = 1;
    CHECK_FALSE(contains(scan_into(database, others).out, "before"));
}

TEST_CASE("scan -o: archives, as one stream and run by run; finished ones are not scanned again") {
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

namespace {

/// A run of `steps` steps whose weight begins at `value` and changes as it should.
void write_job(const std::string& at, float value, step_number steps = 4) {
    std::filesystem::remove_all(at);
    local_storage store{at};
    run_builder build{store};
    build.collections({"worker_0"}, {{"weights", {"w"}}});
    for (step_number step = 0; step < steps; ++step) {
        build.step({.step = step, .tensors = {tensor_of<float>("w", {value + 0.01F * static_cast<float>(step), 2})}});
    }
    build.end();
}

std::map<std::string, std::string> states_in(const std::string& database, const std::string& above) {
    namespace sqlite = smdebug::detail::sqlite;
    sqlite::connection from{database, sqlite::access::read, std::chrono::seconds{10}};
    sqlite::statement row = from.prepare("SELECT path, state FROM runs");
    std::map<std::string, std::string> states;
    while (row.next()) {
        std::string path{row.text(0)};
        states.emplace(path.starts_with(above) ? path.substr(above.size()) : path, row.text(1));
    }
    return states;
}

using states = std::map<std::string, std::string>;

}  // namespace

TEST_CASE("scan -o: a run is done again when one that it is compared with has changed, or could not be opened") {
    const temporary_folder folder;
    const std::string database = folder.path() + "/results.db";
    const std::string other = folder.path() + "/other";
    write_job(folder.path() + "/run", 1);
    bool by_rule = false;
    SUBCASE("for all rules") {}
    SUBCASE("for one rule") { by_rule = true; }
    scan_arguments args{.check = {.runs = {folder.path() + "/run"}, .rules = {cli::parse_rule("similar_across_runs")}}};
    if (by_rule) {
        args.check.rules[0].other_trials = {other};
    } else {
        args.check.rules.clear();
        args.other_trials = {other};
    }
    CHECK(scan_into(database, args).status == cli::exit_error);
    CHECK(scan_into(database, args).status == cli::exit_error);  // it is looked for again
    write_job(other, 1);
    CHECK(scan_into(database, args).status == cli::exit_ok);
    CHECK(contains(scan_into(database, args).out, "1 run had been looked at before"));
    write_job(other, 5);
    CHECK(scan_into(database, args).status == cli::exit_finding);
}

TEST_CASE("scan -o: a run of which something is damaged is incomplete, this time and the next, until it is whole") {
    const temporary_folder folder;
    const std::string database = folder.path() + "/results.db";
    const std::string run = folder.path() + "/run";
    write_job(run, 1);
    const std::string event = run + "/events/000000000002/000000000002_worker_0.tfevents";
    std::filesystem::resize_file(event, 20);
    const scan_arguments args{.check = {.runs = {run}}};
    CHECK(scan_into(database, args).status == cli::exit_error);
    CHECK(states_in(database, folder.path()) == states{{"/run", "incomplete"}});
    const ended again = scan_into(database, args);
    CHECK(again.status == cli::exit_error);
    CHECK(contains(again.err,
                   "1 run that has not changed has parts that could not be read; the view troubles of " + database));
    write_job(run, 1);
    const ended whole = scan_into(database, args);
    CHECK(whole.status == cli::exit_ok);
    CHECK(whole.err.empty());
    CHECK(states_in(database, folder.path()) == states{{"/run", "ended"}});
}

TEST_CASE("scan -o: every run of a truncated archive is incomplete, and never healthy") {
    const temporary_folder folder;
    const temporary_folder runs;
    write_job(runs.path() + "/x", 1);
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator{runs.path()}) {
        if (entry.is_regular_file()) {
            files.emplace(entry.path().lexically_relative(runs.path()).generic_string(), file_content(entry.path()));
        }
    }
    const std::string whole = tar_of(files);
    folder.write("jobs.tar.gz", gzip_of(whole.substr(0, whole.size() / 2)));
    const std::string database = folder.path() + "/results.db";
    const scan_arguments args{.check = {.runs = {folder.path() + "/jobs.tar.gz"}}};
    for (int time = 0; time < 2; ++time) {
        CHECK(scan_into(database, args).status == cli::exit_error);
        for (const auto& [path, state] : states_in(database, folder.path())) {
            CAPTURE(path);
            CHECK((state == "incomplete" || state == "failed"));
        }
    }
}

TEST_CASE("scan -o: an unreadable run is scanned again, though unchanged, once permissions allow it") {
    const temporary_folder folder;
    const std::string database = folder.path() + "/results.db";
    const std::string run = folder.path() + "/run";
    write_job(run, 1);
    for (const auto& entry : std::filesystem::recursive_directory_iterator{run + "/events"}) {
        if (entry.is_regular_file()) {
            std::filesystem::permissions(entry.path(), std::filesystem::perms::none);
        }
    }
    std::filesystem::permissions(folder.path(), std::filesystem::perms{0777});
    const scan_arguments args{.check = {.runs = {run}}};
    const int status = status_of_child([&] {
        become_nobody();
        return scan_into(database, args).status;
    });
    CHECK(status == cli::exit_error);
    CHECK(states_in(database, folder.path()) == states{{"/run", "incomplete"}});
    for (const auto& entry : std::filesystem::recursive_directory_iterator{run + "/events"}) {
        std::filesystem::permissions(entry.path(), std::filesystem::perms{0644});
    }
    CHECK(scan_into(database, args).status == cli::exit_ok);
    CHECK(states_in(database, folder.path()) == states{{"/run", "ended"}});
}

TEST_CASE("scan -o: runs missing from the searched places are gone; others are left alone") {
    const temporary_folder folder;
    const std::string database = folder.path() + "/results.db";
    const auto at = [&](const std::string& name) { return folder.path() + "/" + name; };
    const auto scan = [&](const std::vector<std::string>& runs) {
        scan_arguments args;
        for (const std::string& run : runs) {
            args.check.runs.push_back(at(run));
        }
        return scan_into(database, args);
    };
    for (const char* name : {"jobs/a", "jobs/b", "jobs2/c", "one"}) {
        write_job(at(name), 1);
    }
    CHECK(scan({"jobs", "jobs2/*", "one"}).status == cli::exit_ok);
    for (const char* name : {"jobs/b", "jobs2/c", "one"}) {
        std::filesystem::remove_all(at(name));
    }
    const states all{{"/jobs/a", "ended"}, {"/jobs/b", "ended"}, {"/jobs2/c", "ended"}, {"/one", "ended"}};
    CHECK(scan({"jobs/a"}).status == cli::exit_ok);
    CHECK(states_in(database, folder.path()) == all);
    const ended folder_again = scan({"jobs"});
    CHECK(folder_again.status == cli::exit_ok);
    CHECK(contains(folder_again.err, "note: 1 run is no longer there; the database has it as gone"));
    CHECK(scan({"jobs2/*", "one"}).status == cli::exit_error);
    CHECK(
        states_in(database, folder.path()) ==
        states{
            {"/jobs/a", "ended"}, {"/jobs/b", "gone"}, {"/jobs2/*", "failed"}, {"/jobs2/c", "gone"}, {"/one", "gone"}});
    write_job(at("one"), 1);
    CHECK(scan({"one"}).status == cli::exit_ok);
    CHECK(states_in(database, folder.path()).at("/one") == "ended");
}

TEST_CASE(
    "scan -o: an archive that was missing, damaged or a single run once leaves no trouble behind, once it is whole") {
    const temporary_folder folder;
    write_job(folder.path() + "/a", 1);
    write_job(folder.path() + "/b", 1);
    const auto files_of = [&](const std::vector<std::string>& runs) {
        std::map<std::string, std::string> files;
        for (const std::string& run : runs) {
            for (const auto& entry : std::filesystem::recursive_directory_iterator{folder.path() + "/" + run}) {
                if (entry.is_regular_file()) {
                    files.emplace(entry.path().lexically_relative(folder.path()).generic_string(),
                                  file_content(entry.path()));
                }
            }
        }
        return files;
    };
    const auto both = files_of({"a", "b"});
    const auto one = files_of({"a"});
    const std::map<std::string, std::pair<std::string, std::string>> kinds{
        {"j.tar", {tar_of(both), tar_of(one)}},
        {"j.tar.gz", {gzip_of(tar_of(both)), gzip_of(tar_of(one))}},
        {"j.zip", {zip_of(both), zip_of(one)}}};
    for (const auto& [name, content] : kinds) {
        CAPTURE(name);
        const std::string path = folder.path() + "/" + name;
        const std::string database = path + ".db";
        const scan_arguments args{.check = {.runs = {path}}};
        const states whole{{"", "ended"}, {"!/a", "ended"}, {"!/b", "ended"}};
        CHECK(scan_into(database, args).status == cli::exit_error);  // it is missing
        CHECK(states_in(database, path) == states{{"", "failed"}});
        folder.write(name, content.first);
        CHECK(scan_into(database, args).status == cli::exit_ok);
        CHECK(states_in(database, path) == whole);
        folder.write(name, content.first.substr(0, content.first.size() / 2));
        CHECK(scan_into(database, args).status == cli::exit_error);
        folder.write(name, content.first);
        CHECK(scan_into(database, args).status == cli::exit_ok);
        CHECK(states_in(database, path) == whole);
        CHECK(contains(scan_into(database, args).out, "0 runs looked at; 2 runs had been looked at before"));
        folder.write(name, content.second);
        CHECK(scan_into(database, args).status == cli::exit_ok);
        CHECK(results_database{database}.find(path)->steps == 4);
        CHECK(states_in(database, path) == states{{"", "ended"}, {"!/a", "gone"}, {"!/b", "gone"}});
        folder.write(name, content.first);
        CHECK(scan_into(database, args).status == cli::exit_ok);
        CHECK(states_in(database, path) == whole);
        CHECK(results_database{database}.find(path)->verdicts.empty());
    }
}

TEST_CASE("scan -o --as: a place that holds other data has failed, whatever the database had of it") {
    const temporary_folder folder;
    const std::string checkpoints = SMDEBUG_TEST_DATA "/checkpoints/numbered";
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator{checkpoints}) {
        files.emplace("ck/" + entry.path().filename().string(), file_content(entry.path()));
        folder.write("ck/" + entry.path().filename().string(), file_content(entry.path()));
    }
    folder.write("j.tar", tar_of(files));
    folder.write("j.zip", zip_of(files));
    const std::string file = "/" + files.begin()->first;
    for (const std::string& place :
         {std::string{"/ck"}, file, std::string{"/j.tar"}, std::string{"/j.zip"}, std::string{"/j.tar!/ck"}}) {
        CAPTURE(place);
        for (const bool was_there : {false, true}) {
            const std::string database = folder.path() + "/results.db";
            std::filesystem::remove(database);
            scan_arguments args{.check = {.runs = {folder.path() + place}}};
            if (was_there) {
                static_cast<void>(scan_into(database, args));
                CHECK(states_in(database, folder.path()).at(place) != "failed");
            }
            args.check.how.storage.formats.as = data_format::smdebug;
            CHECK(scan_into(database, args).status == cli::exit_error);
            CHECK(states_in(database, folder.path()) == states{{place, "failed"}});
        }
    }
}

TEST_CASE("scan --shard: a run is in one shard, however its path is written, and through links") {
    const temporary_folder folder;
    const std::size_t runs = 12;
    for (std::size_t i = 0; i < runs; ++i) {
        write_job(folder.path() + "/jobs/r" + std::to_string(i), 1, 1);
    }
    std::filesystem::create_directory_symlink("jobs", folder.path() + "/link");
    std::filesystem::create_directory(folder.path() + "/other");
    const std::string jobs = folder.path() + "/jobs";
    const std::string near = std::filesystem::relative(jobs).string();
    const auto names_in = [&](const std::string& written, const run_shard& shard) {
        const std::string database = folder.path() + "/shard.db";
        std::filesystem::remove(database);
        static_cast<void>(scan_into(database, {.check = {.runs = {written}}, .shard = shard}));
        std::set<std::string> names;
        for (const auto& [path, state] : states_in(database, "")) {
            names.insert(path.substr(path.rfind('/') + 1));
        }
        return names;
    };
    const std::set<std::string> first = names_in(jobs, {.index = 1, .count = 2});
    CHECK(first.size() < runs);
    for (const std::string& written : {jobs, jobs + "//", near, "./" + near, "file://" + jobs, folder.path() + "/link",
                                       folder.path() + "/other/../jobs", near + "/*"}) {
        CAPTURE(written);
        CHECK(names_in(written, {.index = 1, .count = 2}) == first);
        std::set<std::string> both = names_in(written, {.index = 2, .count = 2});
        CHECK(both.size() == runs - first.size());
        both.insert(first.begin(), first.end());
        CHECK(both.size() == runs);
    }
}

TEST_CASE("scan: a job that has ended and saved nothing is an error in the service's words, wherever it lies") {
    const temporary_folder folder;
    write_job(folder.path() + "/jobs/a/debug-output", 1);
    write_job(folder.path() + "/jobs/b/debug-output", 1, 0);
    folder.write("jobs/c/debug-output/training_job_end.ts", "");
    folder.write("jobs/c/debug-output/claim.smd", "");
    folder.write("jobs/a/profiler-output/framework/training_job_end.ts", "");
    folder.write("jobs/a/profiler-output/system/training_job_end.ts", "");
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator{folder.path() + "/jobs"}) {
        if (entry.is_regular_file()) {
            files.emplace(entry.path().lexically_relative(folder.path()).generic_string(), file_content(entry.path()));
        }
    }
    folder.write("jobs.tar", tar_of(files));
    folder.write("jobs.tar.gz", gzip_of(tar_of(files)));
    const std::string says = "No debugging data was saved by the training job";
    for (const char* const place : {"/jobs", "/jobs.tar", "/jobs.tar.gz"}) {
        CAPTURE(place);
        const ended all = run_to_end({"scan", folder.path() + place, "--format", "csv"});
        CHECK(all.status == cli::exit_error);
        CHECK(lines_of(all.err).size() == 2);
        for (const char* const job : {"b/debug-output", "c/debug-output"}) {
            CHECK(contains(all.out, std::string{job} + ",,Error,"));
            CHECK(contains(all.err, says + ": " + folder.path() + place));
        }
        CHECK(run_to_end({"scan", folder.path() + place, "--reductions", "mean"}).status == cli::exit_error);
        CHECK(run_to_end({"check", folder.path() + place + (std::string{place} == "/jobs" ? "/a/debug-output" : ""),
                          "--rule", "exploding_tensor"})
                  .status == (std::string{place} == "/jobs" ? cli::exit_ok : cli::exit_error));
    }
    for (const char* const job : {"b", "c"}) {
        CAPTURE(job);
        const std::string path = folder.path() + "/jobs/" + job + "/debug-output";
        const ended checked = run_to_end({"check", path, "--rule", "exploding_tensor"});
        CHECK(checked.status == cli::exit_usage);
        CHECK(contains(checked.err, says));
        CHECK(run_to_end({"scan", path, "--rule", "exploding_tensor"}).status == cli::exit_usage);
        CHECK(run_to_end({"scan", path}).status == cli::exit_error);
    }
}

TEST_CASE(
    "scan: archives of models and sources beside runs are a note; alone they are an error, as when they are named") {
    const temporary_folder folder;
    write_job(folder.path() + "/jobs/a/debug-output", 1);
    const std::map<std::string, std::string> model{{"xgboost-model", "x"}};
    folder.write("jobs/a/output/model.tar.gz", gzip_of(tar_of(model)));
    folder.write("jobs/a/pickles.tar.gz",
                 gzip_of(tar_of(std::map<std::string, std::string>{{"pytorch_model.bin", "x"}})));
    folder.write("jobs/b/source.zip", zip_of(std::map<std::string, std::string>{{"train.py", "pass"}}));
    folder.write("jobs/b/source.tar", tar_of(std::map<std::string, std::string>{{"train.py", "pass"}}));
    const auto run = [&](const std::string& path) { return run_to_end({"scan", path, "--format", "csv"}); };
    for (const std::string& written : {folder.path() + "/jobs", folder.path() + "/jobs/*", folder.path() + "/**"}) {
        CAPTURE(written);
        const ended all = run(written);
        CHECK(all.status == cli::exit_ok);
        CHECK_FALSE(contains(all.out, "Error"));
        CHECK(lines_of(all.err).size() == 4);
        for (const char* const archive :
             {"a/output/model.tar.gz", "a/pickles.tar.gz", "b/source.zip", "b/source.tar"}) {
            CHECK(contains(all.err, "note: there is no run in " + folder.path() + "/jobs/" + archive));
        }
    }
    CHECK(run(folder.path() + "/jobs/a/output").status == cli::exit_error);
    CHECK(run(folder.path() + "/jobs/a/output/model.tar.gz").status == cli::exit_error);
    CHECK(run(folder.path() + "/jobs/b/*.zip").status == cli::exit_error);
    const std::string database = folder.path() + "/results.db";
    const scan_arguments args{.check = {.runs = {folder.path() + "/jobs"}}};
    CHECK(scan_into(database, args).status == cli::exit_ok);
    CHECK(scan_into(database, args).status == cli::exit_ok);
    CHECK(states_in(database, folder.path()).at("/jobs/a/output/model.tar.gz") == "ended");
    folder.write("jobs/b/source.zip", "PK\3\4");  // is damaged
    CHECK(run(folder.path() + "/jobs").status == cli::exit_error);
}

TEST_CASE("scan -o --report: the page has the runs that had not changed, too") {
    const temporary_folder folder;
    const std::string database = folder.path() + "/results.db";
    write_job(folder.path() + "/jobs/a", 1);
    write_job(folder.path() + "/jobs/b", 1);
    const scan_arguments args{.check = {.runs = {folder.path() + "/jobs"}}, .report = folder.path() + "/page.html"};
    for (int time = 0; time < 2; ++time) {
        CHECK(scan_into(database, args).status == cli::exit_ok);
        const std::string page = file_content(folder.path() + "/page.html");
        CHECK(contains(page, "2 runs"));
        CHECK(contains(page, folder.path() + "/jobs/a"));
    }
}

TEST_CASE("scan --list: a list without a path is an error; files beside runs that are not read are counted in a note") {
    const temporary_folder folder;
    folder.write("list.txt", "# nothing today\n\n");
    const ended empty = run_to_end({"scan", "--list", folder.path() + "/list.txt"});
    CHECK(empty.status == cli::exit_error);
    CHECK(contains(empty.err, "list.txt: there is no path in it"));
    write_job(folder.path() + "/jobs/a", 1);
    folder.write("jobs/old.tar.bz2", "");
    folder.write("jobs/b.pt", "");
    const ended beside = run_to_end({"scan", folder.path() + "/jobs"});
    CHECK(beside.status == cli::exit_ok);
    CHECK(contains(beside.err, "note: files beside the runs are not looked at: 1 .pt, 1 .tar.bz2"));
}

TEST_CASE(
    "scan --as: what is there is looked at as without it; where nothing of it is, there is no run, in any command") {
    const temporary_folder folder;
    std::filesystem::create_directory(folder.path() + "/empty");
    const std::string checkpoints = SMDEBUG_TEST_DATA "/checkpoints/numbered";
    const auto run = [&](std::vector<std::string> words, const std::string& as) {
        words.insert(words.end(), {"--as", as});
        const ended shown = run_to_end(words);
        return std::pair{shown.status, shown.out + shown.err};
    };
    captured plain;
    const int status = cli::run_program({"scan", checkpoints, "--format", "csv"}, plain.out, plain.err);
    CHECK(run({"scan", checkpoints, "--format", "csv"}, "checkpoints") ==
          std::pair{status, plain.out.str() + plain.err.str()});
    for (const std::string& path : {folder.path() + "/empty", folder.path() + "/missing"}) {
        for (const auto& [as, words] : {std::pair{"tensorboard", "has no log of TensorBoard"},
                                        {"checkpoints", "has no checkpoint"},
                                        {"events", "has no event file"}}) {
            for (const std::vector<std::string>& command : {std::vector<std::string>{"ls", path},
                                                            {"stats", path},
                                                            {"scan", path},
                                                            {"check", path, "--rule", "exploding_tensor"}}) {
                CAPTURE(path);
                CAPTURE(as);
                CAPTURE(command[0]);
                const auto [ended, text] = run(command, as);
                CHECK(ended == cli::exit_error);
                CHECK(contains(text, path.ends_with("empty") ? words : "there is no folder"));
            }
        }
    }
}
