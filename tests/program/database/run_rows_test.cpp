#include <program/database/run_rows.hpp>

#include "program/database/results.hpp"
#include "support/temporary_folder.hpp"

#include <program/database/schema.hpp>
#include <smdebug/core/error.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace smdebug;
using namespace smdebug_test;
using namespace std::chrono_literals;
namespace sqlite = smdebug::detail::sqlite;

TEST_CASE("run_rows: inserted, updated, read and removed") {
    const temporary_folder place;
    sqlite::connection database{place.path() + "/results.db", sqlite::access::create, 1s};
    sqlite::settle_schema(database);
    database.run("PRAGMA foreign_keys = ON");
    sqlite::run_rows rows{database};
    run_result run = some_result(4);
    CHECK_FALSE(rows.find(run.run.path).has_value());
    const std::int64_t id = rows.insert(run.run.path, run, "why");
    rows.insert_verdicts(id, run);
    rows.insert_reductions(id, 0, some_reductions().front());
    CHECK(rows.find(run.run.path)->id == id);
    CHECK(rows.find(run.run.path)->question == "why");
    CHECK(same(*rows.read(run.run.path), run));
    run.steps = 7;
    rows.update(id, run.run.path, run, "another");
    CHECK(same(*rows.read(run.run.path), run));
    CHECK(rows.find(run.run.path)->question == "another");
    int done = 0;
    rows.for_each_done([&](std::string_view path, std::string_view version, std::string_view question) {
        ++done;
        CHECK(path == run.run.path);
        CHECK(version == run.run.version);
        CHECK(question == "another");
    });
    CHECK(done == 1);
    rows.remove(id);
    for (const char* const table : {"runs", "results", "findings", "messages", "reductions"}) {
        CHECK(database.number(std::string{"SELECT count(*) FROM "} + table) == 0);
    }
}

TEST_CASE("run_rows: the first step is that of the first finding that is met") {
    const temporary_folder place;
    sqlite::connection database{place.path() + "/results.db", sqlite::access::create, 1s};
    sqlite::settle_schema(database);
    sqlite::run_rows rows{database};
    run_result run = some_result(4, 2);
    run.verdicts[0].outcome.findings = {
        {.step = 1}, {.met = true, .tensor = "b", .step = 9}, {.met = true, .tensor = "a", .step = 5}};
    rows.insert_verdicts(rows.insert(run.run.path, run, ""), run);
    CHECK(database.number("SELECT step FROM first_findings") == 5);
    CHECK(database.number("SELECT count(*) FROM first_findings WHERE tensor = 'a'") == 1);
    CHECK(database.number("SELECT count(*) FROM first_findings") == 1);
}

TEST_CASE("run_rows: as many steps were met as before, though steps of two modes have one number") {
    const temporary_folder place;
    sqlite::connection database{place.path() + "/results.db", sqlite::access::create, 1s};
    sqlite::settle_schema(database);
    sqlite::run_rows rows{database};
    run_result run = some_result(4, 1);
    run.verdicts[0].outcome.met_at = {10, 11, 12};
    run.verdicts[0].outcome.findings = {{.met = true, .tensor = "a", .step = 5, .mode = mode::train},
                                        {.met = true, .tensor = "b", .step = 5, .mode = mode::train},
                                        {.met = true, .tensor = "a", .step = 5, .mode = mode::eval},
                                        {.met = true, .tensor = "a", .step = 6, .mode = mode::train}};
    rows.insert_verdicts(rows.insert(run.run.path, run, ""), run);
    const auto read = rows.read(run.run.path);
    REQUIRE(read.has_value());
    CHECK(read->verdicts[0].outcome.met_at == std::vector<step_number>{5, 5, 6});
}

TEST_CASE("run_rows: a word that no one knows is damage") {
    const temporary_folder place;
    sqlite::connection database{place.path() + "/results.db", sqlite::access::create, 1s};
    sqlite::settle_schema(database);
    sqlite::run_rows rows{database};
    const run_result run = some_result(4);
    rows.insert_verdicts(rows.insert(run.run.path, run, ""), run);
    for (const char* const change : {"UPDATE findings SET mode = 'SLEEP'", "UPDATE results SET status = 'Fine'",
                                     "UPDATE runs SET state = 'lost'"}) {
        database.run(change);
        CHECK_THROWS_AS(static_cast<void>(rows.read(run.run.path)), corrupt_data);
        database.run("UPDATE findings SET mode = 'TRAIN'; UPDATE results SET status = NULL");
    }
}

TEST_CASE("run_rows: a missing run gives none; a finding of a missing result is damage") {
    const temporary_folder place;
    sqlite::connection database{place.path() + "/results.db", sqlite::access::create, 1s};
    sqlite::settle_schema(database);
    sqlite::run_rows rows{database};
    const run_result run = some_result(4, 2);
    rows.insert_verdicts(rows.insert(run.run.path, run, ""), run);
    CHECK_FALSE(rows.read("runs/5").has_value());
    CHECK(same(rows.read(run.run.path).value(), run));
    for (const char* const number : {"2", "-1"}) {
        database.run(std::string{"UPDATE findings SET result = "} + number);
        try {
            static_cast<void>(rows.read(run.run.path));
            FAIL("findings of no result were read");
        } catch (const corrupt_data& damage) {
            CHECK(damage.where() == database.path());
            CHECK(damage.message() == "the database " + database.path() + " has findings of a result that it lacks");
        }
    }
}
