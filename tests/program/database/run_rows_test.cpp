#include <program/database/run_rows.hpp>

#include "program/database/results.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <program/database/schema.hpp>
#include <smdebug/core/error.hpp>

using namespace smdebug;
using namespace smdebug_test;
using namespace std::chrono_literals;
namespace sqlite = smdebug::detail::sqlite;

namespace {

// A database that no row is in yet.
struct new_database {
    temporary_folder place = {};
    sqlite::connection base{place.path() + "/results.db", sqlite::access::create, 1s};
    sqlite::run_rows rows{settled()};

private:
    sqlite::connection& settled() {
        sqlite::settle_schema(base);
        return base;
    }
};

}  // namespace

TEST_CASE("run_rows: inserted, read and removed") {
    new_database in;
    in.base.run("PRAGMA foreign_keys = ON");
    const run_result run = some_result(4);
    CHECK_FALSE(in.rows.read(run.run.path).has_value());
    const std::int64_t id = in.rows.insert(run.run.path, run, "why");
    in.rows.insert_verdicts(id, run);
    in.rows.insert_reductions(id, 0, some_reductions().front());
    CHECK(same(*in.rows.read(run.run.path), run));
    for (const std::string_view question : {"why", "another"}) {
        int done = 0;
        in.rows.for_each_done_in(run.run.path, question, [&](std::string_view path, std::string_view version) {
            ++done;
            CHECK(path == run.run.path);
            CHECK(version == run.run.version);
        });
        CHECK(done == (question == "why" ? 1 : 0));
    }
    in.rows.remove("another");
    CHECK(same(*in.rows.read(run.run.path), run));
    in.rows.remove(run.run.path);
    for (const char* const table : {"runs", "results", "findings", "messages", "reductions"}) {
        CHECK(in.base.number(std::string{"SELECT count(*) FROM "} + table) == 0);
    }
}

TEST_CASE("run_rows: the first step is that of the first finding that is met") {
    new_database in;
    run_result run = some_result(4, 2);
    run.verdicts[0].outcome.findings = {
        {.step = 1}, {.met = true, .tensor = "b", .step = 9}, {.met = true, .tensor = "a", .step = 5}};
    in.rows.insert_verdicts(in.rows.insert(run.run.path, run, ""), run);
    CHECK(in.base.number("SELECT step FROM first_findings") == 5);
    CHECK(in.base.number("SELECT count(*) FROM first_findings WHERE tensor = 'a'") == 1);
    CHECK(in.base.number("SELECT count(*) FROM first_findings") == 1);
}

TEST_CASE("run_rows: as many steps were met as before, though steps of two modes have one number") {
    new_database in;
    run_result run = some_result(4, 1);
    run.verdicts[0].outcome.met_at = {10, 11, 12};
    run.verdicts[0].outcome.findings = {{.met = true, .tensor = "a", .step = 5, .mode = mode::train},
                                        {.met = true, .tensor = "b", .step = 5, .mode = mode::train},
                                        {.met = true, .tensor = "a", .step = 5, .mode = mode::eval},
                                        {.met = true, .tensor = "a", .step = 6, .mode = mode::train}};
    in.rows.insert_verdicts(in.rows.insert(run.run.path, run, ""), run);
    const auto read = in.rows.read(run.run.path);
    REQUIRE(read.has_value());
    CHECK(read->verdicts[0].outcome.met_at == std::vector<step_number>{5, 5, 6});
}

TEST_CASE("run_rows: a word that no one knows is damage") {
    new_database in;
    const run_result run = some_result(4);
    in.rows.insert_verdicts(in.rows.insert(run.run.path, run, ""), run);
    for (const char* const change : {"UPDATE findings SET mode = 'SLEEP'", "UPDATE results SET status = 'Fine'",
                                     "UPDATE runs SET state = 'lost'"}) {
        in.base.run(change);
        CHECK_THROWS_AS(static_cast<void>(in.rows.read(run.run.path)), corrupt_data);
        in.base.run("UPDATE findings SET mode = 'TRAIN'; UPDATE results SET status = NULL");
    }
}

TEST_CASE("run_rows: a missing run gives none; a finding of a missing result is damage") {
    new_database in;
    const run_result run = some_result(4, 2);
    in.rows.insert_verdicts(in.rows.insert(run.run.path, run, ""), run);
    CHECK_FALSE(in.rows.read("runs/5").has_value());
    CHECK(same(in.rows.read(run.run.path).value(), run));
    for (const char* const number : {"2", "-1"}) {
        in.base.run(std::string{"UPDATE findings SET result = "} + number);
        const corrupt_data damage = caught<corrupt_data>([&] { return in.rows.read(run.run.path); });
        CHECK(damage.where() == in.base.path());
        CHECK(damage.message() == "the database " + in.base.path() + " has findings of a result that it lacks");
    }
}
