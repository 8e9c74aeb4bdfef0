#include <smdebug/storage/posix/folder_follower.hpp>

#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <fcntl.h>

using namespace smdebug;
using namespace smdebug_test;
using namespace std::chrono_literals;

namespace {

constexpr detail::posix::folder_stamp changed_at(std::chrono::nanoseconds when) {
    return {.self = {1, 2}, .changed = when, .modified = when, .size = 0};
}
constexpr std::chrono::steady_clock::time_point at(std::chrono::nanoseconds when) {
    return std::chrono::steady_clock::time_point{when};
}

// File systems with fractions of a second have short ticks.
constexpr detail::posix::folder_stamp fine = changed_at(100s + 1ns);
constexpr detail::posix::folder_stamp whole = changed_at(100s);
static_assert(detail::posix::guard_of(fine.changed) == 50ms && detail::posix::guard_of(whole.changed) == 2100ms);

// Settled by our clock.
static_assert(!detail::posix::is_settled(fine, at(10s), at(10s), {}));
static_assert(!detail::posix::is_settled(fine, at(10s), at(10s + 49ms), {}));
static_assert(detail::posix::is_settled(fine, at(10s), at(10s + 50ms), {}));
static_assert(!detail::posix::is_settled(whole, at(10s), at(12s), {}));
static_assert(detail::posix::is_settled(whole, at(10s), at(12100ms), {}));
static_assert(!detail::posix::is_settled(fine, at(10s), at(9s), {}));  // seen during the listing

// Settled by the file system's.
static_assert(!detail::posix::is_settled(fine, at(10s), at(10s), fine.changed));
static_assert(!detail::posix::is_settled(fine, at(10s), at(10s), fine.changed + 49ms));
static_assert(detail::posix::is_settled(fine, at(10s), at(10s), fine.changed + 50ms));
static_assert(!detail::posix::is_settled(whole, at(10s), at(10s), whole.changed + 2s));
static_assert(detail::posix::is_settled(whole, at(10s), at(10s), whole.changed + 3s));
static_assert(!detail::posix::is_settled(fine, at(10s), at(10s), fine.changed - 1h));

// ext4, tmpfs, xfs, nfs; FUSE, CIFS, 9p, and an unknown kind.
static_assert(detail::posix::moves_folder_times(0xEF53) && detail::posix::moves_folder_times(0x01021994) &&
              detail::posix::moves_folder_times(0x58465342) && detail::posix::moves_folder_times(0x6969));
static_assert(!detail::posix::moves_folder_times(0x65735546) && !detail::posix::moves_folder_times(0xFF534D42) &&
              !detail::posix::moves_folder_times(0x01021997) && !detail::posix::moves_folder_times(0));

detail::posix::folder_look look(const std::string& path) {
    return detail::posix::look_at_folder(detail::posix::working_folder, path.c_str());
}

}  // namespace

TEST_CASE("folder_follower: distinguishes folders from others, through links and relative to another") {
    using state = detail::posix::folder_look::state;
    const temporary_folder folder;
    folder.write("a/b/file", "x");
    std::filesystem::create_directory_symlink("a/b", folder.path() + "/link");
    std::filesystem::create_directory_symlink("nowhere", folder.path() + "/broken");
    std::filesystem::create_directory_symlink("self", folder.path() + "/self");
    const detail::posix::folder_look seen = look(folder.path() + "/a/b");
    REQUIRE(seen.is == state::there);
    CHECK(look(folder.path() + "/link").stamp == seen.stamp);
    CHECK(look(folder.path() + "/a").stamp.self != seen.stamp.self);
    for (const char* name : {"/missing", "/a/b/file", "/broken", "/self", "/a/b/file/"}) {
        CAPTURE(name);
        CHECK(look(folder.path() + name).is == state::missing);
    }
    const auto top = detail::posix::open_folder(folder.path() + "/a");
    REQUIRE(top.has_value());
    CHECK(detail::posix::look_at_folder(top->get(), "b/").stamp == seen.stamp);
    CHECK(detail::posix::look_at_folder(top->get(), "").stamp == look(folder.path() + "/a").stamp);
    CHECK(detail::posix::look_at_folder(-1, "b").is == state::unknown);

    // The same numbers as a listing has.
    auto reader = detail::posix::folder_reader::open_if_there(top->get(), "b", "b");
    REQUIRE(reader.has_value());
    CHECK(reader->identity() == seen.stamp.self);
}

TEST_CASE("folder_follower: a stamp changes when a file is added, removed or renamed, and not otherwise") {
    const temporary_folder folder;
    folder.write("a", "x");
    const auto moves = [&](auto&& change) {
        const detail::posix::folder_stamp before = look(folder.path()).stamp;
        // The tick of the last change must be over. If the clock stands still, this does not end.
        for (int i = 0; look(folder.path()).stamp == before; ++i) {
            change(i);
        }
        return true;
    };
    CHECK(moves([&](int i) { folder.write("b" + std::to_string(i), "x"); }));
    CHECK(moves([&](int i) {
        folder.write("c", "x");
        std::filesystem::rename(folder.path() + "/c", folder.path() + "/d" + std::to_string(i));
    }));
    CHECK(moves([&](int) {
        folder.write("e", "x");
        folder.remove("e");
    }));
    const detail::posix::folder_stamp before = look(folder.path()).stamp;
    folder.write("a", "more than before");
    static_cast<void>(file_content(folder.path() + "/a"));
    CHECK(look(folder.path()).stamp == before);
}

TEST_CASE("folder_follower: setting a folder's modification time also changes its stamp") {
    const temporary_folder folder;
    const detail::posix::folder_stamp before = look(folder.path()).stamp;
    const struct timespec old[2] = {{.tv_sec = 1, .tv_nsec = 0}, {.tv_sec = 1, .tv_nsec = 0}};
    REQUIRE(::utimensat(AT_FDCWD, folder.path().c_str(), old, 0) == 0);
    const detail::posix::folder_stamp after = look(folder.path()).stamp;
    CHECK(after.modified == 1s);
    CHECK(after != before);
    CHECK(after.changed >= before.changed);
}

TEST_CASE("folder_follower: does not trust anything but folders, nor the kernel's own file systems") {
    CHECK_FALSE(detail::posix::has_trusted_times(-1));
    if (const auto kernel = detail::posix::open_folder("/proc")) {
        CHECK_FALSE(detail::posix::has_trusted_times(kernel->get()));
    }
}
