#include <smdebug/storage/posix_folder.hpp>

#include "support/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

using namespace smdebug;
using namespace smdebug_test;

namespace {

std::vector<std::string> listed(const std::string& root, const std::string& folder) {
    std::vector<std::string> keys;
    posix::file_lister{root}.list(folder, keys);
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

TEST_CASE("posix: a link to a folder elsewhere is followed, one that goes round is not") {
    const temporary_folder folder;
    const temporary_folder elsewhere;
    elsewhere.write("x/y", "1");
    folder.write("a/b", "1");
    std::filesystem::create_directory_symlink(elsewhere.path(), folder.path() + "/a/linked");
    std::filesystem::create_directory_symlink("..", folder.path() + "/a/up");
    CHECK(listed(folder.path(), "") == std::vector<std::string>{"a/b", "a/linked/x/y"});
}
