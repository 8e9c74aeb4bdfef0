#include <smdebug/storage/posix/claim.hpp>

#include "support/child_process.hpp"
#include "support/skipped.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

using namespace smdebug;
using namespace smdebug_test;
using detail::posix::file_claim;

namespace {

// The message for a process that wants the claim; nothing if it succeeds.
std::string refusal(const std::string& path) {
    try {
        static_cast<void>(file_claim{path});
    } catch (const unavailable& thrown) {
        CHECK(thrown.code() == error_code::in_use);
        return thrown.where() == path ? std::string{thrown.message()} : "where: " + thrown.where();
    }
    return "";
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::size_t files_in(const std::string& folder) {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator{folder}, {}));
}

std::string line_of(::pid_t process) { return "smdebug, process " + std::to_string(process) + "\n"; }

// A child that has claimed a path when this returns, and holds it until it is killed.
child_process holder_of(const std::string& path) {
    const starting_shot ready;
    child_process child{[&] {
        const file_claim held{path};
        ready.fire();
        std::this_thread::sleep_for(std::chrono::minutes{2});
        return 0;
    }};
    ready.await();
    return child;
}

// In memory that children share.
template <class T>
class shared {
public:
    shared() : at_(::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
        REQUIRE(at_ != MAP_FAILED);
        value_ = new (at_) T{};
    }
    shared(const shared&) = delete;
    shared& operator=(const shared&) = delete;
    ~shared() { ::munmap(at_, sizeof(T)); }
    T* operator->() const { return value_; }

private:
    void* at_;
    T* value_ = nullptr;
};

}  // namespace

TEST_CASE("file_claim: its file contains one line, has no other beside it, and is closed by exec") {
    const temporary_folder folder;
    const std::string path = folder.path() + "/deep/claim";
    file_claim held{path};
    CHECK(file_content(path) == line_of(::getpid()));
    CHECK(files_in(folder.path() + "/deep") == 1);
    int found = 0;
    for (const auto& entry : std::filesystem::directory_iterator{"/proc/self/fd"}) {
        const int number = std::stoi(entry.path().filename().string());
        if (detail::posix::leads_to(path, number)) {
            ++found;
            CHECK((::fcntl(number, F_GETFD) & FD_CLOEXEC) != 0);
        }
    }
    CHECK(found == 1);
    held.release();
    CHECK(files_in(folder.path() + "/deep") == 0);
}

TEST_CASE("file_claim: one that survives a loss of power holds and releases like any other") {
    const temporary_folder folder;
    const std::string path = folder.path() + "/far/deep/claim";
    {
        const file_claim held{path, durability::on_disk};
        CHECK(file_content(path) == line_of(::getpid()));
        CHECK(files_in(folder.path() + "/far/deep") == 1);
        CHECK(held.holds());
    }
    CHECK(files_in(folder.path() + "/far/deep") == 0);
}

TEST_CASE("file_claim: another process gets a message that names the holder") {
    const temporary_folder folder;
    const std::string path = folder.path() + "/claim";
    child_process holder = holder_of(path);
    CHECK(detail::posix::is_claimed(path));
    CHECK(refusal(path) == path + " is held by another writer (smdebug, process " + std::to_string(holder.id()) +
                               "). Wait for its end, or write elsewhere.");
    CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("file_claim: a killed process holds nothing") {
    const temporary_folder folder;
    const std::string path = folder.path() + "/claim";
    child_process holder = holder_of(path);
    const ::pid_t dead = holder.id();
    holder.kill();
    CHECK(file_content(path) == line_of(dead));
    CHECK_FALSE(detail::posix::is_claimed(path));
    CHECK(file_content(path) == line_of(dead));  // an inspection changes nothing
    {
        const file_claim held{path};
        CHECK(file_content(path) == line_of(::getpid()));
        CHECK(detail::posix::is_claimed(path));
        CHECK(has(refusal(path), "is held by another writer"));
        CHECK(status_of_child([&] { return refusal(path).empty() ? 1 : 0; }) == 0);
    }
    CHECK(files_in(folder.path()) == 0);
}

TEST_CASE("file_claim: one of many processes takes over a dead claim") {
    const temporary_folder folder;
    const std::string path = folder.path() + "/claim";
    for (int round = 0; round < 20; ++round) {
        folder.write("claim", line_of(1));
        std::atomic<int> winners{0};
        std::atomic<bool> looks{true};
        std::vector<std::unique_ptr<file_claim>> won(4);
        {
            const std::jthread onlooker{[&] {
                while (looks) {
                    static_cast<void>(detail::posix::is_claimed(path));
                }
            }};
            std::vector<std::jthread> takers;
            for (auto& place : won) {
                takers.emplace_back([&] {
                    try {
                        place = std::make_unique<file_claim>(path);
                        ++winners;
                    } catch (const unavailable& caught) {
                        if (caught.code() != error_code::in_use) {
                            throw;
                        }
                    }
                });
            }
            takers.clear();
            looks = false;
        }
        // Four threads and an observer on few processors: that all give up is unlikely, but allowed.
        CHECK(winners <= 1);
        CHECK(detail::posix::is_claimed(path) == (winners == 1));
        won.clear();
    }
    const file_claim held{path};
}

TEST_CASE("file_claim: processes that take turns, and die as holders, never hold it together") {
    struct tally {
        std::atomic<int> inside{0};
        std::atomic<int> crowds{0};
        std::atomic<int> turns{0};
    };
    const temporary_folder folder;
    const std::string path = folder.path() + "/claim";
    const shared<tally> counts;
    constexpr int children = 40;
    constexpr std::size_t at_once = 4;
    const auto take_a_turn = [&](int number) {
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{30};
        while (std::chrono::steady_clock::now() < until) {
            try {
                const file_claim held{path};
                counts->crowds += counts->inside.fetch_add(1) == 0 ? 0 : 1;
                std::this_thread::sleep_for(std::chrono::microseconds{500});
                counts->inside.fetch_sub(1);
                ++counts->turns;
                if (number % 2 == 0) {
                    ::raise(SIGKILL);
                }
                return 0;
            } catch (const unavailable& caught) {
                if (caught.code() != error_code::in_use) {
                    throw;
                }
                std::this_thread::sleep_for(std::chrono::microseconds{200});
            }
        }
        return 1;
    };
    std::vector<child_process> running;
    for (int number = 0; number < children; ++number) {
        running.emplace_back([&] { return take_a_turn(number); });
        if (running.size() == at_once || number + 1 == children) {
            for (child_process& child : running) {
                const int status = child.wait();
                CHECK((status == 0 || status == -SIGKILL));
            }
            running.clear();
        }
    }
    CHECK(counts->turns == children);
    CHECK(counts->crowds == 0);
}

TEST_CASE("file_claim: foreign files are refused with advice, and stay unchanged") {
    const temporary_folder folder;
    const auto path_of = [&](const char* name) { return folder.path() + "/" + name; };
    folder.write("empty", "");
    folder.write("text", "something\nelse");
    folder.write("similar", "smdebug, process of making bread\n");
    folder.write("unlocked", "smdebug, process 1, without a lock\n");
    folder.write("folder/file", "x");
    folder.write("target", line_of(1));
    REQUIRE(::mkfifo(path_of("pipe").c_str(), 0600) == 0);
    std::filesystem::create_symlink("target", path_of("link"));
    std::filesystem::create_symlink("nowhere", path_of("broken"));
    for (const auto& [name, advice] : {std::pair{"empty", "If its process is gone, remove the file."},
                                       {"text", "is not a claim"},
                                       {"similar", "remove the file"},
                                       {"unlocked", "If its process is gone, remove the file."},
                                       {"folder", "is not a file"},
                                       {"pipe", "is not a file"},
                                       {"link", "is not a file"},
                                       {"broken", "is not a file"}}) {
        CAPTURE(name);
        CHECK(has(refusal(path_of(name)), advice));
        CHECK(has(refusal(path_of(name)), path_of(name)));
        CHECK(detail::posix::is_claimed(path_of(name)));
    }
    CHECK(file_content(path_of("text")) == "something\nelse");
    CHECK(file_content(path_of("target")) == line_of(1));
    CHECK(files_in(folder.path()) == 9);
    CHECK_FALSE(detail::posix::is_claimed(path_of("missing")));
    CHECK_FALSE(detail::posix::is_claimed(path_of("text/below")));
    CHECK_THROWS_AS(file_claim{path_of("text/below")}, not_found);
}

TEST_CASE("file_claim: a forked child keeps it alive, but removes nothing") {
    const temporary_folder folder;
    const std::string path = folder.path() + "/claim";
    std::optional<file_claim> held{path};
    CHECK(status_of_child([&] {
              held.reset();  // the child's copy
              return detail::posix::is_claimed(path) ? 0 : 1;
          }) == 0);
    CHECK(detail::posix::is_claimed(path));
    held.reset();

    // A holder that is killed while its own child lives.
    REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);  // the grandchild becomes this process's child
    const shared<std::atomic<::pid_t>> grandchild;
    const starting_shot ready;
    child_process holder{[&] {
        const file_claim claim{path};
        const ::pid_t child = ::fork();
        if (child != 0) {
            grandchild->store(child);
            ready.fire();
        }
        ::alarm(60);
        std::this_thread::sleep_for(std::chrono::minutes{2});
        return 0;
    }};
    ready.await();
    holder.kill();
    CHECK(detail::posix::is_claimed(path));
    CHECK(has(refusal(path), "is held by another writer"));
    ::kill(grandchild->load(), SIGKILL);
    CHECK(::waitpid(grandchild->load(), nullptr, 0) == grandchild->load());
    REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 0) == 0);
    CHECK_FALSE(detail::posix::is_claimed(path));
    CHECK(refusal(path).empty());
}

TEST_CASE("file_claim: a removed folder takes the claim with it") {
    const temporary_folder folder;
    const std::string path = folder.path() + "/run/claim";
    file_claim held{path};
    std::filesystem::remove_all(folder.path() + "/run");
    CHECK_FALSE(detail::posix::is_claimed(path));
    CHECK_NOTHROW(held.release());
    const file_claim again{path};
    CHECK(detail::posix::is_claimed(path));
}

TEST_CASE("file_claim: notices when its file was removed or replaced") {
    const temporary_folder folder;
    const std::string path = folder.path() + "/run/claim.smd";
    file_claim held{path};
    CHECK(held.holds());
    std::filesystem::remove_all(folder.path() + "/run");
    CHECK_FALSE(held.holds());
    const file_claim other{path};
    CHECK(other.holds());
    CHECK_FALSE(held.holds());
    held.release();
    CHECK(other.holds());
    file_claim let_go{folder.path() + "/other"};
    let_go.release();
    CHECK_FALSE(let_go.holds());
}

TEST_CASE("file_claim: missing rights and a full disk are reported, and nothing is left behind") {
    const temporary_folder folder;
    REQUIRE(::chmod(folder.path().c_str(), 0755) == 0);
    const std::string path = folder.path() + "/claim";
    CHECK(status_of_child([&] {
              limit_file_size(5);
              try {
                  const file_claim held{path};
              } catch (const unavailable& thrown) {
                  return has(thrown.what(), "the disk is full") && thrown.where() == path ? 0 : 1;
              }
              return 1;
          }) == 0);
    CHECK(files_in(folder.path()) == 0);
    folder.write("claim", line_of(1));
    REQUIRE(::chmod(path.c_str(), 0444) == 0);
    REQUIRE(::chmod(folder.path().c_str(), 0555) == 0);
    CHECK(status_of_child([&] {
              become_nobody();
              try {
                  const file_claim held{path};
              } catch (const access_denied&) {
                  return detail::posix::is_claimed(path) ? 1 : 0;
              }
              return 1;
          }) == 0);
    REQUIRE(::chmod(folder.path().c_str(), 0755) == 0);
    CHECK(file_content(path) == line_of(1));
}

TEST_CASE("file_claim: without links, or without locks, it still keeps others out") {
    const temporary_folder folder;
    const std::string path = folder.path() + "/claim";
#ifdef SYS_link
    constexpr long old_link = SYS_link;
#else
    constexpr long old_link = SYS_linkat;
#endif
    const auto in_child = [&](bool links, bool locks, auto&& run) {
        return status_of_child([&] {
            const bool refused = (links || refuse_calls({{SYS_linkat, EPERM}, {old_link, EPERM}})) &&
                                 (locks || refuse_calls({{SYS_flock, ENOLCK}}));
            return refused ? run() : cannot_refuse;
        });
    };
    for (const auto& [links, locks] : {std::pair{false, true}, {true, false}, {false, false}}) {
        CAPTURE(links);
        CAPTURE(locks);
        const bool locked = locks;
        const std::string ending = locked ? "\n" : ", without a lock\n";
        const int status = in_child(links, locks, [&] {
            {
                const file_claim held{path};
                if (file_content(path) != "smdebug, process " + std::to_string(::getpid()) + ending ||
                    refusal(path).empty() || !detail::posix::is_claimed(path) || files_in(folder.path()) != 1) {
                    return 1;
                }
            }
            if (detail::posix::is_claimed(path) || files_in(folder.path()) != 0) {
                return 2;
            }
            return 0;
        });
        if (status == cannot_refuse) {
            skipped(lacking::set_up, "no seccomp");
            return;
        }
        CHECK(status == 0);
        // Its death is seen only with locks; where a system with locks looks, nothing changes.
        CHECK(in_child(links, locks, [&] {
                  const file_claim held{path};
                  ::raise(SIGKILL);
                  return 1;
              }) == -SIGKILL);
        CHECK(detail::posix::is_claimed(path) == !locked);
        CHECK(refusal(path).empty() == locked);
        if (!locked) {
            CHECK(has(refusal(path), "If its process is gone, remove the file."));
            std::filesystem::remove(path);
        }
        CHECK(files_in(folder.path()) == 0);
    }
    // A holder with locks, inspected by a system without.
    const file_claim held{path};
    CHECK(in_child(true, false, [&] { return refusal(path).empty() || !detail::posix::is_claimed(path) ? 1 : 0; }) ==
          0);
}
