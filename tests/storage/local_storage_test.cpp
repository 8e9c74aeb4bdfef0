#include <smdebug/storage/local_storage.hpp>
#include <smdebug/testing/storage_conformance.hpp>
#include <smdebug/testing/writing_conformance.hpp>

#include <support/skipped.hpp>
#include "support/child_process.hpp"
#include "support/leases.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>

using namespace smdebug;
using namespace smdebug_test;
using namespace smdebug::testing;

namespace {

// A place that does not exist yet, with several missing folders above it.
storage_under_test<local_storage> fresh_place() {
    const auto folder = std::make_shared<temporary_folder>();
    local_storage store{folder->path() + "/not/yet/run"};
    return {.store = store,
            .write = [folder, store](const std::string& key,
                                     const std::string& content) mutable { store.write(key, as_bytes(content)); },
            .remove = [folder](const std::string& key) { folder->remove("not/yet/run/" + key); }};
}

// An existing place that is written to without the library.
storage_under_test<local_storage> empty_place() {
    const auto folder = std::make_shared<temporary_folder>();
    return {.store = local_storage{folder->path()},
            .write = [folder](const std::string& key, const std::string& content) { folder->write(key, content); },
            .remove = [folder](const std::string& key) { folder->remove(key); }};
}

}  // namespace

TEST_CASE("local_storage: passes the conformance suite") {
    const temporary_folder folder;
    check_storage_conformance([&](const object_map& objects) {
        for (const auto& [key, content] : objects) {
            folder.write(key, content);
        }
        return local_storage{folder.path()};
    });
}

TEST_CASE("local_storage: passes it with objects that it wrote itself, and a trailing slash in its root") {
    const temporary_folder folder;
    check_storage_conformance([&](const object_map& objects) {
        local_storage store{folder.path() + "/deep/run//"};
        for (const auto& [key, content] : objects) {
            store.write(key, as_bytes(content));
        }
        return store;
    });
}

TEST_CASE("local_storage: can be followed, even before it exists") { check_follower_conformance(fresh_place); }
TEST_CASE("local_storage: can be followed when another program writes") { check_follower_conformance(empty_place); }
TEST_CASE("local_storage: announces changes, even before it exists") {
    if (!check_signal_conformance(fresh_place)) {
        skipped(lacking::set_up, "the system gives no signal");
    }
}
TEST_CASE("local_storage: announces writes of other programs") {
    if (!check_signal_conformance(empty_place)) {
        skipped(lacking::set_up, "the system gives no signal");
    }
}
TEST_CASE("local_storage: dates its files") { check_dating_conformance(fresh_place); }
TEST_CASE("local_storage: is written piece by piece, even before it exists") { check_output_conformance(fresh_place); }
TEST_CASE("local_storage: removes files") { check_removal_conformance(fresh_place); }
TEST_CASE("local_storage: holds keys, even before it exists") { check_claim_conformance(fresh_place); }

TEST_CASE("local_storage: a file's date is its modification time, to the nanosecond") {
    const temporary_folder folder;
    folder.write("a", "x");
    const std::string path = folder.path() + "/a";
    const struct timespec times[2] = {{.tv_sec = 1, .tv_nsec = 1}, {.tv_sec = 1'600'000'000, .tv_nsec = 123'456'789}};
    REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
    struct ::stat facts = {};
    REQUIRE(::stat(path.c_str(), &facts) == 0);  // not every file system keeps fractions of a second
    const auto modified = local_storage{folder.path()}.modified("a");
    REQUIRE(modified.has_value());
    CHECK(modified->time_since_epoch() ==
          std::chrono::seconds{1'600'000'000} + std::chrono::nanoseconds{facts.st_mtim.tv_nsec});
}

TEST_CASE("local_storage: follows, watches and dates nothing outside its folder") {
    const temporary_folder folder;
    folder.write("secret", "outside");
    folder.write("run/index/inside", "inside");
    const local_storage store{folder.path() + "/run"};
    for (const std::string& prefix :
         {std::string{"../"}, std::string{"/"}, folder.path() + "/", std::string{"a/../../"}}) {
        CAPTURE(prefix);
        CHECK(store.follow(prefix)->next().empty());
        CHECK(store.watch(std::vector{prefix}) == nullptr);
        CHECK_FALSE(store.modified(prefix + "secret").has_value());
    }
    CHECK(store.follow("")->next() == std::vector<std::string>{"index/inside"});
}

TEST_CASE("local_storage: a key never leaves the folder") {
    const temporary_folder folder;
    folder.write("secret", "outside");
    folder.write("run/inside", "inside");
    const local_storage store{folder.path() + "/run"};
    CHECK(text_of(store.read("inside")) == "inside");
    for (const std::string& key : {std::string{"../secret"}, folder.path() + "/secret", std::string{"a/../../secret"},
                                   std::string{""}, std::string{".."}, std::string{"inside\0x", 8}}) {
        CAPTURE(key);
        CHECK_THROWS_AS(static_cast<void>(store.read(key)), not_found);
        CHECK(store.size(key) == std::nullopt);
        const std::vector<std::string> keys{key};
        store.read_each(keys, [](std::size_t, std::optional<byte_view> bytes, const object_version&) {
            CHECK_FALSE(bytes.has_value());
        });
    }
    CHECK(store.list("../", "").empty());
    CHECK(store.list("/", "").empty());
}

TEST_CASE("local_storage: nothing is written, removed or held outside the folder") {
    const temporary_folder folder;
    folder.write("secret", "outside");
    local_storage store{folder.path() + "/run"};
    for (const std::string& key : {std::string{"../secret"}, folder.path() + "/secret", std::string{"a/../../secret"},
                                   std::string{""}, std::string{".."}, std::string{"inside\0x", 8}}) {
        CAPTURE(key);
        CHECK_THROWS_AS(store.write(key, as_bytes("x")), not_found);
        CHECK_THROWS_AS(static_cast<void>(store.create(key)), not_found);
        CHECK_THROWS_AS(store.remove(key), not_found);
        CHECK_THROWS_AS(static_cast<void>(store.claim(key)), not_found);
        CHECK_THROWS_AS(static_cast<void>(store.claimed(key)), not_found);
    }
    CHECK(local_storage{folder.path()}.list("", "") == std::vector<std::string>{"secret"});
}

TEST_CASE("local_storage: a missing folder, or a file in its place, is empty") {
    const temporary_folder folder;
    folder.write("file", "x");
    for (const std::string& root : {folder.path() + "/missing", folder.path() + "/file"}) {
        const local_storage store{root};
        CHECK(store.place() == (root.ends_with("/file") ? place_kind::file : place_kind::missing));
        CHECK(store.list("", "").empty());
        CHECK(store.list("index/", "").empty());
        CHECK(store.size("index/x") == std::nullopt);
        CHECK_THROWS_AS(static_cast<void>(store.read("index/x")), not_found);
        const std::vector<std::string> keys{"index/x"};
        store.read_each(keys, [](std::size_t, std::optional<byte_view> bytes, const object_version&) {
            CHECK_FALSE(bytes.has_value());
        });
    }
    CHECK(local_storage{folder.path()}.place() == place_kind::folder);
}

TEST_CASE("local_storage: a folder, pipe or broken link in place of a file is an error, and nothing hangs") {
    const temporary_folder folder;
    folder.write("folder/file", "x");
    REQUIRE(::mkfifo((folder.path() + "/pipe").c_str(), 0600) == 0);
    std::filesystem::create_symlink("nowhere", folder.path() + "/broken");
    std::filesystem::create_symlink("folder/file", folder.path() + "/good");
    std::filesystem::create_directory_symlink(".", folder.path() + "/folder/circle");
    const local_storage store{folder.path()};
    CHECK_THROWS_AS(static_cast<void>(store.read("folder")), corrupt_data);
    CHECK_THROWS_AS(static_cast<void>(store.read("pipe")), corrupt_data);
    CHECK_THROWS_AS(static_cast<void>(store.read("broken")), not_found);
    CHECK(store.size("pipe") == std::nullopt);
    CHECK(text_of(store.read("good")) == "x");
    const auto keys = store.list("", "");  // the circle of links ends
    CHECK(std::find(keys.begin(), keys.end(), "good") != keys.end());
    CHECK(std::find(keys.begin(), keys.end(), "pipe") == keys.end());
    CHECK(std::find(keys.begin(), keys.end(), "broken") != keys.end());  // reading it fails
    CHECK(store.size("broken") == std::nullopt);
    CHECK(store.entries("broken", "", 1).value().at(0).size == 0);
}

TEST_CASE("local_storage: complicated circles of links end, and each file is listed") {
    const temporary_folder folder;
    folder.write("index/a", "x");
    for (const char* name : {"one", "two", "three", "index/up"}) {
        std::filesystem::create_directory_symlink(folder.path(), folder.path() + "/" + name);
    }
    std::filesystem::create_directory_symlink("self", folder.path() + "/self");
    const auto keys = local_storage{folder.path()}.list("", "");
    CHECK(keys == std::vector<std::string>{"index/a", "self"});
}

TEST_CASE("local_storage: a name that is too long is no file, and an empty root is refused") {
    const temporary_folder folder;
    const local_storage store{folder.path()};
    const std::string longest(5000, 'x');
    CHECK_THROWS_AS(static_cast<void>(store.read(longest)), not_found);
    CHECK(store.size(longest) == std::nullopt);
    const std::vector<std::string> keys{longest};
    store.read_each(keys, [](std::size_t, std::optional<byte_view> bytes, const object_version&) {
        CHECK_FALSE(bytes.has_value());
    });
    CHECK_THROWS_AS(local_storage{""}, value_error);  // "" + "/index" would be an absolute path
}

TEST_CASE("local_storage: an unreadable file is access_denied, and the message names it and the reason") {
    const int status = status_of_child([] {
        become_nobody();  // root may read everything
        const temporary_folder folder;
        folder.write("file", "x");
        if (::chmod((folder.path() + "/file").c_str(), 0) != 0) {
            return 1;
        }
        try {
            static_cast<void>(local_storage{folder.path()}.read("file"));
        } catch (const access_denied& refused) {
            const std::string_view said{refused.what()};
            return said.find(folder.path() + "/file") != said.npos && said.find("Permission denied") != said.npos ? 0
                                                                                                                  : 2;
        }
        return 3;
    });
    CHECK(status == 0);
}

TEST_CASE("local_storage: a folder that may not be listed, and a link to one that is gone, do not hide the others") {
    const temporary_folder folder;
    folder.write("a/x", "1");
    folder.write("a/inner/y", "2");
    folder.write("closed/z", "3");
    folder.write("b", "4");
    for (const char* const name : {"gone", "run.01", "a/gone", ".lock", "latest.log", "m.safetensors"}) {
        std::filesystem::create_symlink("/not/there", folder.path() + "/" + name);
    }
    const local_storage store{folder.path()};
    CHECK(store.problems().empty());
    static_cast<void>(store.list("", ""));
    const auto places = [&] {
        std::vector<std::string> all;
        for (const problem& one : store.problems()) {
            all.push_back(one.where);
        }
        std::sort(all.begin(), all.end());
        return all;
    };
    CHECK(places() == std::vector<std::string>{"a/gone", "gone", "run.01"});
    CHECK(store.problems()[0].what == "it is a link to a folder that is not there");
    std::filesystem::remove(folder.path() + "/a/gone");
    static_cast<void>(store.list("a/", ""));
    CHECK(places() == std::vector<std::string>{"gone", "run.01"});
    const int status = status_of_child([&] {
        if (::chmod(folder.path().c_str(), 0755) != 0 || ::chmod((folder.path() + "/closed").c_str(), 0) != 0) {
            return 1;
        }
        become_nobody();
        const std::vector<std::string> keys = store.list("", "");
        const bool others = std::find(keys.begin(), keys.end(), "a/inner/y") != keys.end() &&
                            std::find(keys.begin(), keys.end(), "b") != keys.end();
        const auto all = store.problems();
        const auto closed =
            std::find_if(all.begin(), all.end(), [](const problem& one) { return one.where == "closed"; });
        if (!others || closed == all.end() || !closed->what.starts_with("AccessDenied: cannot list the folder ")) {
            return 2;
        }
        try {
            static_cast<void>(store.list("closed/", ""));
        } catch (const access_denied&) {
            return 0;
        }
        return 3;
    });
    ::chmod((folder.path() + "/closed").c_str(), 0755);
    CHECK(status == 0);
}

TEST_CASE("local_storage: write leaves no partial file and no temporary name behind") {
    const temporary_folder folder;
    local_storage store{folder.path()};
    store.write("a/b/c.json", as_bytes("one"));
    store.write("a/b/c.json", as_bytes("two"));
    CHECK(text_of(store.read("a/b/c.json")) == "two");
    CHECK(store.list("", "") == std::vector<std::string>{"a/b/c.json"});

    const int status = status_of_child([&] {
        limit_file_size(100);
        try {
            store.write("a/b/c.json", as_bytes(std::string(1000, 'x')));
        } catch (const unavailable&) {
            return 0;
        }
        return 1;
    });
    CHECK(status == 0);
    CHECK(text_of(store.read("a/b/c.json")) == "two");
    CHECK(store.list("", "") == std::vector<std::string>{"a/b/c.json"});
}

TEST_CASE("local_storage: a range beyond a small file allocates no more than the file holds") {
    const temporary_folder folder;
    folder.write("small", "0123456789");
    const local_storage store{folder.path()};
    CHECK(text_of(store.read("small", {5, UINT64_MAX - 5})) == "56789");
    CHECK(store.read("small", {UINT64_MAX, UINT64_MAX}).empty());
}

TEST_CASE("local_storage: batches of large and small files, some missing, some growing, are read whole and in order") {
    const temporary_folder folder;
    local_storage store{folder.path()};
    std::vector<std::string> keys;
    std::vector<std::string> contents;
    for (std::size_t i = 0; i < 12; ++i) {
        keys.push_back("folder/" + std::to_string(i));
        const std::size_t size = i % 3 == 0 ? 1000 + i : (std::size_t{300} << 10U) + i * 12'345;
        contents.push_back(i % 5 == 4 ? std::string{} : std::string(size, static_cast<char>('a' + i)));
        if (i % 5 != 4) {
            store.write(keys[i], as_bytes(contents[i]));
        }
    }
    // Open for writing: it can only be read, not viewed.
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> writer{
        std::fopen((folder.path() + "/" + keys[7]).c_str(), "ab"), &std::fclose};
    REQUIRE(writer);
    std::size_t next = 0;
    store.read_each(keys, [&](std::size_t i, std::optional<byte_view> bytes, const object_version&) {
        REQUIRE(i == next);
        ++next;
        REQUIRE(bytes.has_value() == (i % 5 != 4));
        CHECK((bytes ? as_text(*bytes) : std::string_view{}) == contents[i]);
    });
    CHECK(next == keys.size());
    CHECK_FALSE(store.view(keys[0]));  // small: reading costs the same
    CHECK_FALSE(store.view(keys[7]));
    CHECK_FALSE(store.view("../" + keys[1]));
}

TEST_CASE("local_storage: a view keeps its bytes when the object is replaced") {
    const temporary_folder folder;
    local_storage store{folder.path()};
    const std::string before(500'000, 'x');
    store.write("key", as_bytes(before));
    if (!leases_are_given(folder)) {
        return;
    }
    const auto shown = store.view("key");
    REQUIRE(shown);
    store.write("key", as_bytes("other"));
    CHECK(text_of(*shown) == before);
    CHECK(text_of(store.read("key")) == "other");
}

TEST_CASE("local_storage: a file too large for a batch is refused, and can be read in parts") {
    const temporary_folder folder;
    local_storage store{folder.path()};
    store.write("small", as_bytes("small"));
    store.write("huge", as_bytes("huge"));
    std::filesystem::resize_file(folder.path() + "/huge", (std::uintmax_t{256} << 20U) + 1);  // a sparse file
    std::size_t seen = 0;
    const std::vector<std::string> keys{"small", "huge"};
    CHECK_THROWS_AS(
        store.read_each(keys, [&](std::size_t, std::optional<byte_view>, const object_version&) { ++seen; }),
        unsupported);
    CHECK(seen == 1);
    CHECK(text_of(store.read("huge", {0, 4})) == "huge");
}

TEST_CASE("local_storage: read_ahead never fails, whatever the key") {
    const temporary_folder folder;
    local_storage store{folder.path()};
    store.write("key", as_bytes("content"));
    for (const char* key : {"key", "missing", "", "../outside", "key/below"}) {
        static_cast<void>(store.read_ahead(key));
    }
    CHECK_FALSE(store.read_ahead("missing"));
    CHECK(text_of(store.read("key")) == "content");
}

TEST_CASE("local_storage: ranges of one file are of one version, even if it is replaced meanwhile") {
    const temporary_folder folder;
    local_storage store{folder.path()};
    store.write("a", as_bytes("oooooooooo"));
    const std::vector<object_range> wanted{{"a", {0, 4}}, {"a", {4, 4}}, {"gone", {0, 1}}, {"a", {8, 4}}};
    std::string told;
    store.read_ranges(wanted, [&](std::size_t, std::optional<byte_buffer> bytes, const object_version&) {
        told += bytes ? std::string{as_text(bytes->view())} : "-";
        store.write("a", as_bytes("nnnnnnnnnn"));
    });
    CHECK(told == "oooooooo-nn");
}
