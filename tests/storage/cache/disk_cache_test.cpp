#include <smdebug/storage/cache/disk_cache.hpp>

#include "support/child_process.hpp"
#include "support/counting_storage.hpp"
#include "support/sanitized.hpp"
#include "support/skipped.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/bytes.hpp>
#include <smdebug/storage/cached_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/testing/storage_conformance.hpp>

#include <sys/stat.h>
#include <sys/syscall.h>

#include <cerrno>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;
using namespace smdebug::testing;

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t plenty = 1'000'000'000;

// A unique object for each number.
std::string text_of_number(int number, std::size_t size = 1000) {
    std::string text = std::to_string(number) + ";";
    while (text.size() < size) {
        text += text;
    }
    return text.substr(0, size);
}

std::uint64_t bytes_in(const fs::path& folder) {
    std::uint64_t all = 0;
    for (const auto& entry : fs::directory_iterator{folder}) {
        all += entry.file_size();
    }
    return all;
}

// Sets a file's last use to so long ago.
void age(const fs::path& file, std::chrono::hours by) {
    fs::last_write_time(file, fs::file_time_type::clock::now() - by);
}

}  // namespace

TEST_CASE("disk_cache: returns what was kept, in this process and in the next") {
    const temporary_folder folder;
    const object_identity what{"place", "key", "1"};
    {
        disk_cache cache{folder.path() + "/cache//", plenty};
        CHECK(cache.folder() == folder.path() + "/cache");
        CHECK_FALSE(cache.find(what));
        CHECK_FALSE(cache.holds(what));
        CHECK_FALSE(fs::exists(cache.folder()));
        cache.keep(what, as_bytes("content"));
        CHECK(text_of(*cache.find(what)) == "content");
    }
    disk_cache cache{folder.path() + "/cache", plenty};
    CHECK(cache.holds(what));
    const auto read = cache.find(what);
    REQUIRE(read);
    CHECK(text_of(*read) == "content");
    CHECK_FALSE(cache.find({"place", "key", "2"}));
    CHECK_FALSE(disk_cache{folder.path() + "/cache", plenty}.find({"other", "key", "1"}));
    cache.drop(what);
    CHECK_FALSE(cache.holds(what));
    CHECK_FALSE(cache.find(what));
}

TEST_CASE("disk_cache: a damaged file is ignored, and its object fetched again") {
    const temporary_folder folder;
    counting_storage<> inner;
    inner.write("a.tfevents", as_bytes(text_of_number(1)));
    const auto read = [&] {
        const auto store = cached_storage{inner, {.folder = folder.path()}};
        CHECK(text_of(store.read("a.tfevents", {10, 500})) == text_of_number(1).substr(10, 500));
        const auto calls = inner.calls();
        return contains(calls, "read a.tfevents");
    };
    CHECK(read());
    CHECK_FALSE(read());
    const auto file = [&] { return *fs::directory_iterator{folder.path()}; };
    const std::string whole = file_content(file());
    fs::resize_file(file(), 700);
    CHECK(read());
    CHECK(file_content(file()) == whole);
    folder.write(file().path().filename().string(), std::string(whole.size(), '\0'));  // as after a loss of power
    CHECK(read());
    CHECK_FALSE(read());
    const auto name = file().path().filename();
    fs::remove(file());
    fs::create_directory(fs::path{folder.path()} / name);  // cannot even be removed
    CHECK(read());
    CHECK(read());
}

TEST_CASE("disk_cache: a scan fetches damaged objects again") {
    const temporary_folder folder;
    counting_storage<> inner;
    const std::vector<std::string> keys{"a.tfevents", "b.tfevents", "c.tfevents"};
    for (int i = 0; i < 3; ++i) {
        inner.write(keys[static_cast<std::size_t>(i)], as_bytes(text_of_number(i)));
    }
    // Both are scans: of wholes, and of parts.
    const auto scan = [&](bool parts) {
        const auto store = cached_storage{inner, {.folder = folder.path()}};
        static_cast<void>(inner.calls());
        int place = 0;
        if (parts) {
            std::vector<object_range> ranges;
            for (const std::string& key : keys) {
                ranges.push_back({key, {0, 1000}});
            }
            store.read_ranges(ranges, [&](std::size_t, std::optional<byte_buffer> bytes, const object_version&) {
                CHECK(text_of(*bytes) == text_of_number(place++));
            });
        } else {
            store.read_each(keys, [&](std::size_t, std::optional<byte_view> bytes, const object_version&) {
                CHECK(as_text(*bytes) == text_of_number(place++));
            });
        }
        CHECK(place == 3);
    };
    scan(false);
    std::vector<std::pair<fs::path, std::string>> files;
    for (const auto& entry : fs::directory_iterator{folder.path()}) {
        files.emplace_back(entry.path(), file_content(entry.path()));
    }
    CHECK(files.size() == 3);
    for (const bool parts : {false, true}) {
        CAPTURE(parts);
        for (const auto& [path, content] : files) {
            folder.write(path.filename().string(), content.substr(0, content.size() - 1) + "~");
        }
        scan(parts);
        for (const auto& [path, content] : files) {
            CHECK(file_content(path) == content);
        }
    }
}

TEST_CASE("disk_cache: new folders and files are accessible to their owner only, whatever the umask") {
    const temporary_folder folder;
    const auto rights = [](const fs::path& of) { return static_cast<unsigned>(fs::status(of).permissions()); };
    const ::mode_t before = ::umask(0);
    disk_cache cache{folder.path() + "/new/cache", plenty};
    cache.keep({"place", "key", "1"}, as_bytes("secret"));
    // The mode of an existing folder is someone's decision.
    fs::create_directory(folder.path() + "/given");
    disk_cache given{folder.path() + "/given", plenty};
    given.keep({"place", "key", "1"}, as_bytes("secret"));
    ::umask(before);
    CHECK(rights(folder.path() + "/new") == 0700);
    CHECK(rights(folder.path() + "/new/cache") == 0700);
    CHECK(rights(folder.path() + "/given") == 0777);
    for (const char* name : {"/new/cache", "/given"}) {
        for (const auto& entry : fs::directory_iterator{folder.path() + name}) {
            CHECK(rights(entry.path()) == 0600);
        }
    }
}

TEST_CASE("disk_cache: stays within its bound and evicts the least recently used object first") {
    const temporary_folder folder;
    disk_cache cache{folder.path(), 100'000};
    const auto identity = [](const std::string& key) { return object_identity{"place", key, "1"}; };
    for (int i = 0; i < 50; ++i) {
        const std::string key = std::to_string(i);
        cache.keep(identity(key), as_bytes(text_of_number(i)));
        age(fs::path{folder.path()} / cache_file::name_of(identity(key)), std::chrono::hours{100 - i});
    }
    CHECK(cache.find(identity("0")));  // a use
    folder.write("readme.txt", std::string(50'000, 'x'));
    folder.write("sub/folder", "somebody else's");
    for (int i = 50; i < 300; ++i) {
        cache.keep(identity(std::to_string(i)), as_bytes(text_of_number(i)));
        if (i == 60) {
            CHECK(cache.find(identity("0")));
        }
    }
    fs::remove_all(fs::path{folder.path()} / "sub");
    CHECK(fs::remove(fs::path{folder.path()} / "readme.txt"));  // it existed
    CHECK(bytes_in(folder.path()) <= 100'000);
    CHECK(bytes_in(folder.path()) >= 50'000);
    CHECK_FALSE(cache.holds(identity("1")));
    CHECK(text_of(*cache.find(identity("299"))) == text_of_number(299));
}

TEST_CASE("disk_cache: evicts the oldest use first") {
    const temporary_folder folder;
    disk_cache cache{folder.path(), 10'000};
    const auto identity = [](const std::string& key) { return object_identity{"place", key, "1"}; };
    const auto path = [&](const std::string& key) {
        return fs::path{folder.path()} / cache_file::name_of(identity(key));
    };
    for (const std::string key : {"a", "b", "c", "d", "e", "f", "g", "h", "i"}) {
        cache.keep(identity(key), as_bytes(text_of_number(1)));
        age(path(key), std::chrono::hours{'z' - key.front()});
    }
    static_cast<void>(cache.find(identity("a")));
    cache.keep(identity("j"), as_bytes(text_of_number(1)));  // exceeds the bound
    for (const std::string key : {"a", "d", "i", "j"}) {
        CAPTURE(key);
        CHECK(cache.holds(identity(key)));
    }
    CHECK_FALSE(cache.holds(identity("b")));
}

TEST_CASE("disk_cache: old files of dead writers are removed, those of live writers stay") {
    const temporary_folder folder;
    const std::string name = cache_file::name_of({"place", "key", "1"}).substr(0, 32);
    folder.write(name + ".tmp.1.0", "half");
    folder.write(name + ".tmp.2.0", "half");
    folder.write("notes.tmp.2.0", "somebody else's");
    age(fs::path{folder.path()} / (name + ".tmp.1.0"), std::chrono::hours{2});
    age(fs::path{folder.path()} / "notes.tmp.2.0", std::chrono::hours{2});
    disk_cache cache{folder.path(), plenty};
    cache.tidy();
    CHECK_FALSE(fs::exists(folder.path() + "/" + name + ".tmp.1.0"));
    CHECK(fs::exists(folder.path() + "/" + name + ".tmp.2.0"));
    CHECK(fs::exists(folder.path() + "/notes.tmp.2.0"));
    disk_cache{folder.path() + "/missing", plenty}.tidy();
}

TEST_CASE("disk_cache: too large an object is not kept") {
    const temporary_folder folder;
    disk_cache cache{folder.path(), 10'000};
    CHECK(cache.largest() < 10'000);
    cache.keep({"place", "key", "1"}, as_bytes(std::string(10'000, 'x')));
    CHECK_FALSE(cache.holds({"place", "key", "1"}));
    CHECK(disk_cache{folder.path(), 0}.largest() == 0);
}

TEST_CASE("disk_cache: if the folder is read-only, a file, or removed, nothing is cached and nothing fails") {
    const temporary_folder folder;
    folder.write("file", "in the way");
    counting_storage<> inner;
    inner.write("a.tfevents", as_bytes(text_of_number(1)));
    inner.write("b.tfevents", as_bytes(text_of_number(2)));
    const std::vector<std::string> keys{"a.tfevents", "b.tfevents"};
    const auto works = [&](auto&& store) {
        bool fine = text_of(store.read("a.tfevents", {0, 5})) == text_of_number(1).substr(0, 5);
        fine = text_of(store.read("b.tfevents")) == text_of_number(2) && fine;
        store.read_each(keys, [&](std::size_t i, std::optional<byte_view> bytes, const object_version&) {
            fine = bytes && as_text(*bytes) == text_of_number(static_cast<int>(i) + 1) && fine;
        });
        return fine;
    };
    CHECK(works(cached_storage{inner, {.folder = folder.path() + "/file"}}));
    CHECK(works(cached_storage{inner, {.folder = folder.path() + "/file/below"}}));
    CHECK(works(cached_storage{inner, {.folder = ""}}));
    CHECK(works(cached_storage{inner, {.folder = folder.path() + std::string(1, '\0')}}));
    {
        const auto store =
            cached_storage{inner, {.memory_bytes = 0, .folder = folder.path() + "/gone", .folder_bytes = 100'000}};
        CHECK(works(store));
        fs::remove_all(folder.path() + "/gone");
        CHECK(works(store));
        CHECK(fs::exists(folder.path() + "/gone"));
    }
    fs::create_directory(folder.path() + "/readonly");
    fs::permissions(folder.path() + "/readonly", fs::perms::owner_read | fs::perms::owner_exec);
    const int status = status_of_child([&] {
        become_nobody();
        const bool fine = works(cached_storage{inner, {.folder = folder.path() + "/readonly"}}) &&
                          works(cached_storage{inner, {.folder = folder.path() + "/readonly/below"}});
        return fine ? 0 : 1;
    });
    CHECK(status == 0);
    CHECK(fs::is_empty(folder.path() + "/readonly"));
    fs::permissions(folder.path() + "/readonly", fs::perms::owner_all);
}

TEST_CASE("disk_cache: if the disk is full, nothing is cached, no partial file is left, and nothing fails") {
    const temporary_folder folder;
    counting_storage<> inner;
    for (int i = 0; i < 20; ++i) {
        inner.write(std::to_string(i) + ".tfevents", as_bytes(text_of_number(i, 10'000)));
    }
    const int status = status_of_child([&] {
        limit_file_size(4096);
        const auto store =
            cached_storage{inner, {.memory_bytes = 0, .folder = folder.path(), .folder_bytes = 1'000'000}};
        for (int i = 0; i < 20; ++i) {
            if (text_of(store.read(std::to_string(i) + ".tfevents", {5, 9000})) !=
                text_of_number(i, 10'000).substr(5, 9000)) {
                return 1;
            }
        }
        return 0;
    });
    CHECK(status == 0);
    CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("disk_cache: refused reads, writes, renames and listings cause no failure") {
    const temporary_folder folder;
    memory_storage inner;
    inner.write("a.tfevents", as_bytes(text_of_number(1)));
    static_cast<void>(cached_storage{inner, {.folder = folder.path()}}.read("a.tfevents"));
    for (const long call : {SYS_pread64, SYS_writev, SYS_getdents64, SYS_utimensat, SYS_unlink}) {
        CAPTURE(call);
        const int status = status_of_child([&] {
            if (!refuse_calls({{call, EIO}})) {
                return cannot_refuse;
            }
            memory_storage other = inner;
            const auto store =
                cached_storage{other, {.memory_bytes = 0, .folder = folder.path(), .folder_bytes = 1'000'000}};
            bool fine = text_of(store.read("a.tfevents")) == text_of_number(1);
            other.write("b.tfevents", as_bytes(text_of_number(2)));
            fine = text_of(store.read("b.tfevents")) == text_of_number(2) && fine;
            return fine ? 0 : 1;
        });
        if (status == cannot_refuse) {
            skipped(lacking::set_up, "no seccomp");
            return;
        }
        CHECK(status == 0);
    }
}

TEST_CASE("disk_cache: processes that share a folder find each other's whole objects, even if killed at any time") {
    const temporary_folder folder;
    constexpr int objects = 40;
    memory_storage inner;
    for (int i = 0; i < objects; ++i) {
        inner.write(std::to_string(i) + ".tfevents", as_bytes(text_of_number(i, 200'000)));
    }
    // Smaller than all objects together: files are added and evicted all the time.
    const auto read_for_ever = [&] {
        for (int round = 0;; ++round) {
            const auto store =
                cached_storage{inner, {.memory_bytes = 500'000, .folder = folder.path(), .folder_bytes = 3'000'000}};
            for (int i = 0; i < objects; ++i) {
                const int which = (i * 7 + round) % objects;
                const std::string seen = text_of(store.read(std::to_string(which) + ".tfevents", {100'000, 50'000}));
                if (seen != text_of_number(which, 200'000).substr(100'000, 50'000)) {
                    return 1;
                }
            }
        }
    };
    const int rounds = sanitized ? 10 : 40;
    for (int round = 0; round < rounds; ++round) {
        child_process first{read_for_ever};
        child_process second{read_for_ever};
        std::this_thread::sleep_for(std::chrono::milliseconds{5 + round});
        first.kill();
        CHECK(::kill(second.id(), 0) == 0);  // has found no mistake
        second.kill();
    }
    const auto store =
        cached_storage{inner, {.memory_bytes = 500'000, .folder = folder.path(), .folder_bytes = 3'000'000}};
    for (int i = 0; i < objects; ++i) {
        CHECK(text_of(store.read(std::to_string(i) + ".tfevents")) == text_of_number(i, 200'000));
    }
}

TEST_CASE("disk_cache: two processes that fill it at once find all of it afterwards") {
    const temporary_folder folder;
    counting_storage<> inner;
    for (int i = 0; i < 30; ++i) {
        inner.write(std::to_string(100 + i) + ".tfevents", as_bytes(text_of_number(i)));
    }
    const auto fill = [&] {
        const auto store = cached_storage{inner, {.folder = folder.path()}};
        for (int i = 0; i < 30; ++i) {
            if (text_of(store.read(std::to_string(100 + i) + ".tfevents")) != text_of_number(i)) {
                return 1;
            }
        }
        return 0;
    };
    child_process first{fill};
    child_process second{fill};
    CHECK(first.wait() == 0);
    CHECK(second.wait() == 0);
    CHECK(fill() == 0);
    CHECK(inner.calls() == std::vector<std::string>{"entries "});
    CHECK(std::distance(fs::directory_iterator{folder.path()}, fs::directory_iterator{}) == 30);
}

TEST_CASE("disk_cache: threads keep, find and tidy at once") {
    const temporary_folder folder;
    disk_cache cache{folder.path(), 30'000};
    std::atomic<int> wrong{0};
    {
        std::vector<std::jthread> threads;
        for (int thread = 0; thread < 4; ++thread) {
            threads.emplace_back([&, thread] {
                for (int i = 0; i < 100; ++i) {
                    const int number = (i + 10 * thread) % 50;
                    const std::string key = std::to_string(number);
                    const object_identity what{"place", key, "1"};
                    if (const auto found = cache.find(what)) {
                        wrong += text_of(*found) == text_of_number(number) ? 0 : 1;
                    } else {
                        cache.keep(what, as_bytes(text_of_number(number)));
                    }
                    if (i % 20 == 0) {
                        cache.tidy();
                        cache.drop(what);
                    }
                }
            });
        }
    }
    CHECK(wrong == 0);
    cache.tidy();
    CHECK(bytes_in(folder.path()) <= 30'000);
}
