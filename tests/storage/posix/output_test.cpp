#include <smdebug/storage/posix/output.hpp>
#include <smdebug/testing/storage_conformance.hpp>
#include <smdebug/testing/writing_conformance.hpp>

#include "support/child_process.hpp"
#include "support/skipped.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

using namespace smdebug;
using namespace smdebug_test;
using namespace smdebug::testing;

namespace {

// Everything below a folder; folders have a trailing slash.
std::vector<std::string> names_below(const std::string& folder) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator{folder}) {
        names.push_back(std::filesystem::relative(entry.path(), folder).string() + (entry.is_directory() ? "/" : ""));
    }
    std::sort(names.begin(), names.end());
    return names;
}

using names = std::vector<std::string>;

// The message of call(), which throws an Error whose where() is `path`.
template <class Error, class Call>
std::string complaint(const std::string& path, Call&& call) {
    try {
        call();
    } catch (const Error& thrown) {
        return thrown.where() == path ? std::string{thrown.message()} : "where: " + thrown.where();
    }
    return "nothing was thrown";
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("posix: each errno of writing has a readable message") {
    const auto said = [](int code) {
        return complaint<unavailable>("the/file", [&] { detail::posix::fail_writing("the/file", code); });
    };
    CHECK(said(ENOSPC) == "cannot write the/file: the disk is full; make room on it (No space left on device)");
    CHECK(has(said(EDQUOT), "the disk is full; make room on it"));
    CHECK(has(said(EFBIG), "the disk is full, or the file larger than it may be"));
    CHECK(has(said(ENOENT), "removed meanwhile"));
    CHECK(has(said(EIO), "cannot write the/file: "));
    CHECK_THROWS_AS(detail::posix::fail_writing("x", EACCES), access_denied);
    CHECK_THROWS_AS(detail::posix::fail_writing("x", ENOTDIR), not_found);
}

TEST_CASE("posix: missing folders are made, and the first new one is reported") {
    const temporary_folder folder;
    const std::string root = folder.path();
    CHECK(detail::posix::make_folders_above(root + "/file") == std::string::npos);
    CHECK(detail::posix::make_folders_above(root + "/a/b/c/file") == root.size() + 2);
    CHECK(detail::posix::make_folders_above(root + "/a/b/d/file") == root.size() + 6);
    CHECK(detail::posix::make_folders_above(root + "/a/b/d/other") == std::string::npos);
    CHECK(detail::posix::make_folders_above(root + "/x//y/./z/file") == root.size() + 2);
    CHECK(detail::posix::make_folders_above("/file") == std::string::npos);
    CHECK(detail::posix::make_folders_above("file") == std::string::npos);
    CHECK(names_below(root) == names{"a/", "a/b/", "a/b/c/", "a/b/d/", "x/", "x/y/", "x/y/z/"});
    folder.write("plain", "x");
    CHECK_THROWS_AS(detail::posix::make_folders_above(root + "/plain/below/file"), not_found);
    std::filesystem::create_symlink("nowhere", root + "/broken");
    CHECK(complaint<unavailable>("/proc/nope", [&] { detail::posix::make_folders_above("/proc/nope/x/file"); }) ==
          "cannot make the folder /proc/nope: No such file or directory");
    CHECK(has(complaint<unavailable>(root + "/broken/below",
                                     [&] { detail::posix::make_folders_above(root + "/broken/below/file"); }),
              "cannot make the folder"));
}

TEST_CASE("posix: pieces are written whole after partial and interrupted writes") {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    struct sigaction quiet = {};
    quiet.sa_handler = [](int) {};  // no SA_RESTART: calls end early
    struct sigaction before = {};
    REQUIRE(::sigaction(SIGUSR1, &quiet, &before) == 0);
    std::vector<std::string> texts;
    std::string whole;
    for (int i = 0; i < 3000; ++i) {
        texts.emplace_back(static_cast<std::size_t>(i % 5 == 0 ? 0 : i), static_cast<char>('a' + i % 26));
        whole += texts.back();
    }
    const std::vector<byte_view> pieces = [&] {
        std::vector<byte_view> made;
        for (const std::string& text : texts) {
            made.push_back(as_bytes(text));
        }
        return made;
    }();
    std::string got;
    {
        std::atomic<bool> done{false};
        const ::pthread_t writer = ::pthread_self();
        const std::jthread disturber{[&] {
            while (!done) {
                ::pthread_kill(writer, SIGUSR1);
                std::this_thread::sleep_for(std::chrono::microseconds{50});
            }
        }};
        const std::jthread reader{[&] {
            std::vector<char> buffer(10'007);
            for (::ssize_t count = 1; count > 0;) {
                count = ::read(ends[0], buffer.data(), buffer.size());
                got.append(buffer.data(), static_cast<std::size_t>(count > 0 ? count : 0));
                std::this_thread::sleep_for(std::chrono::microseconds{100});
            }
        }};
        detail::posix::write_pieces(ends[1], pieces, "pipe");
        done = true;
        ::close(ends[1]);
    }
    ::close(ends[0]);
    REQUIRE(::sigaction(SIGUSR1, &before, nullptr) == 0);
    CHECK(got == whole);
}

TEST_CASE("posix: a full device is reported") {
    const detail::posix::descriptor full{::open("/dev/full", O_WRONLY | O_CLOEXEC)};
    if (full.get() < 0) {
        skipped(lacking::set_up, "there is no /dev/full");
        return;
    }
    const byte_view bytes = as_bytes("text");
    CHECK(has(complaint<unavailable>("/dev/full",
                                     [&] {
                                         detail::posix::write_pieces(full.get(), {&bytes, 1}, "/dev/full");
                                     }),
              "the disk is full"));
}

TEST_CASE("whole_file_output: an object has the process's usual mode, and older temporary files are not touched") {
    const temporary_folder folder;
    const std::string path = folder.path() + "/file";
    const std::string taken = path + ".tmp." + std::to_string(::getpid()) + ".0";
    std::ofstream{taken} << "somebody's";
    std::ofstream{path + "-made"} << "by others";
    detail::posix::write_whole(path, as_bytes("text"));
    CHECK(file_content(path) == "text");
    CHECK(file_content(taken) == "somebody's");
    struct ::stat ours = {};
    struct ::stat others = {};
    REQUIRE(::stat(path.c_str(), &ours) == 0);
    REQUIRE(::stat((path + "-made").c_str(), &others) == 0);
    CHECK(ours.st_mode == others.st_mode);
}

TEST_CASE("whole_file_output: a full disk is reported, and nothing is left behind") {
    const temporary_folder folder;
    folder.write("old", "as it was");
    for (const char* name : {"old", "new"}) {
        const std::string path = folder.path() + "/" + name;
        const int status = status_of_child([&] {
            limit_file_size(100'000);
            detail::posix::whole_file_output out{path};
            append_texts(out, {std::string(60'000, 'x')});
            const std::string said = complaint<unavailable>(path, [&] {
                append_texts(out, {"yyy", std::string(60'000, 'y')});
            });
            return has(said, "the disk is full") ? 0 : 1;
        });
        CHECK(status == 0);
    }
    CHECK(names_below(folder.path()) == names{"old"});
    CHECK(file_content(folder.path() + "/old") == "as it was");
}

TEST_CASE("whole_file_output: a folder removed meanwhile is reported, and not made again") {
    const temporary_folder folder;
    const std::string path = folder.path() + "/run/events/file";
    detail::posix::whole_file_output out{path};
    append_texts(out, {"text"});
    std::filesystem::remove_all(folder.path() + "/run");
    append_texts(out, {"text"});
    CHECK(has(complaint<unavailable>(path, [&] { out.commit(durability::on_disk); }), "removed meanwhile"));
    CHECK(names_below(folder.path()).empty());
}

TEST_CASE("whole_file_output: its path may be below a file, a folder's path, or have too long a name") {
    const temporary_folder folder;
    folder.write("file", "x");
    folder.write("folder/inner", "x");
    const std::string below = folder.path() + "/file/a/b";
    CHECK(has(complaint<not_found>(below, [&] { detail::posix::whole_file_output{below}; }), "cannot write"));
    const std::string longest = folder.path() + "/" + std::string(5000, 'x');
    CHECK(has(complaint<not_found>(longest, [&] { detail::posix::whole_file_output{longest}; }), "cannot write"));
    const std::string taken = folder.path() + "/folder";
    {
        detail::posix::whole_file_output out{taken};
        append_texts(out, {"text"});
        CHECK(has(complaint<unavailable>(taken, [&] { out.commit(durability::cached); }), "cannot write"));
    }
    CHECK(names_below(folder.path()) == names{"file", "folder/", "folder/inner"});
}

TEST_CASE("whole_file_output: a pipe or device in its place is refused, also behind a link, and stays") {
    const temporary_folder folder;
    REQUIRE(::mkfifo((folder.path() + "/pipe").c_str(), 0600) == 0);
    std::filesystem::create_symlink("pipe", folder.path() + "/link");
    std::filesystem::create_symlink("/dev/null", folder.path() + "/null");
    // As /dev/stdout is, whatever it is redirected to.
    std::filesystem::create_symlink("/proc/self/exe", folder.path() + "/stream");
    for (const char* const name : {"pipe", "link", "null", "stream"}) {
        CAPTURE(name);
        CHECK_THROWS_WITH_AS(
            detail::posix::write_whole(folder.path() + "/" + name, as_bytes("x")),
            doctest::Contains("it is a pipe, a device, a socket or a stream of the program; name a file"), unavailable);
    }
    CHECK(std::filesystem::is_fifo(folder.path() + "/pipe"));
    CHECK(std::filesystem::is_symlink(folder.path() + "/link"));
    CHECK(std::filesystem::is_symlink(folder.path() + "/null"));
    CHECK(std::filesystem::is_symlink(folder.path() + "/stream"));
}

TEST_CASE("whole_file_output: a read-only folder is access_denied") {
    const temporary_folder folder;
    REQUIRE(::chmod(folder.path().c_str(), 0555) == 0);
    const int status = status_of_child([&] {
        become_nobody();
        const std::string file = folder.path() + "/file";
        const std::string deep = folder.path() + "/a/b/file";
        return has(complaint<access_denied>(file, [&] { detail::posix::whole_file_output{file}; }), "cannot write") &&
                       has(complaint<access_denied>(folder.path() + "/a",
                                                    [&] { detail::posix::whole_file_output{deep}; }),
                           "cannot make the folder")
                   ? 0
                   : 1;
    });
    CHECK(status == 0);
    REQUIRE(::chmod(folder.path().c_str(), 0755) == 0);
    CHECK(names_below(folder.path()).empty());
}

TEST_CASE("whole_file_output: only on_disk waits for the disk, and a failing disk is reported") {
    const temporary_folder folder;
    const std::string path = folder.path() + "/deep/file";
    const auto commit = [&](int code, durability how) {
        return status_of_child([&] {
            if (!refuse_calls({{SYS_fsync, code}})) {
                return cannot_refuse;
            }
            detail::posix::whole_file_output out{path};
            append_texts(out, {"text"});
            const std::string said = complaint<unavailable>(path, [&] { out.commit(how); });
            return has(said, "Input/output error") ? 1 : 0;
        });
    };
    if (commit(EIO, durability::cached) == cannot_refuse) {
        skipped(lacking::set_up, "no seccomp");
        return;
    }
    CHECK(file_content(path) == "text");
    std::filesystem::remove(path);
    CHECK(commit(EIO, durability::on_disk) == 1);
    CHECK(names_below(folder.path()) == names{"deep/"});
    CHECK(commit(EINVAL, durability::on_disk) == 0);  // a file system without support
    CHECK(file_content(path) == "text");
}

TEST_CASE("whole_file_output: paths without folders work, also with on_disk") {
    const temporary_folder folder;
    const int status = status_of_child([&] {
        if (::chdir(folder.path().c_str()) != 0) {
            return 1;
        }
        for (const char* path : {"plain", "one/two/three", "./dot/file"}) {
            detail::posix::whole_file_output out{path};
            append_texts(out, {path});
            out.commit(durability::on_disk);
        }
        return 0;
    });
    CHECK(status == 0);
    CHECK(names_below(folder.path()) == names{"dot/", "dot/file", "one/", "one/two/", "one/two/three", "plain"});
    CHECK(file_content(folder.path() + "/one/two/three") == "one/two/three");
}

TEST_CASE("whole_file_output: a forked child's copy removes nothing") {
    const temporary_folder folder;
    const std::string path = folder.path() + "/file";
    auto out = std::make_unique<detail::posix::whole_file_output>(path);
    append_texts(*out, {"text"});
    CHECK(status_of_child([&] {
              out.reset();
              return 0;
          }) == 0);
    out->commit(durability::cached);
    CHECK(file_content(path) == "text");
}

TEST_CASE("whole_file_output: a finished one throws when used") {
    const temporary_folder folder;
    detail::posix::whole_file_output out{folder.path() + "/a"};
    out.commit(durability::cached);
    CHECK_THROWS_AS(append_texts(out, {"text"}), error);
    CHECK_THROWS_AS(out.commit(durability::cached), error);
    CHECK(names_below(folder.path()) == names{"a"});
}

TEST_CASE("posix: remove_file says what existed, and reports what may not be removed") {
    const temporary_folder folder;
    folder.write("folder/file", "x");
    const std::string root = folder.path();
    CHECK_FALSE(detail::posix::remove_file(root + "/folder"));
    CHECK_FALSE(detail::posix::remove_file(root + "/missing"));
    CHECK_FALSE(detail::posix::remove_file(root + "/folder/file/below"));
    REQUIRE(::chmod((root + "/folder").c_str(), 0555) == 0);
    REQUIRE(::chmod(root.c_str(), 0755) == 0);
    const int status = status_of_child([&] {
        become_nobody();
        const std::string path = root + "/folder/file";
        return has(complaint<access_denied>(path, [&] { detail::posix::remove_file(path); }), "cannot remove") ? 0 : 1;
    });
    CHECK(status == 0);
    REQUIRE(::chmod((root + "/folder").c_str(), 0755) == 0);
    CHECK(detail::posix::remove_file(root + "/folder/file"));
    CHECK(names_below(root) == names{"folder/"});
}
