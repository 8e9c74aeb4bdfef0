#include <program/database/results_database.hpp>

#include "program/captured.hpp"
#include "program/database/results.hpp"
#include "program/database/results_database_fixture.hpp"
#include "support/child_process.hpp"
#include "support/skipped.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <program/database/sqlite.hpp>
#include <smdebug/core/error.hpp>

#include <sched.h>
#include <sys/mount.h>

using namespace smdebug;
using namespace smdebug_test;
using namespace std::chrono_literals;
namespace sqlite = smdebug::detail::sqlite;

namespace {

std::string message_of_opening(const std::string& path) {
    return what_of<error>([&] { const results_database opened{path}; });
}

}  // namespace

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
                      const bool whole = i > 5 && done_count(database.path()) == i && database.find("runs/0") &&
                                         !database.find("runs/" + std::to_string(i));
                      return said && whole ? 7 : 1;
                  }
              }
              return 2;
          }) == 7);
    results_database database{file};
    CHECK(done_count(database.path()) > 5);
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
        return done_count(again.path()) == written && asked(file, "PRAGMA integrity_check") == "ok" ? 7 : 4;
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

TEST_CASE("results_database: missing permissions give an error that says so") {
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

TEST_CASE("results_database: a damaged or truncated file is an error, or gives what is left") {
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
