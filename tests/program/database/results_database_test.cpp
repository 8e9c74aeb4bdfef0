#include <program/database/results_database.hpp>

#include "program/captured.hpp"
#include "program/database/results.hpp"
#include "program/database/results_database_fixture.hpp"
#include "support/child_process.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"
#include "support/thrown_code.hpp"

#include <smdebug/core/error.hpp>

using namespace smdebug;
using namespace smdebug_test;
using namespace std::chrono_literals;

namespace {

std::size_t lines_in(const std::string& path) {
    std::ifstream file{path};
    return static_cast<std::size_t>(
        std::count(std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}, '\n'));
}

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
    CHECK(done_count(again.path()) == 1);  // of the others one was not looked at to its end, one has no version
    CHECK(is_done(again, odd.run, std::string_view{"why\0\xFF", 5}));
    CHECK_FALSE(is_done(again, odd.run, "why"));
}

TEST_CASE("results_database: a run is stored once, with its newest results only") {
    const temporary_folder place;
    const std::string file = place.path() + "/results.db";
    results_database database{file};
    run_result run = some_result(1);
    run.messages = {{.text = "old"}};
    database.write(with_reductions(run, some_reductions()), question);
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
            CHECK_FALSE(is_done(database, run.run, question));
            database.write(run, question);
            CHECK(is_done(database, run.run, question) == (state == run_state::ended || state == run_state::growing));
        }
        run_result& unknown = all.emplace_back(some_result(all.size(), 1));
        unknown.run.version = "";
        database.write(unknown, question);
        CHECK_FALSE(is_done(database, unknown.run, question));
        CHECK(done_count(database.path()) == 2);
    }
    results_database database{file};
    CHECK(done_count(database.path()) == 2);
    for (std::size_t i = 0; i < all.size(); ++i) {
        CHECK(is_done(database, all[i].run, question) == (i < 2));
    }
    batch_run changed = all[0].run;
    changed.version = "2";
    CHECK_FALSE(is_done(database, changed, question));
    CHECK_FALSE(is_done(database, all[0].run, "other rules"));
    batch_run elsewhere = all[0].run;
    elsewhere.path += "0";
    CHECK_FALSE(is_done(database, elsewhere, question));
    // Texts do not run into each other.
    batch_run shifted = all[0].run;
    shifted.path += shifted.version.front();
    shifted.version.erase(0, 1);
    CHECK_FALSE(is_done(database, shifted, question));
    // A new version: the old one is no longer there.
    run_result next = all[0];
    next.run = changed;
    database.write(next, question);
    CHECK(is_done(database, changed, question));
    CHECK_FALSE(is_done(database, all[0].run, question));
    next.state = run_state::failed;
    database.write(next, question);
    CHECK_FALSE(is_done(database, changed, question));
    CHECK(done_count(database.path()) == 1);
    CHECK(results_database{std::move(database)}.path() == file);
}

TEST_CASE("results_database: lists all runs by place, with paths relative to the current folder") {
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

TEST_CASE("results_database: one opened exclusively cannot be opened by others until it is closed") {
    const temporary_folder place;
    const std::string file = place.path() + "/results.db";
    {
        results_database alone{file, std::chrono::milliseconds{1}, true};
        alone.write(some_result(1), question);
        CHECK_FALSE(std::filesystem::exists(file + "-shm"));  // no shared memory: it works where there can be none
        CHECK(thrown_code([&] { static_cast<void>(results_database(file, std::chrono::milliseconds{1})); }) ==
              error_code::in_use);
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
                database.write(i % 3 == 2 ? with_reductions(run, some_reductions(12)) : run, question);
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
        const std::size_t done = done_count(file);
        CHECK(done >= seen);
        seen = done;
        CHECK(asked(file, "SELECT count(*) FROM runs WHERE (SELECT count(*) FROM results WHERE run = runs.id) <> 12") ==
              "0");
    }
    CHECK(first.wait() == 0);
    CHECK(second.wait() == 0);
    CHECK(seen == runs + 1);
    CHECK(asked(file, "PRAGMA integrity_check") == "ok");
}

TEST_CASE("results_database: waiting too long for another writer is an error that says so") {
    const temporary_folder place;
    const std::string file = place.path() + "/results.db";
    results_database slow{file};
    results_database other{file, 20ms};
    slow.begin_group();
    slow.write(some_result(1), question);
    const unavailable busy = caught<unavailable>([&] { other.write(some_result(2), question); });
    CHECK(busy.code() == error_code::in_use);
    CHECK(contains(busy.what(), "another program is writing to it"));
    CHECK(busy.where() == file);
    slow.end_group();
    other.write(some_result(2), question);
    CHECK(slow.find("runs/2").has_value());
}
