#include <program/database/sqlite.hpp>

#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>

#include <sys/stat.h>

using namespace smdebug;
using namespace smdebug_test;
using namespace std::chrono_literals;
namespace sqlite = smdebug::detail::sqlite;

TEST_CASE("sqlite: numbers, texts and NULL come back as they were") {
    const temporary_folder place;
    sqlite::connection database{place.path() + "/a.db", sqlite::access::create, 1s};
    database.run("CREATE TABLE t (a, b TEXT, c INTEGER, d)");
    sqlite::statement insert = database.prepare("INSERT INTO t VALUES (?1, ?2, ?3, ?4)");
    const std::string odd{"\xFF\0", 2};
    insert.with(-0.0, std::string_view{odd}, std::numeric_limits<std::int64_t>::min(), nullptr).run();
    CHECK(database.last_row() == 1);
    insert.with(std::numeric_limits<double>::quiet_NaN(), std::string_view{}, std::int64_t{7}, 1e300).run();
    CHECK(database.changed() == 1);
    sqlite::statement row =
        database.prepare("SELECT a, b, c, d, typeof(b), typeof(a), typeof(c) FROM t ORDER BY rowid");
    REQUIRE(row.next());
    CHECK(std::signbit(row.real(0)));
    CHECK(row.text(5) == "real");
    CHECK(row.text(1) == odd);
    CHECK(row.text(4) == "blob");
    CHECK(row.integer(2) == std::numeric_limits<std::int64_t>::min());
    CHECK(row.text(6) == "integer");
    CHECK(row.is_null(3));
    CHECK(std::isnan(row.real(3)));
    CHECK(row.columns() == 7);
    REQUIRE(row.next());
    CHECK(row.is_null(0));
    CHECK(row.text(1).empty());
    CHECK(row.text(4) == "text");
    CHECK(row.real(3) == 1e300);
    CHECK_FALSE(row.next());
    CHECK(row.next());  // started again
    row.reset();
    sqlite::statement moved = std::move(row);
    CHECK(moved.next());
}

TEST_CASE("sqlite: a transaction is rolled back unless it is committed") {
    const temporary_folder place;
    sqlite::connection database{place.path() + "/a.db", sqlite::access::create, 1s};
    database.run("CREATE TABLE t (a)");
    {
        sqlite::transaction undone{database};
        database.run("INSERT INTO t VALUES (1)");
        CHECK(database.in_transaction());
    }
    CHECK_FALSE(database.in_transaction());
    CHECK(database.number("SELECT count(*) FROM t") == 0);
    {
        sqlite::transaction first{database};
        sqlite::transaction moved{std::move(first)};
        database.run("INSERT INTO t VALUES (1)");
        moved.commit();
    }
    CHECK(database.number("SELECT count(*) FROM t") == 1);
}

TEST_CASE("sqlite: each result code becomes the matching error, with file and reason") {
    const auto kind = [](int code) -> std::string {
        try {
            sqlite::fail(nullptr, code, "some.db", "write to");
        } catch (const std::bad_alloc&) {
            return "memory";
        } catch (const error& thrown) {
            CHECK(std::string_view{thrown.what()}.find("some.db") != std::string_view::npos);
            return std::string{thrown.python_name()} + (thrown.where() == "some.db" ? "" : "?");
        }
    };
    CHECK(kind(5) == "InUse");               // BUSY
    CHECK(kind(5 | 2 << 8) == "InUse");      // BUSY_SNAPSHOT
    CHECK(kind(6) == "InUse");               // LOCKED
    CHECK(kind(7) == "memory");              // NOMEM
    CHECK(kind(8) == "AccessDenied");        // READONLY
    CHECK(kind(9) == "Stopped");             // INTERRUPT
    CHECK(kind(11) == "CorruptData");        // CORRUPT
    CHECK(kind(13) == "Unavailable");        // FULL
    CHECK(kind(18) == "SMDebugValueError");  // TOOBIG
    CHECK(kind(26) == "CorruptData");        // NOTADB
    CHECK(kind(1) == "Unavailable");         // ERROR
}

TEST_CASE("sqlite: a database opened for reading is neither made nor changed") {
    const temporary_folder place;
    const std::string file = place.path() + "/50% a?b#c.db";
    CHECK_THROWS_AS(static_cast<void>(sqlite::connection(file, sqlite::access::read_only, 1s)), not_found);
    CHECK_FALSE(std::filesystem::exists(file));
    {
        sqlite::connection made{file, sqlite::access::create, 1s};
        made.run("PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (5)");
    }
    sqlite::connection reader{file, sqlite::access::read_only, 1s};
    CHECK(reader.number("SELECT a FROM t") == 5);
    CHECK_THROWS_AS(reader.run("INSERT INTO t VALUES (6)"), access_denied);
    CHECK_FALSE(std::filesystem::exists(file + "-wal"));
    CHECK_FALSE(std::filesystem::exists(file + "-shm"));
    CHECK_THROWS_AS(static_cast<void>(sqlite::connection(place.path() + "/none.db", sqlite::access::write, 1s)),
                    not_found);
}

TEST_CASE("sqlite: a pipe in the place of a database is refused without blocking") {
    const temporary_folder place;
    const std::string pipe = place.path() + "/pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    for (const sqlite::access how : {sqlite::access::create, sqlite::access::read}) {
        CHECK_THROWS_WITH_AS((sqlite::connection{pipe, how, 1s}),
                             doctest::Contains("it is a pipe, a device or a socket; name a file"), unavailable);
    }
}

TEST_CASE("sqlite: wrong SQL, and statements that are stopped") {
    const temporary_folder place;
    sqlite::connection database{place.path() + "/a.db", sqlite::access::create, 1s};
    CHECK_THROWS_AS(static_cast<void>(database.prepare("SELEKT")), unavailable);
    CHECK_THROWS_AS(database.run("SELEKT"), unavailable);
    bool stop = true;
    database.set_stop([](void* of) { return *static_cast<bool*>(of); }, &stop);
    const char* const slow =
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) SELECT count(*) FROM n";
    CHECK_THROWS_AS(static_cast<void>(database.number(slow)), stopped_error);
    stop = false;
    CHECK(database.number(slow) == 100'000);
    database.set_stop(nullptr, nullptr);
    CHECK(database.number(slow) == 100'000);
}
