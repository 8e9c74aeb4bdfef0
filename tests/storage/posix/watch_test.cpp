#include <smdebug/storage/posix/watch.hpp>
#include <smdebug/testing/storage_conformance.hpp>

#include "support/few_descriptors.hpp"
#include "support/skipped.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <sys/inotify.h>
#include <unistd.h>

#include <csignal>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;
using namespace smdebug::testing;

namespace {

const std::vector<std::string> prefixes{"index/", "training_job_end.ts"};

// Nothing if the system has no instances left: other programs of the user may have taken all.
std::unique_ptr<change_signal> watch(const std::string& root, const std::vector<std::string>& wanted = prefixes) {
    auto signal = watch_folders(root, wanted);
    if (signal == nullptr) {
        skipped(lacking::set_up, "the system gives no signal");
    }
    return signal;
}

bool wakes(change_signal& signal) { return signal.wait_until(far_away()); }

// The changes announced so far; does not wait, as events exist when the causing call returns.
bool told(change_signal& signal) { return signal.wait_until(change_signal::clock::now()); }

// How many folders this process watches.
std::size_t watches() {
    std::size_t count = 0;
    for (const auto& open : std::filesystem::directory_iterator{"/proc/self/fdinfo"}) {
        std::ifstream facts{open.path()};
        for (std::string line; std::getline(facts, line);) {
            count += line.starts_with("inotify wd:") ? 1U : 0U;
        }
    }
    return count;
}

}  // namespace

TEST_CASE("watch_folders: exists if the system provides one, and otherwise not") {
    const temporary_folder folder;
    const detail::posix::descriptor ours{::inotify_init1(IN_CLOEXEC)};
    if (ours.get() >= 0 && ::inotify_add_watch(ours.get(), folder.path().c_str(), IN_CREATE) >= 0) {
        // This may have taken the last one.
        CHECK((watch_folders(folder.path(), prefixes) != nullptr || ::inotify_init1(IN_CLOEXEC) < 0));
    }
    CHECK(watch_folders(folder.path(), {}) == nullptr);
    CHECK(watch_folders(folder.path(), std::vector<std::string>{"../index/", "/index/"}) == nullptr);
    CHECK(watch_folders("", prefixes) == nullptr);

    without_descriptors([&] { CHECK(watch_folders(folder.path(), prefixes) == nullptr); });
}

TEST_CASE("watch_folders: wakes for its prefixes only") {
    const temporary_folder folder;
    folder.write("run/index/0/a", "x");
    const auto signal = watch(folder.path() + "/run");
    if (!signal) {
        return;
    }
    CHECK_FALSE(told(*signal));
    for (const char* other : {"other", "run/events/a", "run/training_job_end", "run/training_job_end.ts.tmp",
                              "run/collections/0/index/a", "run/indexes"}) {
        CAPTURE(other);
        folder.write(other, "x");
        CHECK_FALSE(told(*signal));
    }
    for (const char* key : {"run/index/0/b", "run/index/0/a", "run/training_job_end.ts", "run/index/c",
                            "run/index/1/2/3", "run/index/1/2/4", "run/training_job_end.ts"}) {
        CAPTURE(key);
        folder.write(key, "x");
        CHECK(told(*signal));
        quieten(*signal);
    }
    std::filesystem::rename(folder.path() + "/other", folder.path() + "/run/index/moved");
    CHECK(told(*signal));
}

TEST_CASE("watch_folders: reports new files, but nothing if folders were added or a link leads there") {
    const temporary_folder folder;
    folder.write("run/index/0/a", "x");
    folder.write("run/index/1/a", "x");
    const auto signal = watch(folder.path() + "/./run/");
    if (!signal) {
        return;
    }
    const auto named = [&] {
        auto keys = signal->changed_keys();
        if (keys) {
            keys->erase(std::unique(keys->begin(), keys->end()), keys->end());  // created, and being written
        }
        return keys;
    };
    using keys = std::vector<std::string>;
    folder.write("run/index/0/b", "x");
    folder.write("run/training_job_end.ts", "x");
    folder.write("run/other", "x");
    folder.write("run/index/1/a", "x");
    REQUIRE(told(*signal));
    CHECK(named() == keys{"index/0/b", "training_job_end.ts", "index/1/a"});

    folder.write("run/index/0/c", "x");
    std::filesystem::create_directory(folder.path() + "/run/index/2");
    REQUIRE(told(*signal));
    CHECK(named() == std::nullopt);
    folder.write("run/index/2/a", "x");
    REQUIRE(told(*signal));
    CHECK(named() == keys{"index/2/a"});

    std::filesystem::create_directory_symlink("2", folder.path() + "/run/index/again");
    std::filesystem::create_directory(folder.path() + "/run/index/3");  // all links are checked again
    quieten(*signal);
    folder.write("run/index/2/b", "x");
    REQUIRE(told(*signal));
    CHECK(named() == std::nullopt);
    std::filesystem::rename(folder.path() + "/run/index/3", folder.path() + "/away");
    REQUIRE(told(*signal));
    CHECK(named() == std::nullopt);
}

TEST_CASE("watch_folders: descends as the folders appear, and is not woken by a busy folder above") {
    const temporary_folder folder;
    const auto signal = watch(folder.path() + "/some/where/run");
    if (!signal) {
        return;
    }
    for (int i = 0; i < 10; ++i) {
        folder.write("noise" + std::to_string(i), "x");
        folder.write("noise/folder" + std::to_string(i) + "/x", "x");
        CHECK_FALSE(told(*signal));
    }
    for (const char* part :
         {"/some", "/some/where", "/some/where/run", "/some/where/run/index", "/some/where/run/index/0"}) {
        CAPTURE(part);
        std::filesystem::create_directory(folder.path() + part);
        CHECK(told(*signal));  // newly watched: it may already contain files
        CHECK_FALSE(told(*signal));
        folder.write("noise", "x") /* above */;
        CHECK_FALSE(told(*signal));
    }
    folder.write("some/where/run/index/0/a", "x");
    CHECK(told(*signal));
}

TEST_CASE("watch_folders: all at once, with files in the folders before they are watched") {
    const temporary_folder folder;
    const temporary_folder aside;
    aside.write("where/run/index/0/a", "x");
    const auto signal = watch(folder.path() + "/some/where/run");
    if (!signal) {
        return;
    }
    std::filesystem::rename(aside.path() + "/where", folder.path() + "/where");
    CHECK_FALSE(told(*signal));
    std::filesystem::create_directory(folder.path() + "/some");
    std::filesystem::rename(folder.path() + "/where", folder.path() + "/some/where");
    CHECK(told(*signal));
    quieten(*signal);
    folder.write("some/where/run/index/0/b", "x");
    CHECK(told(*signal));
}

TEST_CASE("watch_folders: folders added while it is made, or while it descends, are not missed") {
    for (int round = 0; round < 100; ++round) {
        const temporary_folder folder;
        const std::jthread writer{[&] { folder.write("some/where/run/index/0/a", "x"); }};
        const auto signal = watch(folder.path() + "/some/where/run");
        if (!signal) {
            return;
        }
        while (!std::filesystem::exists(folder.path() + "/some/where/run/index/0/a")) {
            REQUIRE(wakes(*signal));
        }
    }
}

TEST_CASE("watch_folders: a run that is moved away or removed, and replaced by another") {
    const temporary_folder folder;
    const std::string run = folder.path() + "/run";
    folder.write("run/index/0/a", "x");
    const auto signal = watch(run);
    if (!signal) {
        return;
    }
    for (int round = 0; round < 3; ++round) {
        CAPTURE(round);
        if (round == 0) {
            std::filesystem::rename(run, folder.path() + "/old");
        } else {
            std::filesystem::remove_all(run);
        }
        quieten(*signal);
        folder.write("old/index/0/b", "x");
        CHECK_FALSE(told(*signal));
        folder.write("run/index/0/a", "x");
        CHECK(wakes(*signal));
        quieten(*signal);
        folder.write("run/index/0/b", "x");
        CHECK(told(*signal));
        quieten(*signal);
        // The same below the run.
        std::filesystem::rename(run + "/index", folder.path() + "/old/index" + std::to_string(round));
        quieten(*signal);
        folder.write("run/index/1/a", "x");
        CHECK(wakes(*signal));
        quieten(*signal);
        folder.write("run/index/1/b", "x");
        CHECK(told(*signal));
    }
}

TEST_CASE("watch_folders: a run reached through a link, also a later one, and a file in place of a folder") {
    const temporary_folder folder;
    folder.write("real/index/0/a", "x");
    std::filesystem::create_directory_symlink("real", folder.path() + "/run");
    const auto signal = watch(folder.path() + "/run");
    const auto later = watch(folder.path() + "/later");
    const auto blocked = watch(folder.path() + "/blocked");
    if (!signal || !later || !blocked) {
        return;
    }
    folder.write("real/index/0/b", "x");
    CHECK(told(*signal));
    CHECK_FALSE(told(*later));
    std::filesystem::create_directory_symlink("real", folder.path() + "/later");
    CHECK(told(*later));
    folder.write("real/index/0/c", "x");
    CHECK(told(*later));

    folder.write("blocked", "a file");
    CHECK_FALSE(told(*blocked));
    folder.remove("blocked");
    folder.write("blocked/index", "a file");
    CHECK(told(*blocked));
    quieten(*blocked);
    folder.remove("blocked/index");
    folder.write("blocked/index/a", "x");
    CHECK(told(*blocked));
}

TEST_CASE("watch_folders: circles of links end") {
    const temporary_folder folder;
    folder.write("run/index/0/a", "x");
    std::filesystem::create_directory_symlink(".", folder.path() + "/run/index/self");
    std::filesystem::create_directory_symlink("../..", folder.path() + "/run/index/0/up");
    const auto signal = watch(folder.path() + "/run");
    if (!signal) {
        return;
    }
    folder.write("run/index/0/b", "x");
    CHECK(told(*signal));
}

TEST_CASE("watch_folders: if there are very many folders, it watches the newest within its bound") {
    const temporary_folder folder;
    const auto add = [&](int number, const char* file) {
        folder.write("run/index/" + std::to_string(10'000 + number) + "/" + file, "x");
    };
    constexpr int many = static_cast<int>(most_watched_folders) + 100;
    for (int i = 0; i < many; ++i) {
        add(i, "a");
    }
    const std::size_t before = watches();
    const auto signal = watch(folder.path() + "/run");
    if (!signal) {
        return;
    }
    CHECK(watches() - before <= most_watched_folders + 2);  // the run and index/
    add(many - 1, "b");
    CHECK(told(*signal));
    CHECK_FALSE(signal->changed_keys().has_value());  // other folders may have changed unseen
    quieten(*signal);
    add(0, "b");
    CHECK_FALSE(told(*signal));
    for (int i = many; i < many + 20; ++i) {
        add(i, "a");
        CHECK(told(*signal));
        quieten(*signal);
        add(i, "b");
        CHECK(told(*signal));
    }
    CHECK(watches() - before <= most_watched_folders + 2);
}

TEST_CASE("watch_folders: a new link to a folder may bring files") {
    const temporary_folder folder;
    folder.write("run/index/0/a", "x");
    folder.write("elsewhere/a", "x");
    const auto signal = watch(folder.path() + "/run");
    if (!signal) {
        return;
    }
    std::filesystem::create_directory_symlink(folder.path() + "/elsewhere", folder.path() + "/run/index/1");
    REQUIRE(told(*signal));
    CHECK_FALSE(signal->changed_keys().has_value());
    quieten(*signal);
    folder.write("elsewhere/b", "x");
    CHECK(told(*signal));
}

TEST_CASE("watch_folders: when the system's queue overflows, it reports that and checks all folders again") {
    const temporary_folder folder;
    folder.write("run/index/0/a", "x");
    const auto signal = watch(folder.path() + "/run");
    if (!signal) {
        return;
    }
    // More events than the usual limit of 16384, no two equal in a row, and a relevant one at the end.
    for (int i = 0; i < 10'000; ++i) {
        folder.write("run/index/0/a", "x");
        folder.write("run/index/0/b", "x");
    }
    std::filesystem::create_directory(folder.path() + "/run/index/1");
    CHECK(told(*signal));
    quieten(*signal);
    folder.write("run/index/1/a", "x");
    CHECK(told(*signal));
}

TEST_CASE("watch_folders: a relative path, a root without a parent, and the empty prefix") {
    const temporary_folder folder;
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(folder.path());
    const auto relative = watch("some/./run/");
    const auto here = watch(".");
    const auto everything = watch("some//run", {""});
    const auto top = watch("/", {"smdebug_no_such_folder/"});
    if (relative && here && everything) {
        folder.write("some/run/index/0/a", "x");
        CHECK(told(*relative));
        CHECK_FALSE(told(*here));
        CHECK(told(*everything));
        quieten(*everything);
        folder.write("some/run/b", "x");
        CHECK(told(*everything));
        folder.write("training_job_end.ts", "x");
        CHECK(told(*here));
    }
    std::filesystem::current_path(before);
}

TEST_CASE("watch_folders: signals of the system do not end a wait, interrupt does, from any thread") {
    const temporary_folder folder;
    const auto signal = watch(folder.path() + "/run");
    if (!signal) {
        return;
    }
    struct sigaction quiet = {};
    quiet.sa_handler = [](int) {};  // without SA_RESTART: system calls are interrupted
    struct sigaction old = {};
    REQUIRE(::sigaction(SIGUSR1, &quiet, &old) == 0);
    const ::pthread_t self = ::pthread_self();
    {
        const std::jthread other{[&] {
            for (int i = 0; i < 20; ++i) {
                ::pthread_kill(self, SIGUSR1);
                std::this_thread::sleep_for(std::chrono::milliseconds{1});
            }
            signal->interrupt();
        }};
        CHECK_FALSE(signal->wait_until(far_away()));
    }
    REQUIRE(::sigaction(SIGUSR1, &old, nullptr) == 0);

    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (int k = 0; k < 1000; ++k) {
                signal->interrupt();
            }
        });
    }
    CHECK_FALSE(signal->wait_until(far_away()));
    threads.clear();
    static_cast<void>(told(*signal));
    CHECK_FALSE(signal->wait_until(change_signal::clock::now() + std::chrono::milliseconds{5}));
}
