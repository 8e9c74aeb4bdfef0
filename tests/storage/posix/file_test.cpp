#include <smdebug/storage/posix/file.hpp>

#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <ctime>

using namespace smdebug;
using namespace smdebug_test;

TEST_CASE("posix: an errno becomes the error that says what the caller can do") {
    CHECK_THROWS_AS(detail::posix::fail("cannot open", "x", ENOENT), not_found);
    CHECK_THROWS_AS(detail::posix::fail("cannot open", "x", ENOTDIR), not_found);
    CHECK_THROWS_AS(detail::posix::fail("cannot open", "x", EACCES), access_denied);
    CHECK_THROWS_AS(detail::posix::fail("cannot open", "x", EIO), unavailable);
    const error thrown = caught<error>([&] { detail::posix::fail("cannot open", "the/path", EMFILE); });
    CHECK(thrown.where() == "the/path");
    CHECK(std::string{thrown.what()} == "Unavailable: cannot open the/path: Too many open files");
}

TEST_CASE("posix: a file keeps its size from when it was opened, and a read of a shrunk file returns what is left") {
    const temporary_folder folder;
    folder.write("f", "0123456789");
    const detail::posix::file file{folder.path() + "/f"};
    folder.write("f", "0123");
    detail::posix::scratch_buffer buffer;
    CHECK(file.size() == 10);
    CHECK(as_text(file.read_all(buffer)) == "0123");
}

TEST_CASE("posix: a scratch buffer grows and is reused") {
    detail::posix::scratch_buffer buffer;
    CHECK(buffer.at_least(0).empty());
    const auto* first = buffer.at_least(100).data();
    CHECK(buffer.at_least(50).data() == first);
    CHECK(buffer.at_least(50).size() == 100);
    CHECK(buffer.at_least(101).size() == 200);
    CHECK(buffer.at_least(5000).size() == 5000);
    CHECK(buffer.at_least(std::size_t{3} << 20U).size() == std::size_t{3} << 20U);
}

TEST_CASE("posix: size and time of a regular file, and nothing for anything else") {
    const temporary_folder folder;
    folder.write("f", "0123456789");
    const std::string path = folder.path() + "/f";
    CHECK(detail::posix::facts_of(path)->size() == 10);
    for (const std::int64_t seconds : {std::int64_t{0}, std::int64_t{1'600'000'000}, std::int64_t{-5}}) {
        CAPTURE(seconds);
        const struct timespec times[2] = {{.tv_sec = 1, .tv_nsec = 0}, {.tv_sec = seconds, .tv_nsec = 0}};
        REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
        const auto facts = detail::posix::facts_of(path);
        REQUIRE(facts.has_value());
        CHECK(facts->modified().time_since_epoch() == std::chrono::seconds{seconds});
    }
    for (const char* none : {"", "/missing", "/f/below_a_file"}) {
        CAPTURE(none);
        CHECK_FALSE(detail::posix::facts_of(folder.path() + none).has_value());
    }
}

TEST_CASE("posix: a file's size and times are the same by path and below an open folder") {
    const temporary_folder folder;
    folder.write("sub/f", "0123456789");
    const std::string path = folder.path() + "/sub/f";
    std::this_thread::sleep_for(
        std::chrono::milliseconds{60});  // a file's version is its own once the clock has gone on
    const auto opened = detail::posix::open_folder(folder.path());
    REQUIRE(opened);
    const auto facts = detail::posix::facts_of(*opened, "sub/f", folder.path());
    REQUIRE(facts);
    CHECK(facts->size() == 10);
    CHECK(facts->version() == detail::posix::facts_of(path)->version());
    struct ::stat info = {};
    REQUIRE(::stat(path.c_str(), &info) == 0);
    CHECK(facts->version().starts_with("10-" + std::to_string(info.st_ino) + "-" + std::to_string(info.st_mtim.tv_sec) +
                                       "." + std::to_string(info.st_mtim.tv_nsec) + "-"));
    for (const char* none : {"missing", "sub", "sub/f/below_a_file"}) {
        CAPTURE(none);
        CHECK_FALSE(detail::posix::facts_of(*opened, none, folder.path()).has_value());
    }
}
