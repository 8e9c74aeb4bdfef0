// Links to folders, and circles of them.
#include <smdebug/storage/posix/folder_follower.hpp>

#include "storage/posix/folder_follower_fixture.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/storage/local_storage.hpp>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;
using namespace smdebug_test::follower;

TEST_CASE("folder_follower: follows links to folders elsewhere, and files added there") {
    scripted_run run;
    const temporary_folder elsewhere;
    elsewhere.write("x/a", "1");
    run.folder.write("index/b", "1");
    link_folder(run.folder, elsewhere.path() + "/x", "index/linked");
    std::filesystem::create_symlink(elsewhere.path() + "/x/a", run.folder.path() + "/index/file");
    CHECK(run.next() == keys{"index/b", "index/file", "index/linked/a"});
    run.settle();
    elsewhere.write("x/c", "1");
    elsewhere.write("x/deep/d", "1");
    CHECK(run.next() == keys{"index/linked/a", "index/linked/c", "index/linked/deep/d"});
    run.settle();

    // The target of the link is removed, becomes a file, reappears: the folder of the link has not changed.
    std::filesystem::rename(elsewhere.path() + "/x", elsewhere.path() + "/y");
    CHECK(run.next() == keys{"index/b", "index/file", "index/linked"});  // both links dangle
    elsewhere.write("x", "a file now");
    CHECK(run.next() == keys{"index/b", "index/file", "index/linked"});
    elsewhere.remove("x");
    static_cast<void>(run.next());
    elsewhere.write("x/e", "1");
    CHECK(run.next() == keys{"index/b", "index/file", "index/linked/e"});
}

TEST_CASE("folder_follower: circles of links end, and the keys are those of a listing") {
    scripted_run run;
    run.folder.write("index/0/a", "x");
    run.folder.write("index/1/b", "x");
    SUBCASE("to itself, to its parent, to a neighbour, to each other") {
        link_folder(run.folder, ".", "index/0/self");
        link_folder(run.folder, "..", "index/0/up");
        link_folder(run.folder, "0", "index/a_neighbour");
        link_folder(run.folder, "../1", "index/0/one");
        link_folder(run.folder, "../0", "index/1/zero");
        link_folder(run.folder, "endless", "index/endless");
    }
    SUBCASE("out of the folder and in again, many ways") {
        for (const char* name : {"one", "two", "three", "index/four", "index/0/five", "index/1/six"}) {
            link_folder(run.folder, run.folder.path(), name);
        }
    }
    const local_storage listing{run.folder.path()};
    const keys all = listing.list("index/", "");
    CHECK(run.next() == all);
    for (int i = 0; i < 3; ++i) {
        const keys again = run.next();
        CHECK(std::includes(all.begin(), all.end(), again.begin(), again.end()));
    }
    run.folder.write("index/1/c", "x");
    CHECK(contains(run.next(), "index/1/c"));
    run.follower.forget();
    CHECK(run.next() == listing.list("index/", ""));
}

TEST_CASE("folder_follower: a second link to a folder is followed when the first is removed") {
    scripted_run run;
    const temporary_folder elsewhere;
    elsewhere.write("x/a", "1");
    run.folder.write("index/0/b", "1");
    run.folder.write("index/1/c", "1");
    link_folder(run.folder, elsewhere.path() + "/x", "index/0/first");
    run.settle();
    link_folder(run.folder, elsewhere.path() + "/x", "index/1/second");
    CHECK(run.next() == keys{"index/1/c"});
    CHECK(run.next() == keys{"index/1/c"});
    run.folder.remove("index/0/first");
    CHECK(run.next() == keys{"index/0/b", "index/1/c", "index/1/second/a"});
    run.settle();
}

TEST_CASE("folder_follower: a link that becomes part of a circle is no longer followed") {
    scripted_run run;
    const temporary_folder elsewhere;
    elsewhere.write("x/a", "1");
    link_folder(elsewhere, elsewhere.path() + "/x", "way");
    run.folder.write("index/0/b", "1");
    link_folder(run.folder, elsewhere.path() + "/way", "index/0/linked");
    CHECK(run.next() == keys{"index/0/b", "index/0/linked/a"});
    run.settle();
    elsewhere.remove("way");
    link_folder(elsewhere, run.folder.path() + "/index", "way");  // index/0 does not change
    CHECK(run.next() == keys{"index/0/b"});
    CHECK(run.next() == keys{"index/0/b"});
}
