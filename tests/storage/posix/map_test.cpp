#include <smdebug/storage/posix/file.hpp>

#include "support/leases.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace smdebug;
using namespace smdebug_test;

namespace {

std::string write_file(const temporary_folder& folder, const std::string& name, const std::string& text) {
    const std::string path = folder.path() + "/" + name;
    std::ofstream{path, std::ios::binary} << text;
    return path;
}

}  // namespace

static_assert(detail::posix::leases_bind(0xEF53) && detail::posix::leases_bind(0x01021994));
static_assert(!detail::posix::leases_bind(0x6969) && !detail::posix::leases_bind(0x65735546));  // nfs, FUSE

TEST_CASE("leased_map: shows the file's bytes, even after it is replaced or removed") {
    const temporary_folder folder;
    if (!leases_are_given(folder)) {
        return;
    }
    const std::string text(100'000, 'a');
    const detail::posix::file file{write_file(folder, "one", text)};
    std::optional<detail::posix::leased_map> map = detail::posix::leased_map::open(file);
    REQUIRE(map);
    CHECK(as_text(map->view()) == text);
    const detail::posix::leased_map moved = std::move(*map);
    map.reset();
    std::rename(write_file(folder, "two", "other").c_str(), (folder.path() + "/one").c_str());
    CHECK(as_text(moved.view()) == text);
    std::remove((folder.path() + "/one").c_str());
    CHECK(as_text(moved.view()) == text);
}

TEST_CASE("leased_map: nothing for a file that is empty, has changed since opening, or is open for writing") {
    const temporary_folder folder;
    if (!leases_are_given(folder)) {
        return;
    }
    const detail::posix::file empty{write_file(folder, "empty", "")};
    CHECK_FALSE(detail::posix::leased_map::open(empty));
    const std::string path = write_file(folder, "grows", "12345");
    const detail::posix::file before{path};
    std::ofstream{path, std::ios::app} << "6";
    CHECK_FALSE(detail::posix::leased_map::open(before));
    const detail::posix::file after{path};
    {
        const std::ofstream writer{path, std::ios::app};
        CHECK_FALSE(detail::posix::leased_map::open(after));
    }
    CHECK(detail::posix::leased_map::open(after));
}

TEST_CASE("leased_map: truncating the file waits until the map is destroyed, and kills no process") {
    const temporary_folder folder;
    if (!leases_are_given(folder)) {
        return;
    }
    const std::string path = write_file(folder, "file", std::string(1'000'000, 'b'));
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        ::_exit(::truncate(path.c_str(), 10) == 0 ? 0 : 1);
    }
    {
        // The child may have been first; then it need not wait.
        const detail::posix::file file{path};
        const std::optional<detail::posix::leased_map> map = detail::posix::leased_map::open(file);
        if (map && map->view().size() > 10) {
            std::this_thread::sleep_for(std::chrono::milliseconds{50});
            std::size_t found = 0;
            for (const std::byte byte : map->view()) {
                found += byte == std::byte{'b'} ? 1U : 0U;
            }
            CHECK(found == 1'000'000);
        }
    }
    int state = 0;
    REQUIRE(::waitpid(child, &state, 0) == child);
    CHECK(WIFEXITED(state));
    CHECK(WEXITSTATUS(state) == 0);
    CHECK(detail::posix::file{path}.size() == 10);
}

TEST_CASE("leased_map: truncation by the same process waits, too, and its signal has no effect") {
    const temporary_folder folder;
    if (!leases_are_given(folder)) {
        return;
    }
    const std::string path = write_file(folder, "file", std::string(1'000'000, 'b'));
    int cut = -1;
    std::thread cutter;
    {
        const detail::posix::file file{path};
        const std::optional<detail::posix::leased_map> map = detail::posix::leased_map::open(file);
        REQUIRE(map);
        cutter = std::thread{[&] { cut = ::truncate(path.c_str(), 10); }};
        std::this_thread::sleep_for(std::chrono::milliseconds{50});
        CHECK(as_text(map->view()).back() == 'b');
        CHECK(detail::posix::file{path}.size() == 1'000'000);
    }
    cutter.join();
    CHECK(cut == 0);
    CHECK(detail::posix::file{path}.size() == 10);
}

TEST_CASE("read_ahead: whatever the file, it returns and changes nothing") {
    const temporary_folder folder;
    for (const std::string& text : {std::string{}, std::string(300'000, 'c')}) {
        const detail::posix::file file{write_file(folder, "file", text)};
        static_cast<void>(::posix_fadvise(file.handle(), 0, 0, POSIX_FADV_DONTNEED));
        static_cast<void>(detail::posix::read_ahead(file));
        detail::posix::scratch_buffer buffer;
        CHECK(as_text(file.read_all(buffer)) == text);
    }
}
