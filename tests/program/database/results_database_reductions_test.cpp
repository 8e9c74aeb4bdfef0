#include <program/database/results_database.hpp>

#include "program/database/results.hpp"
#include "program/database/results_database_fixture.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/batch/row_spool.hpp>
#include <smdebug/core/error.hpp>

#include <sys/stat.h>
#include <unistd.h>

using namespace smdebug;
using namespace smdebug_test;

TEST_CASE("results_database: reductions come back, and NaN differs from unknown") {
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
    database.write(with_reductions(run, rows), question);
    CHECK(is_done(database, run.run, question));
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

namespace {

/// Cuts the temporary files that this process holds, which have no name any more.
void cut_unnamed_files() {
    for (int file = 3; file < 256; ++file) {
        struct stat found {};
        if (fstat(file, &found) == 0 && S_ISREG(found.st_mode) && found.st_nlink == 0 && found.st_size > 0) {
            REQUIRE(ftruncate(file, found.st_size / 2) == 0);
        }
    }
}

}  // namespace

TEST_CASE("results_database: a run whose reductions cannot be read leaves the earlier results as they were") {
    const temporary_folder place;
    results_database database{place.path() + "/results.db"};
    const run_result before = with_reductions(some_result(1), some_reductions());
    database.write(before, "q");
    run_result after = some_result(1);
    after.run.version = "later";
    after.reductions = std::make_shared<row_spool>(1'000);
    for (const reduction_row& row : some_reductions(50)) {
        after.reductions->add(row);
    }
    after.reductions->for_each([](const reduction_row& /*row*/) {});  // no bytes are left in buffers
    cut_unnamed_files();
    CHECK_THROWS_AS(database.write(after, "q"), unavailable);
    const auto kept = database.find(before.run.path);
    REQUIRE(kept.has_value());
    CHECK(kept->run.version == before.run.version);
    std::size_t rows = 0;
    database.for_each_reduction(before.run.path, [&](const reduction_row& /*row*/) { ++rows; });
    CHECK(rows == 3);
    CHECK(database.done_version(before.run.path, "q") == before.run.version);
}
