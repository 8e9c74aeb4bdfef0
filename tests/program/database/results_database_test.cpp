#include <program/database/results_database.hpp>

#include "program/database/results.hpp"
#include "support/child_process.hpp"
#include "support/skipped.hpp"
#include "support/temporary_folder.hpp"

#include <program/database/canonical_rows.hpp>
#include <program/database/merge_databases.hpp>
#include <program/database/schema.hpp>
#include <program/database/sqlite.hpp>
#include <smdebug/batch/row_spool.hpp>
#include <smdebug/core/error.hpp>

#include <doctest/doctest.h>

#include <sched.h>
#include <sys/mount.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace smdebug;
using namespace smdebug_test;
using namespace std::chrono_literals;
namespace sqlite = smdebug::detail::sqlite;

namespace {

constexpr const char* question = "all rules, as they are";

/// The first column of a question's first row, as a text.
std::string asked(const std::string& path, const std::string& sql) {
    sqlite::connection from{path, sqlite::access::write, 10s};
    sqlite::statement row = from.prepare(sql);
    return row.next() ? std::string{row.text(0)} : "";
}

std::string message_of_opening(const std::string& path) {
    try {
        const results_database opened{path};
    } catch (const error& thrown) {
        return thrown.what();
    }
    return "";
}

std::size_t lines_in(const std::string& path) {
    std::ifstream file{path};
    return static_cast<std::size_t>(
        std::count(std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}, '\n'));
}

bool contains(const std::string& text, std::string_view piece) { return text.find(piece) != std::string::npos; }

}  // namespace

TEST_CASE("results_database: every field of a run comes back, also after closing") {
    const temporary_folder place;
    const std::string file = place.path() + "/results.db";
    constexpr double inf = std::numeric_limits<double>::infinity();
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    run_result full = some_result(17);
    full.run.place = std::numeric_limits<std::uint64_t>::max();
    full.state = run_state::timed_out;
    full.error = "its time was over";
    full.seconds = 0.1 + 0.2;
    full.verdicts[1] = {
        .name = "nothing to look at", .status = rule_status::not_applicable, .summary = "there is no such collection"};
    full.verdicts[2].status = rule_status::incomplete;
    full.verdicts[2].outcome.skipped = 3;
    full.verdicts[2].outcome.unread = 5;
    full.verdicts[2].outcome.findings = {{.damaged = true, .message = "a note without a step"}};
    for (const double value : {-0.0, inf, -inf, nan, 5e-324, 0x1.fffffffffffffp+1023, 1.0 / 3.0, 3.0, 0x1p+62}) {
        full.verdicts[0].outcome.findings.push_back(
            {.met = true, .step = 30, .mode = mode::eval, .value = value, .threshold = -value});
    }
    full.messages = {{.what = run_message::kind::note, .text = "a note"},
                     {.what = run_message::kind::damage, .text = std::string(1'000'000, 'x')},
                     {.what = run_message::kind::error, .text = ""}};
    run_result odd = some_result(2);  // names that other programs trip over
    odd.run.path = std::string{"runs/\xC3\xA4\xFF\0b", 10};
    odd.run.version = "\xE2\x82";
    odd.verdicts[0].name = std::string{"a\0b", 3};
    odd.verdicts[0].outcome.findings[0].tensor = "\xF0\x9F\x98\x80 \xED\xA0\x80 'quoted' \"twice\"; --";
    run_result least;  // nothing of it is known but its path
    least.run.path = "";
    {
        results_database written{file};
        written.write(full, question);
        written.write(odd, std::string{"why\0\xFF", 5});
        written.write(least, "");
        CHECK(same(written.find(full.run.path).value(), full));
    }
    results_database again{file};
    CHECK(same(again.find(full.run.path).value(), full));
    CHECK(same(again.find(odd.run.path).value(), odd));
    CHECK(same(again.find("").value(), least));
    CHECK_FALSE(again.find("runs/").has_value());
    CHECK(again.path() == file);
    CHECK(again.done_count() == 1);  // of the others one was not looked at to its end, one has no version
    CHECK(again.is_done(odd.run, std::string_view{"why\0\xFF", 5}));
    CHECK_FALSE(again.is_done(odd.run, "why"));
}

TEST_CASE("results_database: a run is there once, with its newest results only") {
    const temporary_folder place;
    const std::string file = place.path() + "/results.db";
    results_database database{file};
    run_result run = some_result(1);
    run.messages = {{.text = "old"}};
    database.begin_reductions(run.run, question);
    database.add_reductions(some_reductions());
    database.end_reductions(run);
    for (int i = 0; i < 3; ++i) {
        run = some_result(1, 2);
        run.steps = 100 + static_cast<std::size_t>(i);
        database.write(run, question);
        CHECK(same(database.find(run.run.path).value(), run));
    }
    CHECK(asked(file,
                "SELECT (SELECT count(*) FROM runs) || ' ' || (SELECT count(*) FROM results) || ' ' || "
                "(SELECT count(*) FROM findings) || ' ' || (SELECT count(*) FROM messages) || ' ' || "
                "(SELECT count(*) FROM reductions) || ' ' || (SELECT count(*) FROM questions)") == "1 2 2 0 0 1");
}

TEST_CASE("results_database: what is done, and what is to be done again") {
    const temporary_folder place;
    const std::string file = place.path() + "/results.db";
    std::vector<run_result> all;
    {
        results_database database{file};
        for (const run_state state : {run_state::ended, run_state::growing, run_state::failed, run_state::timed_out,
                                      run_state::no_memory, run_state::undone}) {
            run_result& run = all.emplace_back(some_result(all.size(), 1));
            run.state = state;
            CHECK_FALSE(database.is_done(run.run, question));
            database.write(run, question);
            CHECK(database.is_done(run.run, question) == (state == run_state::ended || state == run_state::growing));
        }
        run_result& unknown = all.emplace_back(some_result(all.size(), 1));
        unknown.run.version = "";
        database.write(unknown, question);
        CHECK_FALSE(database.is_done(unknown.run, question));
        CHECK(database.done_count() == 2);
    }
    results_database database{file};
    CHECK(database.done_count() == 2);
    for (std::size_t i = 0; i < all.size(); ++i) {
        CHECK(database.is_done(all[i].run, question) == (i < 2));
    }
    batch_run changed = all[0].run;
    changed.version = "2";
    CHECK_FALSE(database.is_done(changed, question));
    CHECK_FALSE(database.is_done(all[0].run, "other rules"));
    batch_run elsewhere = all[0].run;
    elsewhere.path += "0";
    CHECK_FALSE(database.is_done(elsewhere, question));
    // Texts do not run into each other.
    batch_run shifted = all[0].run;
    shifted.path += shifted.version.front();
    shifted.version.erase(0, 1);
    CHECK_FALSE(database.is_done(shifted, question));
    // A new version: the old one is no longer there.
    run_result next = all[0];
    next.run = changed;
    database.write(next, question);
    CHECK(database.is_done(changed, question));
    CHECK_FALSE(database.is_done(all[0].run, question));
    next.state = run_state::failed;
    database.write(next, question);
    CHECK_FALSE(database.is_done(changed, question));
    CHECK(database.done_count() == 1);
    CHECK(results_database{std::move(database)}.done_count() == 1);
}

TEST_CASE("results_database: reductions in pieces come back, NaN and what is not known told apart") {
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
    rows[4].dtype = "";  // not saved either: its shape tells how many elements it has
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

TEST_CASE("results_database: all runs are told by place, by names that lead to them from here") {
    const temporary_folder place;
    results_database database{place.path() + "/results.db"};
    database.write({.run = {.place = 2, .path = "/runs/b"}}, "q");
    database.write({.run = {.place = 2, .path = "/runs/a"}}, "other");
    database.write({.run = {.place = 1, .path = "runs/c"}}, "q");
    std::string all;
    database.for_each_run([&](std::uint64_t at, std::string_view path, std::string_view asked_for) {
        all += std::to_string(at) + " " + std::string{path} + " " + std::string{asked_for} + "\n";
    });
    CHECK(all == "1 runs/c q\n2 /runs/b q\n2 /runs/a other\n");
}

TEST_CASE("results_database: what nobody else may open is closed to them until it is closed") {
    const temporary_folder place;
    const std::string file = place.path() + "/results.db";
    {
        results_database alone{file, std::chrono::milliseconds{1}, true};
        alone.write(some_result(1), question);
        CHECK_FALSE(std::filesystem::exists(file + "-shm"));  // no shared memory: it works where there can be none
        CHECK_THROWS_AS(results_database(file, std::chrono::milliseconds{1}), in_use);
    }
    CHECK(results_database{file}.find(some_result(1).run.path));
}

TEST_CASE("results_database: a group is there together, or not at all") {
    const temporary_folder place;
    const std::string file = place.path() + "/results.db";
    {
        results_database database{file};
        database.begin_group();
        database.write(some_result(1), question);
        database.write(some_result(2), question);
        CHECK(database.mark_gone(some_result(1).run.path, "it is gone", [](std::string_view) { return true; }) == 1);
        CHECK(asked(file, "SELECT count(*) FROM runs") == "0");
        database.end_group();
        CHECK(asked(file, "SELECT count(*) FROM runs") == "2");
        database.begin_group();
        database.write(some_result(3), question);
    }
    results_database again{file};
    CHECK(again.find(some_result(1).run.path)->state == run_state::gone);
    CHECK(again.find(some_result(2).run.path));
    CHECK_FALSE(again.find(some_result(3).run.path));
}

TEST_CASE("results_database: what was begun is undone unless it is ended") {
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
        database.begin_reductions(changed, "a question that nobody asked");
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

TEST_CASE("results_database: a writer that is killed leaves whole runs, and loses none that was written") {
    const temporary_folder place;
    const std::string file = place.path() + "/results.db";
    const std::string log = place.path() + "/written";
    std::mt19937 random{20};
    std::size_t seen = 0;
    for (int round = 0; round < 20; ++round) {
        child_process writer{[&] {
            results_database database{file};
            std::ofstream said{log, std::ios::app};
            for (std::uint64_t i = 0;; ++i) {
                const std::uint64_t number = static_cast<std::uint64_t>(round) * 1'000'000 + i;
                const run_result run = i % 5 == 4 ? some_result(i) : some_result(number);  // some take another's place
                if (i % 3 == 2) {
                    database.begin_reductions(run.run, question);
                    database.add_reductions(some_reductions(12));
                    database.end_reductions(run);
                } else {
                    database.write(run, question);
                }
                said << run.run.path << std::endl;
            }
            return 0;
        }};
        // Every other one is killed whenever it may be, the others once they have written something.
        const auto longest = std::chrono::steady_clock::now() + 60s;
        while (round % 2 == 1 && lines_in(log) < seen + 3 && std::chrono::steady_clock::now() < longest) {
            std::this_thread::sleep_for(std::chrono::milliseconds{1});
        }
        std::this_thread::sleep_for(std::chrono::microseconds{std::uniform_int_distribution<int>{0, 60'000}(random)});
        writer.kill();
        results_database database{file};
        CHECK(asked(file, "PRAGMA integrity_check") == "ok");
        CHECK(asked(file, "SELECT count(*) FROM pragma_foreign_key_check") == "0");
        // A run has 12 results, 2 findings, and 12 or no reductions.
        CHECK(asked(file,
                    "SELECT count(*) FROM runs WHERE state <> 'ended'"
                    " OR (SELECT count(*) FROM results WHERE run = runs.id) <> 12"
                    " OR (SELECT count(*) FROM findings WHERE run = runs.id) <> 2"
                    " OR (SELECT count(*) FROM reductions WHERE run = runs.id) NOT IN (0, 12)") == "0");
        std::ifstream said{log};
        std::size_t lines = 0;
        for (std::string path; std::getline(said, path) && !said.eof(); ++lines) {
            if (!database.find(path)) {
                FAIL("lost: " << path);
            }
        }
        seen = lines;
    }
    CHECK(seen >= 30);
}

TEST_CASE("results_database: two writers at once, and readers meanwhile") {
    const temporary_folder place;
    const std::string file = place.path() + "/results.db";
    constexpr std::uint64_t runs = 150;
    const auto write_half = [&](std::uint64_t half) {
        results_database database{file};  // also made by either
        for (std::uint64_t i = half; i < runs; i += 2) {
            database.write(some_result(i), question);
            database.write(some_result(1'000), question);  // the same run
        }
        return 0;
    };
    child_process first{[&] { return write_half(0); }};
    child_process second{[&] { return write_half(1); }};
    std::size_t seen = 0;
    for (bool writing = true; seen < runs + 1 && writing;) {
        writing = first.runs() || second.runs();  // what comes now is after the last write
        if (!std::filesystem::exists(file)) {
            continue;
        }
        results_database reader{file};
        CHECK(reader.done_count() >= seen);
        seen = reader.done_count();
        CHECK(asked(file, "SELECT count(*) FROM runs WHERE (SELECT count(*) FROM results WHERE run = runs.id) <> 12") ==
              "0");
    }
    CHECK(first.wait() == 0);
    CHECK(second.wait() == 0);
    CHECK(seen == runs + 1);
    CHECK(asked(file, "PRAGMA integrity_check") == "ok");
}

TEST_CASE("results_database: who has to wait too long for another writer is told so") {
    const temporary_folder place;
    const std::string file = place.path() + "/results.db";
    results_database slow{file};
    results_database other{file, 20ms};
    const run_result run = some_result(1);
    slow.begin_reductions(run.run, question);
    try {
        other.write(some_result(2), question);
        FAIL("both write");
    } catch (const in_use& busy) {
        CHECK(contains(busy.what(), "another program is writing to it"));
        CHECK(busy.where() == file);
    }
    slow.end_reductions(run);
    other.write(some_result(2), question);
    CHECK(slow.find("runs/2").has_value());
}

TEST_CASE("results_database: a full disk is an error, and loses nothing that was written") {
    const temporary_folder place;
    const std::string file = place.path() + "/results.db";
    CHECK(status_of_child([&] {
              results_database database{file};
              limit_file_size(300'000);
              for (std::uint64_t i = 0; i < 10'000; ++i) {
                  try {
                      database.write(some_result(i), question);
                  } catch (const unavailable& full) {
                      const bool said = contains(full.what(), "no room left") && full.where() == file;
                      // What was written is there, and what was not, is not.
                      const bool whole = i > 5 && database.done_count() == i && database.find("runs/0") &&
                                         !database.find("runs/" + std::to_string(i));
                      return said && whole ? 7 : 1;
                  }
              }
              return 2;
          }) == 7);
    results_database database{file};
    CHECK(database.done_count() > 5);
    CHECK(asked(file, "PRAGMA integrity_check") == "ok");
    database.write(some_result(20'000), question);  // and so it goes on
    CHECK(database.find("runs/20000").has_value());
}

TEST_CASE("results_database: a small file system that runs full is an error, and loses nothing that was written") {
    const temporary_folder place;
    constexpr int cannot_mount = 77;
    const int status = status_of_child([&] {
        if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            ::mount("none", place.path().c_str(), "tmpfs", 0, "size=400k") != 0) {
            return cannot_mount;
        }
        const std::string file = place.path() + "/results.db";
        std::uint64_t written = 0;
        try {
            results_database database{file};
            for (; written < 10'000; ++written) {
                database.write(some_result(written), question);
            }
            return 1;
        } catch (const unavailable& full) {
            if (!contains(full.what(), "no room left") || written < 5) {
                return 2;
            }
        }
        results_database again{file};  // reading needs no room
        for (std::uint64_t i = 0; i < written; ++i) {
            if (!again.find("runs/" + std::to_string(i))) {
                return 3;
            }
        }
        return again.done_count() == written && asked(file, "PRAGMA integrity_check") == "ok" ? 7 : 4;
    });
    if (status == cannot_mount) {
        skipped(lacking::file_system, "no right to mount a small file system");
        return;
    }
    CHECK(status == 7);
}

TEST_CASE("results_database: no other file is touched") {
    const temporary_folder place;
    const std::string file = place.path() + "/other";
    const auto is_refused = [&](const std::string& content, std::string_view why) {
        place.write("other", content);
        const std::string message = message_of_opening(file);
        INFO(message);
        CHECK(contains(message, why));
        CHECK(contains(message, file));
        CHECK(file_content(file) == content);
        CHECK_FALSE(std::filesystem::exists(file + "-wal"));
        CHECK_FALSE(std::filesystem::exists(file + "-journal"));
    };
    is_refused("path,rule\nruns/a,all_zero\n", "is no database");
    is_refused(std::string(5'000, '\0'), "is no database");
    is_refused("SQLite format 3", "is no database");
    {
        sqlite::connection theirs{place.path() + "/theirs.db", sqlite::access::create, 1s};
        theirs.run("CREATE TABLE films (name TEXT)");
    }
    is_refused(file_content(place.path() + "/theirs.db"), "another program");
    {
        sqlite::connection theirs{place.path() + "/named.db", sqlite::access::create, 1s};
        theirs.run("PRAGMA application_id = 5; CREATE TABLE films (name TEXT)");
    }
    is_refused(file_content(place.path() + "/named.db"), "another program");
    { const results_database ours{place.path() + "/ours.db"}; }
    {
        sqlite::connection newer{place.path() + "/ours.db", sqlite::access::write, 1s};
        newer.run("PRAGMA user_version = 99");
    }
    is_refused(file_content(place.path() + "/ours.db"), "tables of version 99");
    // One whose application cannot be seen from its first page alone, as the rest lies in its WAL.
    const std::string live = place.path() + "/live.db";
    sqlite::connection theirs{live, sqlite::access::create, 1s};
    theirs.run("PRAGMA journal_mode = WAL; CREATE TABLE films (name TEXT)");
    const std::string before = file_content(live);
    const std::string wal = file_content(live + "-wal");
    CHECK(contains(message_of_opening(live), "another program"));
    CHECK(file_content(live) == before);
    CHECK(file_content(live + "-wal") == wal);

    CHECK(contains(message_of_opening(place.path() + "/missing/results.db"), "its folder is missing"));
    CHECK(message_of_opening(place.path()) != "");  // a folder
    place.write("empty.db", "");
    CHECK(message_of_opening(place.path() + "/empty.db") == "");
}

TEST_CASE("results_database: where there are no rights, it says so") {
    const temporary_folder place;
    const std::string file = place.path() + "/results.db";
    { const results_database ours{file}; }
    std::filesystem::permissions(file, std::filesystem::perms::owner_read | std::filesystem::perms::others_read);
    std::filesystem::permissions(place.path(), std::filesystem::perms{0555});
    const int status = status_of_child([&] {
        become_nobody();
        try {
            results_database refused{file};
            refused.write(some_result(1), question);
        } catch (const access_denied&) {
            return 7;
        }
        return 1;
    });
    std::filesystem::permissions(place.path(), std::filesystem::perms{0755});
    CHECK(status == 7);
}

TEST_CASE("results_database: a damaged or cut file is an error, or gives what is left; never anything else") {
    const temporary_folder place;
    const std::string whole = place.path() + "/whole.db";
    {
        results_database database{whole};
        for (std::uint64_t i = 0; i < 60; ++i) {
            database.write(some_result(i), question);
        }
    }
    const std::string bytes = file_content(whole);
    const auto looked_at = [&](const std::string& content) {
        place.write("damaged.db", content);
        std::filesystem::remove(place.path() + "/damaged.db-wal");
        std::filesystem::remove(place.path() + "/damaged.db-shm");
        try {
            results_database database{place.path() + "/damaged.db"};
            for (std::uint64_t i = 0; i < 60; ++i) {
                static_cast<void>(database.find("runs/" + std::to_string(i)));
            }
            database.write(some_result(100), question);
        } catch (const error& thrown) {
            CHECK(contains(thrown.what(), "damaged.db"));
            return 1;
        }
        return 0;
    };
    CHECK(looked_at(bytes) == 0);
    int errors = 0;
    for (std::size_t size = 1; size < bytes.size(); size += bytes.size() / 40) {
        errors += looked_at(bytes.substr(0, size));
    }
    CHECK(errors >= 39);
    std::mt19937 random{7};
    for (int i = 0; i < 100; ++i) {
        std::string flipped = bytes;
        for (int k = 0; k < 4; ++k) {
            flipped[random() % flipped.size()] = static_cast<char>(random());
        }
        static_cast<void>(looked_at(flipped));
    }
}

TEST_CASE("results_database: many threads may ask at once what is done") {
    const temporary_folder place;
    results_database database{place.path() + "/results.db"};
    for (std::uint64_t i = 0; i < 100; ++i) {
        database.write(some_result(i, 1), question);
    }
    std::atomic<int> done{0};
    {
        std::vector<std::jthread> threads;
        for (int t = 0; t < 4; ++t) {
            threads.emplace_back([&] {
                for (std::uint64_t i = 0; i < 200; ++i) {
                    done += database.is_done(some_result(i, 0).run, question) ? 1 : 0;
                }
            });
        }
    }
    CHECK(done == 400);
}

TEST_CASE("results_database: the versions of what is done at a path, and in the archive that it may be") {
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

TEST_CASE("results_database: a path stands for one run, whatever the folder that it is written from") {
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
    CHECK(base.done_count() == 2);
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
    CHECK(base.done_count() == 3);
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

TEST_CASE("results_database: an incomplete run is done, is a trouble, and is known for it when it is passed over") {
    const temporary_folder folder;
    const std::string file = folder.path() + "/r.db";
    results_database base{file};
    run_result result = some_result(1, 1);
    CHECK_FALSE(base.passed(result.run.path).has_findings);
    result.state = run_state::incomplete;
    base.write(result, "q");
    CHECK(base.is_done(result.run, "q"));
    CHECK(base.passed(result.run.path).is_incomplete);
    CHECK(base.passed(result.run.path).has_findings);
    CHECK(smdebug::detail::sqlite::connection{file, smdebug::detail::sqlite::access::read, std::chrono::seconds{10}}
              .number("SELECT count(*) FROM troubles") == 1);
}

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
        CHECK(base.done_count() == 3);
        if (opened) {
            CHECK(base.done_version(above + "1", "q"));
        }
        std::filesystem::current_path(folder.path());
    }
    std::filesystem::current_path(here);
}

TEST_CASE("results_database: a run that version 1 has by two paths is one, with what was scanned last") {
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
