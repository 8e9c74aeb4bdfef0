#include <smdebug/batch/search/folder_walk.hpp>

#include "support/few_descriptors.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>

using namespace smdebug;
using namespace smdebug_test;

TEST_CASE("names_in: folders, links to them and archives, in order; or that it is a run") {
    const temporary_folder folder;
    folder.write("b/x", "");
    folder.write("a.tar.gz", "");
    folder.write("notes", "");
    std::filesystem::create_directory_symlink("b", folder.path() + "/link");
    const auto names = detail::names_in(folder.path());
    REQUIRE(names);
    CHECK_FALSE(names->is_run);
    REQUIRE(names->children.size() == 3);
    CHECK(names->children[0].name == "a.tar.gz");
    CHECK_FALSE(names->children[0].is_folder);
    CHECK(names->children[1].name == "b");
    CHECK_FALSE(names->children[1].target);
    CHECK(names->children[2].target == detail::names_in(folder.path() + "/b")->self);
    CHECK_FALSE(detail::names_in(folder.path() + "/none"));
    CHECK_FALSE(detail::names_in(folder.path() + "/notes"));
}

TEST_CASE("names_in: a run has two of its three folders, or one with a group of steps") {
    const temporary_folder folder;
    const auto is_run = [&](const std::string& name) { return detail::names_in(folder.path() + "/" + name)->is_run; };
    folder.write("two/index/x", "");
    folder.write("two/events/x", "");
    CHECK(is_run("two"));
    folder.write("one/index/000000000/x", "");
    CHECK(is_run("one"));
    folder.write("named/index/x/y", "");
    CHECK_FALSE(is_run("named"));
    folder.write("file/index", "");
    folder.write("file/events", "");
    CHECK_FALSE(is_run("file"));
    folder.write("ended/training_job_end.ts", "");
    folder.write("ended/claim.smd", "");
    CHECK(is_run("ended"));
    folder.write("begun/collections/x", "");
    folder.write("begun/training_job_end.ts", "");
    CHECK(is_run("begun"));
    folder.write("profiler/system/training_job_end.ts", "");
    CHECK_FALSE(is_run("profiler/system"));
    folder.write("above/run/x", "");
    folder.write("above/training_job_end.ts", "");
    CHECK_FALSE(is_run("above"));
    folder.write("log/events.out.tfevents.1.x", "");
    folder.write("log/training_job_end.ts", "");
    CHECK_FALSE(is_run("log"));
}

TEST_CASE("names_in: a folder that cannot be opened is an error, and may_be_folder") {
    const temporary_folder folder;
    folder.write("file", "");
    CHECK(detail::may_be_folder(folder.path()));
    CHECK_FALSE(detail::may_be_folder(folder.path() + "/file"));
    CHECK_FALSE(detail::may_be_folder(folder.path() + "/none"));
    CHECK(detail::is_regular_file(folder.path() + "/file"));
    CHECK_FALSE(detail::is_regular_file(folder.path()));
    const std::string path = folder.path();
    int failed = 0;
    bool maybe = false;
    without_descriptors([&] {
        try {
            static_cast<void>(detail::names_in(path));
        } catch (const unavailable&) {
            ++failed;
        }
        maybe = maybe || detail::may_be_folder(path);
    });
    CHECK(failed >= 1);
    CHECK(maybe);
}

TEST_CASE("file_entry_of: what a storage in the folder lists of the file") {
    const temporary_folder folder;
    folder.write("~file", "abc");
    const auto entry = detail::file_entry_of(folder.path(), "~file");
    REQUIRE(entry);
    CHECK(entry->key == "~file");
    CHECK(entry->size == 3);
    CHECK_FALSE(entry->version.empty());
    CHECK_FALSE(detail::file_entry_of(folder.path(), "none"));
    CHECK_FALSE(detail::file_entry_of(folder.path() + "/~file", "x"));
}
