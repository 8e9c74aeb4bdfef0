#include <program/database/results_database.hpp>

#include "program/database/results.hpp"
#include "program/database/results_database_fixture.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/batch/row_spool.hpp>
#include <smdebug/core/error.hpp>

using namespace smdebug;
using namespace smdebug_test;

TEST_CASE("results_database: reductions in pieces come back, and NaN differs from unknown") {
    const temporary_folder place;
    results_database database{place.path() + "/results.db"};
    std::vector<reduction_row> rows = some_reductions(7);
    constexpr double inf = std::numeric_limits<double>::infinity();
    rows[0].reductions.value = {-0.0, inf, -inf, std::numeric_limits<double>::quiet_NaN(), 5e-324, 3.0, 0x1p+60};
    rows[0].reductions.nan = 1;
    rows[0].reductions.pos_inf = std::numeric_limits<std::uint64_t>::max();
    rows[1].shape.reset();
    rows[1].dtype = "";  // not saved: its mean was
    rows[1].reductions.count = 0;
    rows[3].name = std::string{"a\0\xFF", 3};
    rows[4].dtype = "";  // not saved either: its shape gives the number of elements
    const run_result run = some_result(3);
    database.begin_reductions(run.run, question);
    database.add_reductions(std::span{rows}.first(2));
    database.add_reductions({});
    database.add_reductions(std::span{rows}.subspan(2));
    CHECK_FALSE(database.is_done(run.run, question));
    database.end_reductions(run);
    CHECK(database.is_done(run.run, question));
    CHECK(same(database.find(run.run.path).value(), run));
    std::size_t count = 0;
    database.for_each_reduction(run.run.path, [&](const reduction_row& row) {
        REQUIRE(count < rows.size());
        CHECK(same(row, rows[count++]));
    });
    CHECK(count == rows.size());
    // In SQL: a NaN is NULL in a column that `known` has a bit for.
    CHECK(asked(database.path(), "SELECT count(*) FROM reductions WHERE std IS NULL AND known >> 3 & 1") == "1");
    CHECK(asked(database.path(), "SELECT max FROM reductions WHERE number = 0") == "Inf");
}

TEST_CASE("results_database: a run is stored with the reductions that it brings") {
    const temporary_folder place;
    results_database database{place.path() + "/results.db"};
    const std::vector<reduction_row> rows = some_reductions(50);
    run_result run = some_result(3, 0);
    run.reductions = std::make_shared<row_spool>(1'000);  // most of them in a file
    for (const reduction_row& row : rows) {
        run.reductions->add(row);
    }
    for (int again = 0; again < 2; ++again) {
        database.write(run, question);
        std::size_t count = 0;
        database.for_each_reduction(run.run.path, [&](const reduction_row& row) {
            REQUIRE(count < rows.size());
            CHECK(same(row, rows[count++]));
        });
        CHECK(count == rows.size());
    }
}

TEST_CASE("results_database: what was begun is rolled back unless it is ended") {
    const temporary_folder place;
    const std::string file = place.path() + "/results.db";
    const run_result old = some_result(1);
    const run_result next = some_result(2);
    {
        results_database database{file};
        CHECK_THROWS_AS(database.add_reductions(some_reductions()), value_error);
        CHECK_THROWS_AS(database.end_reductions(old), value_error);
        database.abandon_reductions();
        database.write(old, question);
        batch_run changed = old.run;
        changed.version = "2";
        database.begin_reductions(changed, question);
        database.add_reductions(some_reductions());
        database.abandon_reductions();
        CHECK(same(database.find(old.run.path).value(), old));
        CHECK(database.is_done(old.run, question));
        // Nothing else may be written meanwhile, and nothing else ended.
        database.begin_reductions(changed, "a question never asked");
        CHECK_THROWS_AS(database.write(next, question), value_error);
        CHECK_THROWS_AS(database.begin_reductions(next.run, question), value_error);
        CHECK_THROWS_AS(database.end_reductions(next), value_error);
        CHECK(same(database.find(old.run.path).value(), old));
        database.write(next, question);
        database.begin_reductions(changed, question);
        database.add_reductions(some_reductions());
    }  // as if the process died
    results_database database{file};
    CHECK(same(database.find(old.run.path).value(), old));
    CHECK(same(database.find(next.run.path).value(), next));
    CHECK(database.done_count() == 2);
    CHECK(asked(file, "SELECT count(*) FROM reductions") == "0");
    CHECK(asked(file, "SELECT count(*) FROM questions") == "1");
}

TEST_CASE("results_database: reductions begun twice, ended for another run or without a beginning say so") {
    const temporary_folder place;
    results_database database{place.path() + "/results.db"};
    const run_result one = some_result(1);
    const run_result other = some_result(2);
    const auto refusal = [&](auto&& call) {
        try {
            call();
        } catch (const value_error& wrong) {
            CHECK(wrong.where() == database.path());
            return std::string{wrong.message()};
        }
        return std::string{"it was done"};
    };
    const std::string none = "reductions are to be added to a run, and none was begun";
    CHECK(refusal([&] { database.add_reductions(some_reductions()); }) == none);
    CHECK(refusal([&] { database.end_reductions(one); }) == none);
    database.begin_reductions(one.run, question);
    CHECK(refusal([&] { database.write(other, question); }) ==
          "reductions of runs/1 were begun and not ended: runs/2 cannot be written meanwhile");
    CHECK(refusal([&] { database.begin_reductions(one.run, question); }) ==
          "reductions of runs/1 were begun and not ended: runs/1 cannot be written meanwhile");
    database.add_reductions(some_reductions());  // what was begun goes on
    CHECK(refusal([&] { database.end_reductions(other); }) ==
          "reductions of runs/1 were begun, and those of runs/2 are to be ended");
    CHECK(refusal([&] { database.end_reductions(one); }) == none);  // all of it was given up
    CHECK_FALSE(database.find("runs/1").has_value());
    database.begin_reductions(one.run, question);
    database.abandon_reductions();
    CHECK(refusal([&] { database.end_reductions(one); }) == none);
    database.write(other, question);
    CHECK(database.done_count() == 1);
    CHECK_FALSE(database.find("runs/1").has_value());
}
