#include <smdebug/storage/posix/folder.hpp>

#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>

#include <sys/stat.h>

using namespace smdebug;
using namespace smdebug_test;

namespace {

std::vector<std::string> listed(const std::string& root, const std::string& folder) {
    std::vector<std::string> keys;
    detail::posix::file_lister{root}.list(folder, keys);
    std::sort(keys.begin(), keys.end());
    return keys;
}

}  // namespace

TEST_CASE("posix: lists the regular files below a folder, relative to the root") {
    const temporary_folder folder;
    folder.write("a/b/c", "x");
    folder.write("a/d", "x");
    folder.write("e", "x");
    CHECK(listed(folder.path(), "") == std::vector<std::string>{"a/b/c", "a/d", "e"});
    CHECK(listed(folder.path(), "a") == std::vector<std::string>{"a/b/c", "a/d"});
    CHECK(listed(folder.path(), "missing").empty());
    CHECK(listed(folder.path(), "e").empty());
}

TEST_CASE("posix: a dangling link, or one to itself, is listed, and reading it fails") {
    const temporary_folder folder;
    folder.write("a/b", "x");
    std::filesystem::create_symlink("gone", folder.path() + "/a/link");
    std::filesystem::create_symlink("circle", folder.path() + "/a/circle");
    CHECK(listed(folder.path(), "") == std::vector<std::string>{"a/b", "a/circle", "a/link"});
}

TEST_CASE("posix: a link to a folder elsewhere is followed, one of a circle is not") {
    const temporary_folder folder;
    const temporary_folder elsewhere;
    elsewhere.write("x/y", "1");
    folder.write("a/b", "1");
    std::filesystem::create_directory_symlink(elsewhere.path(), folder.path() + "/a/linked");
    std::filesystem::create_directory_symlink("..", folder.path() + "/a/up");
    CHECK(listed(folder.path(), "") == std::vector<std::string>{"a/b", "a/linked/x/y"});
}

TEST_CASE("posix: which of several ways to a folder is taken does not depend on the order of its names") {
    for (const char* link : {"a_before", "z_behind"}) {
        CAPTURE(link);
        const temporary_folder folder;
        const temporary_folder elsewhere;
        elsewhere.write("y", "1");
        folder.write("m/x", "1");
        std::filesystem::create_directory_symlink("m", folder.path() + "/" + link);
        std::filesystem::create_directory_symlink(elsewhere.path(), folder.path() + "/m/one");
        std::filesystem::create_directory_symlink(elsewhere.path(), folder.path() + "/m/two");
        CHECK(listed(folder.path(), "") == std::vector<std::string>{"m/one/y", "m/x"});
    }
}

TEST_CASE("posix: names are classified: files, folders, links to folders, to pipes and dangling ones") {
    using kind = detail::posix::folder_entry::kind;
    const temporary_folder folder;
    folder.write("file", "x");
    folder.write("below/file", "x");
    REQUIRE(::mkfifo((folder.path() + "/pipe").c_str(), 0600) == 0);
    std::filesystem::create_symlink("file", folder.path() + "/to_file");
    std::filesystem::create_symlink("below", folder.path() + "/to_folder");
    std::filesystem::create_symlink("pipe", folder.path() + "/to_pipe");
    std::filesystem::create_symlink("missing", folder.path() + "/to_nothing");
    std::filesystem::create_symlink("to_itself", folder.path() + "/to_itself");

    auto reader =
        detail::posix::folder_reader::open_if_there(detail::posix::working_folder, folder.path(), folder.path());
    REQUIRE(reader.has_value());
    std::map<std::string, kind> seen;
    detail::posix::folder_identity target;
    reader->each([&](const detail::posix::folder_entry& entry) {
        seen[std::string{entry.name}] = entry.what;
        target = entry.what == kind::link ? entry.target : target;
    });
    const std::map<std::string, kind> wanted{{"file", kind::file},        {"below", kind::folder},
                                             {"pipe", kind::other},       {"to_file", kind::file},
                                             {"to_folder", kind::link},   {"to_pipe", kind::loose_other},
                                             {"to_nothing", kind::loose}, {"to_itself", kind::loose}};
    CHECK(seen == wanted);
    auto below = detail::posix::folder_reader::open_if_there(reader->get(), "below", "below");
    REQUIRE(below.has_value());
    CHECK(below->identity() == target);
    CHECK_FALSE(detail::posix::folder_reader::open_if_there(reader->get(), "file", "file").has_value());
    CHECK_FALSE(detail::posix::folder_reader::open_if_there(reader->get(), "missing", "missing").has_value());
    CHECK_THROWS_AS(static_cast<void>(detail::posix::folder_reader::open_if_there(-1, "x", "the/path")), unavailable);
}
