#include <smdebug/storage/posix_file.hpp>

#include "support/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <string>

using namespace smdebug;
using namespace smdebug_test;

TEST_CASE("posix: stays_inside takes only keys that name something below the root") {
    for (const std::string_view good : {"a", "a/b", "..a", "a..", "a/..b/c", ".hidden", "a/./b"}) {
        CAPTURE(good);
        CHECK(posix::stays_inside(good));
    }
    for (const std::string_view bad : {"", "/a", "..", "a/..", "../a", "a/../b"}) {
        CAPTURE(bad);
        CHECK_FALSE(posix::stays_inside(bad));
    }
}

TEST_CASE("posix: an errno becomes the error that says what the caller can do") {
    CHECK_THROWS_AS(posix::fail("cannot open", "x", ENOENT), not_found);
    CHECK_THROWS_AS(posix::fail("cannot open", "x", ENOTDIR), not_found);
    CHECK_THROWS_AS(posix::fail("cannot open", "x", EACCES), access_denied);
    CHECK_THROWS_AS(posix::fail("cannot open", "x", EIO), unavailable);
    try {
        posix::fail("cannot open", "the/path", EMFILE);
    } catch (const error& thrown) {
        CHECK(thrown.where() == "the/path");
        CHECK(std::string{thrown.what()} == "Unavailable: cannot open the/path: Too many open files");
    }
}

TEST_CASE("posix: a file keeps its size from when it was opened, and a shrunk one gives what is left") {
    const temporary_folder folder;
    folder.write("f", "0123456789");
    const posix::file file{folder.path() + "/f"};
    folder.write("f", "0123");
    posix::scratch_buffer buffer;
    CHECK(file.size() == 10);
    CHECK(as_text(file.read_all(buffer)) == "0123");
}

TEST_CASE("posix: a scratch buffer grows and is used again") {
    posix::scratch_buffer buffer;
    CHECK(buffer.at_least(0).empty());
    const auto* first = buffer.at_least(100).data();
    CHECK(buffer.at_least(50).data() == first);
    CHECK(buffer.at_least(50).size() == 100);
    CHECK(buffer.at_least(101).size() == 200);
    CHECK(buffer.at_least(5000).size() == 5000);
    CHECK(buffer.at_least(std::size_t{3} << 20U).size() == std::size_t{3} << 20U);
}
