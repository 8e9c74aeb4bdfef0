#include <program/database/merge_databases.hpp>

#include "program/database/canonical_rows.hpp"
#include "program/database/results.hpp"
#include "program/database/results_database_fixture.hpp"
#include "support/child_process.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"
#include "support/thrown_code.hpp"

#include <program/database/results_database.hpp>
#include <program/database/sqlite.hpp>
#include <smdebug/core/error.hpp>

using namespace smdebug;
using namespace smdebug_test;
using namespace std::chrono_literals;
namespace sqlite = smdebug::detail::sqlite;

namespace {

/// Stores a run, and says when that was.
void store(const std::string& file, const run_result& run, const std::string& scanned_at, const char* question = "q") {
    {
        results_database database{file};
        database.write(run, question);
    }
    sqlite::connection database{file, sqlite::access::write, 1s};
    sqlite::statement set = database.prepare("UPDATE runs SET scanned_at = ?1 WHERE name = ?2");
    set.with(std::string_view{scanned_at}, std::string_view{run.run.path}).run();
}

std::map<std::string, std::string> files_in(const std::string& folder) {
    std::map<std::string, std::string> all;
    for (const auto& each : std::filesystem::directory_iterator{folder}) {
        all[each.path().filename()] = file_content(each.path());
    }
    return all;
}

}  // namespace

TEST_CASE("merge_databases: shards give what one scan gives") {
    const temporary_folder place;
    const std::string one = place.path() + "/one.db";
    const std::vector<std::string> shards{place.path() + "/a.db", place.path() + "/b 100%?.db", place.path() + "/c.db"};
    {
        results_database whole{one};
        std::vector<results_database> parts;
        for (const std::string& shard : shards) {
            parts.emplace_back(shard);
        }
        for (std::uint64_t i = 0; i < 50; ++i) {
            const run_result run = i % 7 == 0 ? failed_result(i) : some_result(i);
            for (results_database* const into : {&whole, &parts[i % 3]}) {
                into->write(i % 5 == 1 ? with_reductions(run, some_reductions()) : run, i % 2 == 0 ? "even" : "odd");
            }
        }
    }
    const auto before = files_in(place.path());
    const std::string target = place.path() + "/all.db";
    const merge_result merged = merge_databases(shards, target);
    CHECK(merged.read == 50);
    CHECK(merged.runs == 50);
    CHECK(merged.failed == 8);
    CHECK(canonical_rows(target) == canonical_rows(one));
    auto after = files_in(place.path());
    after.erase("all.db");
    CHECK(after == before);
    // And it can be gone on with.
    results_database database{target};
    CHECK(done_count(database.path()) == 42);
    CHECK(is_done(database, some_result(2).run, "even"));
    database.write(some_result(1'000), "even");
}

TEST_CASE("merge_databases: if several have a path, the finished run wins, then the newest, then the first") {
    const temporary_folder place;
    const std::string a = place.path() + "/a.db";
    const std::string b = place.path() + "/b.db";
    const std::string c = place.path() + "/c.db";
    const auto told = [](run_result run, const char* from) {
        run.messages.push_back({.text = from});
        return run;
    };
    const std::string early = "2024-01-01T00:00:00.000Z";
    const std::string late = "2024-01-02T00:00:00.000Z";
    store(a, told(some_result(1), "a"), early);  // the newer one
    store(b, told(some_result(1), "b"), late);
    store(a, told(some_result(2), "a"), early);  // done, though older
    store(b, told(failed_result(2), "b"), late);
    store(a, told(failed_result(3), "a"), late);
    store(b, told(some_result(3), "b"), early);
    store(a, told(some_result(4), "a"), late);  // equal
    store(b, told(some_result(4), "b"), late);
    run_result growing = told(some_result(5), "c");  // growing is done, too
    growing.state = run_state::growing;
    store(a, told(some_result(5), "a"), early);
    store(c, growing, late);
    store(c, told(failed_result(6), "c"), early, "of c alone");
    const std::vector<std::string> sources{a, b, c};
    const std::string target = place.path() + "/all.db";
    const merge_result merged = merge_databases(sources, target);
    CHECK(merged.read == 11);
    CHECK(merged.runs == 6);
    CHECK(merged.failed == 1);
    results_database all{target};
    std::string winners;
    for (std::uint64_t i = 1; i <= 6; ++i) {
        const run_result run = all.find("runs/" + std::to_string(i)).value();
        REQUIRE(run.messages.size() == 1);
        winners += run.messages[0].text;
        CHECK(run.verdicts.size() == (i == 6 ? 0 : 12));
    }
    CHECK(winners == "babacc");
    sqlite::connection rows{target, sqlite::access::write, 1s};
    CHECK(rows.number("SELECT count(*) FROM results") == 60);
    CHECK(rows.number("SELECT count(*) FROM runs WHERE scanned_at = '" + early + "'") == 3);
}

TEST_CASE("merge_databases: a source whose writer was killed, or is at work, is read with its WAL, and left alone") {
    const temporary_folder place;
    const std::string source = place.path() + "/a.db";
    const std::vector<std::string> sources{source};
    CHECK(status_of_child([&] {
              results_database database{source};
              database.write(some_result(1), "q");
              ::_exit(5);  // the WAL stays
              return 0;
          }) == 5);
    const std::string wal = file_content(source + "-wal");
    CHECK_FALSE(wal.empty());
    const std::string before = file_content(source);
    CHECK(merge_databases(sources, place.path() + "/first.db").runs == 1);
    CHECK(file_content(source) == before);
    CHECK(file_content(source + "-wal") == wal);
    results_database writing{source};
    writing.write(some_result(2), "q");
    CHECK(merge_databases(sources, place.path() + "/second.db").runs == 2);
    writing.write(some_result(3), "q");
}

TEST_CASE("merge_databases: errors leave nothing behind") {
    const temporary_folder place;
    const std::string source = place.path() + "/a.db";
    const std::string target = place.path() + "/all.db";
    {
        results_database database{source};
        for (std::uint64_t i = 0; i < 40; ++i) {
            database.write(some_result(i), "q");
        }
    }
    std::filesystem::create_symlink(source, place.path() + "/link.db");
    place.write("text.db", "no database");
    place.write("empty.db", "");
    std::string damaged = file_content(source);
    damaged.resize(damaged.size() / 2);
    place.write("cut.db", damaged);
    {
        sqlite::connection theirs{place.path() + "/theirs.db", sqlite::access::create, 1s};
        theirs.run("CREATE TABLE runs (path TEXT)");
    }
    const auto before = files_in(place.path());
    const auto merge = [&](std::vector<std::string> sources, const std::string& into, merge_options options = {}) {
        static_cast<void>(merge_databases(sources, into, options));
    };
    CHECK_THROWS_AS(merge({}, target), value_error);
    CHECK_THROWS_AS(merge({source}, source), value_error);
    CHECK_THROWS_AS(merge({source}, source, {.replace = true}), value_error);
    CHECK_THROWS_AS(merge({source}, place.path() + "/./a.db"), value_error);
    CHECK_THROWS_AS(merge({source}, place.path() + "/link.db", {.replace = true}), value_error);
    CHECK_THROWS_AS(merge({source, place.path() + "/none.db"}, target), not_found);
    CHECK_THROWS_AS(merge({source, place.path() + "/empty.db"}, target), not_found);
    CHECK_THROWS_AS(merge({source, place.path() + "/text.db"}, target), corrupt_data);
    CHECK_THROWS_AS(merge({source, place.path() + "/theirs.db"}, target), unsupported);
    CHECK_THROWS_AS(merge({source}, place.path() + "/theirs.db"), run_exists);
    CHECK_THROWS_AS(merge({source}, place.path() + "/theirs.db", {.replace = true}), unsupported);
    CHECK_THROWS_AS(merge({source}, place.path() + "/text.db", {.replace = true}), corrupt_data);
    const corrupt_data damage = caught<corrupt_data>([&] { merge({source, place.path() + "/cut.db"}, target); });
    CHECK(damage.where() == place.path() + "/cut.db");
    std::stop_source stop;
    stop.request_stop();
    CHECK_THROWS_AS(merge({source}, target, {.stop = stop.get_token()}), stopped_error);
    place.write("all.db-wal", "of another");
    CHECK_THROWS_AS(merge({source}, target), run_exists);
    place.remove("all.db-wal");
    CHECK(files_in(place.path()) == before);
}

TEST_CASE("merge_databases: a target is replaced on request, unless another connection uses it") {
    const temporary_folder place;
    const std::vector<std::string> sources{place.path() + "/a.db"};
    const std::string target = place.path() + "/all.db";
    store(sources[0], some_result(1), "2024-01-01T00:00:00.000Z");
    store(target, some_result(2), "2024-01-01T00:00:00.000Z");
    CHECK_THROWS_AS(static_cast<void>(merge_databases(sources, target)), run_exists);
    {
        results_database at_work{target};
        CHECK(thrown_code([&] { static_cast<void>(merge_databases(sources, target, {.replace = true})); }) ==
              error_code::in_use);
        CHECK(at_work.find("runs/2").has_value());
    }
    CHECK(status_of_child([&] {
              results_database database{target};
              database.write(some_result(3), "q");
              ::_exit(5);  // its WAL must not get into the new one
              return 0;
          }) == 5);
    CHECK(merge_databases(sources, target, {.replace = true}).runs == 1);
    CHECK(canonical_rows(target) == canonical_rows(sources[0]));
}

TEST_CASE("merge_databases: killed at any moment, the target is whole or not there") {
    const temporary_folder place;
    const std::vector<std::string> sources{place.path() + "/a.db"};
    const std::string target = place.path() + "/all.db";
    {
        results_database database{sources[0]};
        for (std::uint64_t i = 0; i < 200; ++i) {
            database.write(some_result(i), "q");
        }
    }
    const std::string expected = canonical_rows(sources[0]);
    std::mt19937 random{11};
    for (int round = 0; round < 20; ++round) {
        child_process merging{[&] {
            while (true) {
                static_cast<void>(merge_databases(sources, target, {.replace = true}));
            }
            return 0;
        }};
        std::this_thread::sleep_for(std::chrono::microseconds{std::uniform_int_distribution<int>{0, 40'000}(random)});
        merging.kill();
        if (std::filesystem::exists(target)) {
            REQUIRE(canonical_rows(target) == expected);
        }
    }
}

TEST_CASE(
    "merge_databases: a source without tables, and one with a damaged page, are named, and nothing is left behind") {
    const temporary_folder place;
    const std::string source = place.path() + "/a.db";
    const std::string empty = place.path() + "/empty.db";
    const std::string damaged = place.path() + "/damaged.db";
    std::int64_t page = 0;
    std::int64_t size = 0;
    {
        results_database database{source};
        database.write(some_result(1), "q");
    }
    {
        sqlite::connection database{source, sqlite::access::write, 1s};
        page = database.number("SELECT rootpage FROM sqlite_master WHERE name = 'results'");
        size = database.number("PRAGMA page_size");
    }
    {
        // As far as a writer gets that dies before its tables are there.
        sqlite::connection begun{empty, sqlite::access::create, 1s};
        sqlite::statement asked = begun.prepare("PRAGMA journal_mode = WAL");
        REQUIRE(asked.next());
    }
    REQUIRE_FALSE(file_content(empty).empty());
    std::string bytes = file_content(source);
    const auto begin = static_cast<std::size_t>((page - 1) * size);
    REQUIRE(begin + static_cast<std::size_t>(size) <= bytes.size());
    bytes.replace(begin, static_cast<std::size_t>(size), static_cast<std::size_t>(size), '\0');
    place.write("damaged.db", bytes);
    const auto before = files_in(place.path());
    const auto damage_of = [&](const std::string& other) {
        const std::vector<std::string> sources{other, source};
        try {
            static_cast<void>(merge_databases(sources, place.path() + "/all.db"));
        } catch (const corrupt_data& damage) {
            CHECK(damage.where() == other);
            return std::string{damage.message()};
        }
        return std::string{"it was merged"};
    };
    CHECK(damage_of(empty) == "the database " + empty + " has no tables: its writer died at the beginning");
    const std::string told = damage_of(damaged);
    CHECK_MESSAGE(told.starts_with("the database " + damaged + " is damaged: "), told);
    CHECK(files_in(place.path()) == before);
}
