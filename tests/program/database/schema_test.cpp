#include <program/database/schema.hpp>

#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>

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

TEST_CASE("schema: a file that SQLite will repair by its journal is a database; another file is left unchanged") {
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

TEST_CASE("schema: tables of another version and databases of other programs are refused and left unchanged") {
    const temporary_folder place;
    const std::string file = place.path() + "/results.db";
    {
        sqlite::connection ours{file, sqlite::access::create, 1s};
        sqlite::settle_schema(ours);
    }
    const auto refusal = [&](auto&& look) {
        try {
            look();
        } catch (const unsupported& refused) {
            CHECK(refused.where() == file);
            return std::string{refused.message()};
        }
        return std::string{"it was not refused"};
    };
    const auto is_refused_after = [&](const std::string& change, const std::string& why) {
        {
            sqlite::connection changing{file, sqlite::access::write, 1s};
            changing.run(change);
        }
        const std::string before = file_content(file);
        CHECK(refusal([&] { static_cast<void>(sqlite::look_at_file(file)); }) == file + why);
        sqlite::connection open{file, sqlite::access::write, 1s};
        CHECK(refusal([&] { static_cast<void>(sqlite::look_at(open)); }) == file + why);
        CHECK(refusal([&] { sqlite::settle_schema(open); }) == file + why);
        CHECK(file_content(file) == before);
    };
    is_refused_after(
        "PRAGMA user_version = 3",
        " has results in tables of version 3; this program knows versions 1 to 2, and left it as it is; use "
        "the program that wrote it, or name another file");
    is_refused_after(
        "PRAGMA user_version = 0",
        " has results in tables of version 0; this program knows versions 1 to 2, and left it as it is; use "
        "the program that wrote it, or name another file");
    const std::string foreign =
        " is a database of another program, and was left as it is; name another file for results";
    is_refused_after("PRAGMA user_version = 1; PRAGMA application_id = 7", foreign);
    is_refused_after("PRAGMA application_id = 0", foreign);  // one without a name that has tables
}

TEST_CASE("schema: many connections to one empty database at once all accept it as ours") {
    const temporary_folder place;
    std::atomic<int> refused{0};
    for (int round = 0; round < 30; ++round) {
        const std::string file = place.path() + "/" + std::to_string(round) + ".db";
        std::vector<std::thread> all;
        for (int i = 0; i < 4; ++i) {
            all.emplace_back([&] {
                try {
                    sqlite::connection database{file, sqlite::access::create, 10s};
                    sqlite::settle_schema(database);
                    refused += sqlite::look_at(database) ? 0 : 1;
                } catch (const error&) {
                    ++refused;
                }
            });
        }
        for (std::thread& each : all) {
            each.join();
        }
    }
    CHECK(refused == 0);
}
