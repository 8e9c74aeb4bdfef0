#include <program/database/results_database.hpp>

#include "program/database/results.hpp"
#include "program/database/results_database_fixture.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <program/database/sqlite.hpp>

using namespace smdebug;
using namespace smdebug_test;

TEST_CASE("results_database: the versions of the finished runs at a path, and in it if it is an archive") {
    const temporary_folder folder;
    results_database base{folder.path() + "/r.db"};
    const auto put = [&](const std::string& path, run_state state, const std::string& about) {
        run_result result = some_result(0, 1);
        result.run.path = path;
        result.run.version = "v " + path;
        result.state = state;
        base.write(result, about);
    };
    put("a.tar.gz!/x", run_state::ended, "q");
    put("a.tar.gz!/y", run_state::growing, "q");
    put("a.tar.gz!/z", run_state::failed, "q");
    put("a.tar.gz!/other", run_state::ended, "p");
    put("a.tar.gz2", run_state::ended, "q");
    put("a.tar.gz!x", run_state::ended, "q");
    put("b", run_state::ended, "q");
    std::vector<std::string> all;
    base.for_each_done_in("a.tar.gz", "q", [&](std::string_view path, std::string_view version) {
        CHECK(version == "v " + std::string{path});
        all.emplace_back(path);
    });
    CHECK(all == std::vector<std::string>{"a.tar.gz!/x", "a.tar.gz!/y"});
    CHECK(base.done_version("b", "q") == "v b");
    CHECK_FALSE(base.done_version("b", "p"));
    CHECK_FALSE(base.done_version("a.tar.gz!/z", "q"));
    CHECK_FALSE(base.done_version("a.tar.gz", "q"));
}

TEST_CASE("results_database: a path stands for one run, whatever the current folder") {
    const temporary_folder folder;
    results_database base{folder.path() + "/r.db"};
    const auto here = std::filesystem::current_path();
    std::filesystem::create_directories(folder.path() + "/mon/runs");
    std::filesystem::create_directories(folder.path() + "/tue");
    const auto write_in = [&](const std::string& day, const std::string& path, std::uint64_t place) {
        std::filesystem::current_path(folder.path() + "/" + day);
        run_result result = some_result(place, 1);
        result.run.path = path;
        base.write(result, "q");
        std::filesystem::current_path(here);
    };
    const std::string monday = folder.path() + "/mon/runs/job";
    write_in("mon", "runs/job", 1);
    write_in("tue", "runs/job", 2);
    CHECK(base.find(monday)->run.place == 1);
    CHECK(base.find(monday)->run.path == "runs/job");
    CHECK(base.find(folder.path() + "/tue/runs/job")->run.place == 2);
    int place = 3;
    for (const std::string& same : {monday, "file://" + monday, folder.path() + "/tue/../mon//runs/./job/"}) {
        CAPTURE(same);
        write_in("tue", same, static_cast<std::uint64_t>(place));
        CHECK(base.find(monday)->run.place == static_cast<std::uint64_t>(place++));
    }
    CHECK(done_count(base.path()) == 2);
    write_in("tue", "s3://bucket/runs/job", 9);
    CHECK(base.find("s3://bucket/runs/job/"));
}

TEST_CASE(
    "results_database: runs that are gone are no longer done, and leave first_findings; a new one takes their place") {
    const temporary_folder folder;
    const std::string file = folder.path() + "/r.db";
    results_database base{file};
    std::uint64_t place = 0;
    for (const char* path : {"/jobs/a", "/jobs/a.tar!/x", "/jobs/b/c", "/jobs2/d", "/jobs.tar"}) {
        run_result result = some_result(place++, 1);
        result.run.path = path;
        base.write(result, "q");
    }
    std::vector<std::string> asked;
    CHECK(base.mark_gone("/jobs", "it went", [&](std::string_view behind) {
        asked.emplace_back(behind);
        return behind != "/b/c";
    }) == 2);
    CHECK(asked == std::vector<std::string>{"/a", "/a.tar!/x", "/b/c"});
    CHECK(base.find("/jobs/a")->state == run_state::gone);
    CHECK(base.find("/jobs/a")->error == "it went");
    CHECK(base.find("/jobs/b/c")->state == run_state::ended);
    CHECK(done_count(base.path()) == 3);
    CHECK_FALSE(base.done_version("/jobs/a", "q"));
    const auto count = [&](const std::string& view) {
        return smdebug::detail::sqlite::connection{file, smdebug::detail::sqlite::access::read,
                                                   std::chrono::seconds{10}}
            .number("SELECT count(*) FROM " + view);
    };
    CHECK(count("first_findings") == 3);
    CHECK(count("troubles") == 0);
    CHECK(base.mark_gone("/jobs", "it went", [](std::string_view) { return true; }) == 1);  // the others are already
    CHECK(base.mark_gone("/", "it went", [](std::string_view) { return true; }) == 2);
    run_result back = some_result(0, 1);
    back.run.path = "/jobs/a";
    base.write(back, "q");
    CHECK(count("first_findings") == 1);
}

TEST_CASE("results_database: an incomplete run is done, is a trouble, and stays one when it is skipped") {
    const temporary_folder folder;
    const std::string file = folder.path() + "/r.db";
    results_database base{file};
    run_result result = some_result(1, 1);
    CHECK_FALSE(base.passed(result.run.path).has_findings);
    result.state = run_state::incomplete;
    base.write(result, "q");
    CHECK(is_done(base, result.run, "q"));
    CHECK(base.passed(result.run.path).is_incomplete);
    CHECK(base.passed(result.run.path).has_findings);
    CHECK(smdebug::detail::sqlite::connection{file, smdebug::detail::sqlite::access::read, std::chrono::seconds{10}}
              .number("SELECT count(*) FROM troubles") == 1);
}
