#include <smdebug/batch/database/schema.hpp>

#include "support/temporary_folder.hpp"

#include <smdebug/core/error.hpp>

#include <doctest/doctest.h>

#include <fstream>
#include <string>

using namespace smdebug;
using namespace smdebug_test;
using namespace std::chrono_literals;
namespace sqlite = smdebug::detail::sqlite;

TEST_CASE("schema: an empty database becomes one of results, once") {
    const temporary_folder place;
    const std::string file = place.path() + "/results.db";
    CHECK_FALSE(sqlite::look_at_file(file));
    {
        sqlite::connection database{file, sqlite::access::create, 1s};
        CHECK_FALSE(sqlite::look_at(database));
        sqlite::settle_schema(database);
        CHECK(sqlite::look_at(database));
        sqlite::settle_schema(database);
        CHECK(database.number("PRAGMA application_id") == sqlite::application_id);
        CHECK(database.number("PRAGMA user_version") == sqlite::schema_version);
        CHECK(database.number("SELECT count(*) FROM first_findings") == 0);
        CHECK(database.number("SELECT count(*) FROM troubles") == 0);
    }
    CHECK(sqlite::look_at_file(file));
}

TEST_CASE("schema: a file that SQLite will mend by its journal is a database; another file is left as it is") {
    const temporary_folder folder;
    const std::string path = folder.path() + "/results.db";
    const auto put = [](const std::string& where, const std::string& text) {
        std::ofstream{where, std::ios::binary} << text;
    };
    put(path, std::string(4096, '\0'));
    CHECK_THROWS_AS(static_cast<void>(sqlite::look_at_file(path)), corrupt_data);
    const std::string magic = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
    put(path + "-journal", magic + std::string(504, '\0'));
    CHECK(sqlite::look_at_file(path));
    put(path + "-journal", std::string(512, '\0'));
    CHECK_THROWS_AS(static_cast<void>(sqlite::look_at_file(path)), corrupt_data);
    for (const char order : {'\x82', '\x83'}) {
        put(path + "-wal", std::string{"\x37\x7f\x06"} + order + std::string(28, '\0'));
        CHECK(sqlite::look_at_file(path));
    }
    put(path + "-wal", std::string{"\x37\x7f\x06\x84"} + std::string(28, '\0'));
    CHECK_THROWS_AS(static_cast<void>(sqlite::look_at_file(path)), corrupt_data);
}

TEST_CASE("schema: a column for each reduction, by its name") {
    const std::string columns = sqlite::reduction_columns();
    CHECK(columns.starts_with("min, max, mean, "));
    CHECK(columns.ends_with(", abs_l1, abs_l2"));
}

TEST_CASE("schema: the indexes are those that the views use") {
    const temporary_folder place;
    sqlite::connection database{place.path() + "/results.db", sqlite::access::create, 1s};
    sqlite::settle_schema(database);
    const auto plan = [&](const std::string& sql) {
        std::string text;
        sqlite::statement row = database.prepare("EXPLAIN QUERY PLAN " + sql);
        while (row.next()) {
            text.append(row.text(3)).append("; ");
        }
        return text;
    };
    CHECK(plan("SELECT * FROM troubles").find("runs_failed") != std::string::npos);
    CHECK(plan("SELECT * FROM first_findings WHERE rule = 'all_zero'").find("results_met") != std::string::npos);
}
