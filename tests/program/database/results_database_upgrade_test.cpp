#include <program/database/results_database.hpp>

#include "program/database/results.hpp"
#include "program/database/results_database_fixture.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <program/database/merge_databases.hpp>
#include <program/database/sqlite.hpp>

using namespace smdebug;
using namespace smdebug_test;

namespace {

/// Tables of version 1, with a run that ended, one that has a damage, and one that has gone.
void write_version_1(const std::string& file, const std::string& prefix) {
    namespace sqlite = smdebug::detail::sqlite;
    {
        results_database base{file};
        for (const std::uint64_t place : {1U, 2U, 3U}) {
            run_result result = some_result(place, 1);
            result.run.path = "/" + std::to_string(place);
            if (place == 2) {
                result.messages.push_back({.what = run_message::kind::error, .text = "byte 17: damaged"});
            }
            base.write(result, "q");
        }
    }
    sqlite::connection old{file, sqlite::access::write, std::chrono::seconds{10}};
    old.run("UPDATE runs SET path = '" + prefix +
            "' || substr(path, 2); DROP VIEW troubles; DROP VIEW first_findings; "
            "DROP INDEX runs_failed; ALTER TABLE runs DROP COLUMN name;"
            "CREATE INDEX runs_failed ON runs (state) WHERE state NOT IN ('ended', 'growing');"
            "CREATE VIEW first_findings AS SELECT path FROM runs; CREATE VIEW troubles AS SELECT path FROM runs WHERE "
            "state NOT IN ('ended', 'growing'); PRAGMA user_version = 1");
}

}  // namespace

TEST_CASE("results_database: tables of version 1 are brought up to date, by opening and by merging") {
    const temporary_folder folder;
    const auto here = std::filesystem::current_path();
    std::filesystem::create_directories(folder.path() + "/runs/1");
    std::filesystem::create_directories(folder.path() + "/runs/2");
    const std::string file = folder.path() + "/old.db";
    write_version_1(file, "runs/");
    const std::string merged = folder.path() + "/merged.db";
    CHECK(merge_databases(std::vector<std::string>{file}, merged).failed == 1);
    std::filesystem::current_path(folder.path());
    for (const std::string& each : {file, merged}) {
        CAPTURE(each);
        const bool opened = each == file;
        results_database base{each};
        std::filesystem::current_path(here);
        const std::string above = opened ? folder.path() + "/runs/" : std::string{};
        namespace sqlite = smdebug::detail::sqlite;
        sqlite::connection from{each, sqlite::access::read, std::chrono::seconds{10}};
        sqlite::statement row = from.prepare("SELECT path, name, state FROM runs ORDER BY name");
        for (const auto& [name, state] : {std::pair{"1", "ended"}, {"2", "incomplete"}, {"3", "ended"}}) {
            REQUIRE(row.next());
            const bool is_there = opened && std::string_view{name} != "3";
            CHECK(row.text(0) == (is_there ? above : std::string{"runs/"}) + name);
            CHECK(row.text(1) == std::string{"runs/"} + name);
            CHECK(row.text(2) == state);
        }
        CHECK(from.number("PRAGMA user_version") == 2);
        CHECK(from.number("SELECT count(*) FROM troubles") == 1);
        CHECK(done_count(base.path()) == 3);
        if (opened) {
            CHECK(base.done_version(above + "1", "q"));
        }
        std::filesystem::current_path(folder.path());
    }
    std::filesystem::current_path(here);
}

TEST_CASE("results_database: a run that version 1 has under two paths becomes one, with its last results") {
    namespace sqlite = smdebug::detail::sqlite;
    for (const bool is_merged : {false, true}) {
        for (const bool relative_is_newer : {false, true}) {
            CAPTURE(is_merged);
            CAPTURE(relative_is_newer);
            const temporary_folder folder;
            const auto here = std::filesystem::current_path();
            std::filesystem::create_directories(folder.path() + "/runs/1");
            const std::string file = folder.path() + "/old.db";
            write_version_1(file, "runs/");
            sqlite::connection{file, sqlite::access::write, std::chrono::seconds{10}}.run(
                "UPDATE runs SET path = '" + folder.path() + "/runs/1', state = 'failed' WHERE path = 'runs/2'; " +
                "UPDATE runs SET state = 'failed' WHERE path = 'runs/1'; UPDATE runs SET scanned_at = " +
                (relative_is_newer ? "10 - id" : "id"));
            const std::string merged = folder.path() + "/merged.db";
            std::filesystem::current_path(folder.path());
            if (is_merged) {
                static_cast<void>(merge_databases(std::vector<std::string>{file}, merged));
            } else {
                const results_database base{file};
            }
            std::filesystem::current_path(here);
            sqlite::connection from{is_merged ? merged : file, sqlite::access::read, std::chrono::seconds{10}};
            sqlite::statement row = from.prepare("SELECT path, place FROM runs ORDER BY path");
            REQUIRE(row.next());
            CHECK(row.text(0) == folder.path() + "/runs/1");
            CHECK(row.integer(1) == (relative_is_newer ? 1 : 2));
            REQUIRE(row.next());
            CHECK(row.text(0) == "runs/3");
            CHECK_FALSE(row.next());
            CHECK(from.number("SELECT count(*) FROM messages WHERE run NOT IN (SELECT id FROM runs)") == 0);
            CHECK(from.number("SELECT count(*) FROM results WHERE run NOT IN (SELECT id FROM runs)") == 0);
        }
    }
}
