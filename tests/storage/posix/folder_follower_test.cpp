#include <smdebug/storage/posix/folder_follower.hpp>

#include "storage/posix/folder_follower_fixture.hpp"
#include "support/child_process.hpp"
#include "support/few_descriptors.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/storage/local_storage.hpp>

#include <sys/stat.h>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;
using namespace smdebug_test::follower;
using namespace std::chrono_literals;

TEST_CASE("folder_follower: lists a folder again only when something was added") {
    scripted_run run;
    for (const char* key : {"index/0/a", "index/0/b", "index/1/c", "index/d", "events/e"}) {
        run.folder.write(key, "x");
    }
    CHECK(run.next() == keys{"index/0/a", "index/0/b", "index/1/c", "index/d"});
    CHECK(run.follower.folders_listed() == 3);
    run.settle();
    CHECK(run.next().empty());

    run.folder.write("index/1/f", "x");
    CHECK(run.next() == keys{"index/1/c", "index/1/f"});
    CHECK(run.follower.folders_listed() == 1);
    run.settle();

    run.folder.write("index/2/g", "x");
    CHECK(run.next() == keys{"index/2/g", "index/d"});
    CHECK(run.follower.folders_listed() == 2);
    run.settle();

    run.folder.write("events/h", "x");
    run.folder.write("index/0/a", "longer than before");  // no new name
    CHECK(run.next().empty());
    CHECK(run.follower.folders_listed() == 0);

    run.follower.forget();
    CHECK(run.next() == keys{"index/0/a", "index/0/b", "index/1/c", "index/1/f", "index/2/g", "index/d"});
    CHECK(run.follower.folders_listed() == 4);
}

TEST_CASE("folder_follower: a file added in the tick of a listing is found although no stamp has changed") {
    scripted_run run;
    // A very coarse clock: all stamps stay equal.
    run.system.change_look = [](const std::string&, detail::posix::folder_look& seen) { seen.stamp.modified = 1000s; };
    run.folder.write("index/0/a", "x");
    CHECK(run.follower.next() == keys{"index/0/a"});
    run.folder.write("index/0/b", "x");
    run.system.now += 49ms;
    CHECK(run.follower.next() == keys{"index/0/a", "index/0/b"});
    run.folder.write("index/0/c", "x");
    run.folder.write("index/1/d", "x");
    run.system.now += 1ms;  // the guard is over: this listing is the last
    CHECK(run.follower.next() == keys{"index/0/a", "index/0/b", "index/0/c", "index/1/d"});
    CHECK(run.follower.folders_listed() == 3);
    run.system.now += 1ms;
    CHECK(run.follower.next() == keys{"index/1/d"});  // its own guard is not over
    CHECK(run.follower.folders_listed() == 1);
    run.system.now += 50ms;
    CHECK(run.follower.next() == keys{"index/1/d"});
    CHECK(run.follower.next().empty());
    CHECK(run.follower.folders_listed() == 0);
}

TEST_CASE("folder_follower: on a file system with whole seconds the guard is longer") {
    scripted_run run;
    run.system.change_look = [](const std::string&, detail::posix::folder_look& seen) {
        seen.stamp.changed = seen.stamp.modified = 1000s;
    };
    run.folder.write("index/a", "x");
    CHECK(run.follower.next() == keys{"index/a"});
    run.system.now += 2s;
    CHECK(run.follower.next() == keys{"index/a"});
    run.system.now += 100ms;
    CHECK(run.follower.next() == keys{"index/a"});
    CHECK(run.follower.next().empty());
}

TEST_CASE("folder_follower: a folder that changed before another on the device is settled by its first listing") {
    scripted_run run;
    for (const char* key : {"index/0/a", "index/1/b", "index/2/c"}) {
        run.folder.write(key, "x");
    }
    const auto self = [&](const std::string& name) {
        return detail::posix::look_at_folder(detail::posix::working_folder, (run.folder.path() + name).c_str())
            .stamp.self;
    };
    std::map<detail::posix::folder_identity, std::chrono::nanoseconds> changed{{self("/index/0"), 1000s + 1ns},
                                                                               {self("/index/1"), 1010s + 1ns},
                                                                               {self("/index/2"), 1020s - 10ms},
                                                                               {self("/index"), 1020s + 1ns},
                                                                               {self(""), 1020s + 2ns}};
    std::optional<detail::posix::folder_identity> elsewhere;
    run.system.change_look = [&](const std::string&, detail::posix::folder_look& seen) {
        seen.stamp.changed = changed.at(seen.stamp.self);
        seen.stamp.self.device += elsewhere == seen.stamp.self ? 1U : 0U;
    };
    SUBCASE("by the newest of them") {
        CHECK(run.follower.next().size() == 3);
        CHECK(run.follower.next() == keys{"index/2/c"});  // too close to the newest, like the newest itself
        CHECK(run.follower.folders_listed() == 2);
    }
    SUBCASE("by the root") {
        changed[self("")] = 1021s;
        CHECK(run.follower.next().size() == 3);
        CHECK(run.follower.next().empty());
        CHECK(run.follower.folders_listed() == 0);
    }
    SUBCASE("not by a time that is ahead of ours: the clock may have been set back") {
        run.system.time_of_day = 1011s;
        CHECK(run.follower.next().size() == 3);
        CHECK(run.follower.next() == keys{"index/1/b", "index/2/c"});
        run.system.time_of_day = 999s;
        run.follower.forget();
        CHECK(run.follower.next().size() == 3);
        CHECK(run.follower.next().size() == 3);
    }
    SUBCASE("not by another device's time") {
        elsewhere = self("/index/0");
        CHECK(run.follower.next().size() == 3);
        CHECK(run.follower.next() == keys{"index/0/a", "index/2/c"});
    }
}

TEST_CASE("folder_follower: if folder times cannot be trusted, everything is listed each time") {
    scripted_run run;
    run.folder.write("index/0/a", "x");
    run.folder.write("index/b", "x");
    bool trusted = false;
    run.system.trusts = [&] { return trusted; };
    for (int i = 0; i < 5; ++i) {
        CHECK(run.next() == keys{"index/0/a", "index/b"});
        CHECK(run.follower.folders_listed() == 2);
    }
    trusted = true;
    run.settle();
}

TEST_CASE("folder_follower: if the system reports nothing for a folder, it is listed each time") {
    scripted_run run;
    run.system.change_look = [](const std::string&, detail::posix::folder_look& seen) { seen = {}; };
    run.folder.write("index/0/a", "x");
    for (int i = 0; i < 3; ++i) {
        CHECK(run.next() == keys{"index/0/a"});
    }
    link_folder(run.folder, ".", "index/circle");
    link_folder(run.folder, ".", "index/0/circle");
    CHECK(run.next() == keys{"index/0/a"});
    run.folder.write("index/1/b", "x");
    CHECK(run.next() == keys{"index/0/a", "index/1/b"});
    std::filesystem::remove_all(run.folder.path() + "/index/0");
    CHECK(run.next() == keys{"index/1/b"});
}

TEST_CASE("folder_follower: a folder that does not exist yet, is removed, and reappears") {
    scripted_run run;
    CHECK(run.next().empty());
    run.folder.write("index", "a file in the place of the folder");
    CHECK(run.next().empty());
    run.folder.remove("index");
    run.folder.write("index/0/a", "x");
    run.folder.write("index/1/deep/er/b", "x");
    CHECK(run.next() == keys{"index/0/a", "index/1/deep/er/b"});
    run.settle();

    std::filesystem::remove_all(run.folder.path() + "/index/1");
    CHECK(run.next().empty());
    run.folder.write("index/1", "a file in the place of the folder");
    CHECK(run.next() == keys{"index/1"});
    run.folder.remove("index/1");
    run.folder.write("index/1/deep/er/b", "x");
    CHECK(run.next() == keys{"index/1/deep/er/b"});
    run.settle();

    std::filesystem::remove_all(run.folder.path() + "/index");
    CHECK(run.next().empty());
    run.folder.write("index/0/a", "x");
    CHECK(run.next() == keys{"index/0/a"});
    run.settle();

    std::filesystem::rename(run.folder.path(), run.folder.path() + "_away");
    CHECK(run.next().empty());
    std::filesystem::rename(run.folder.path() + "_away", run.folder.path());
    CHECK(run.next() == keys{"index/0/a"});
    std::filesystem::remove_all(run.folder.path());
    CHECK(run.next().empty());
    run.folder.write("index/0/a", "x");
    CHECK(run.next() == keys{"index/0/a"});
}

TEST_CASE("folder_follower: a replaced folder is noticed even if it has the same times") {
    scripted_run run;
    run.system.change_look = [](const std::string&, detail::posix::folder_look& seen) { seen.stamp.modified = 1000s; };
    const std::string root = run.folder.path() + "/";
    run.folder.write("index/0/a", "x");
    run.folder.write("index/1/b", "x");
    run.settle();

    run.folder.write("other/a", "x");
    run.folder.write("other/c", "x");
    std::filesystem::rename(root + "index/0", root + "old");
    std::filesystem::rename(root + "other", root + "index/0");
    CHECK(run.next() == keys{"index/0/a", "index/0/c"});
    run.settle();

    // Two folders that swap places.
    std::filesystem::rename(root + "index/0", root + "index/swap");
    std::filesystem::rename(root + "index/1", root + "index/0");
    std::filesystem::rename(root + "index/swap", root + "index/1");
    CHECK(run.next() == keys{"index/0/b", "index/1/a", "index/1/c"});
    run.settle();

    // The prefix folder itself.
    run.folder.write("new/0/d", "x");
    std::filesystem::rename(root + "index", root + "older");
    std::filesystem::rename(root + "new", root + "index");
    CHECK(run.next() == keys{"index/0/d"});
}

TEST_CASE("folder_follower: a call that fails loses nothing") {
    scripted_run run;
    for (int i = 0; i < 6; ++i) {
        run.folder.write("index/" + std::to_string(i) + "/a", "x");
    }
    keys all;
    for (int i = 0; i < 6; ++i) {
        all.push_back("index/" + std::to_string(i) + "/a");
    }
    int left = 0;
    run.system.trusts = [&] {
        if (left-- == 0) {
            throw unavailable("this listing fails");
        }
        return true;
    };
    for (int fails_after = 0; fails_after < 7; ++fails_after) {
        left = fails_after;
        CHECK_THROWS_AS(static_cast<void>(run.next()), unavailable);
    }
    left = 100;
    CHECK(run.next() == all);
    left = 100;
    run.settle();

    // The same for what is new.
    run.folder.write("index/1/b", "x");
    run.folder.write("index/4/b", "x");
    left = 1;
    CHECK_THROWS_AS(static_cast<void>(run.next()), unavailable);
    left = 0;
    CHECK_THROWS_AS(static_cast<void>(run.next()), unavailable);
    left = 100;
    CHECK(run.next() == keys{"index/1/a", "index/1/b", "index/4/a", "index/4/b"});
}

TEST_CASE("folder_follower: without descriptors it fails, and returns everything when there are some again") {
    const temporary_folder folder;
    folder.write("index/0/a", "x");
    folder.write("index/b", "x");
    const auto follower = follow_folder(folder.path(), "index/");
    without_descriptors([&] { CHECK_THROWS_AS(static_cast<void>(follower->next()), unavailable); });
    CHECK(follower->next() == keys{"index/0/a", "index/b"});
}

TEST_CASE("folder_follower: a folder that may not be listed is an error, and nothing is lost when it may") {
    const int wrong = status_of_child([] {
        become_nobody();  // root may list everything
        scripted_run run;
        run.folder.write("index/0/a", "x");
        run.folder.write("index/1/b", "x");
        int asked = 0;
        int first_wrong = 0;
        const auto check = [&](bool holds) {
            ++asked;
            first_wrong = holds || first_wrong != 0 ? first_wrong : asked;
        };
        const auto allow = [&](const char* name, ::mode_t mode) {
            check(::chmod((run.folder.path() + name).c_str(), mode) == 0);
        };
        const auto check_denied = [&] {
            bool denied = false;
            try {
                static_cast<void>(run.next());
            } catch (const access_denied&) {
                denied = true;
            }
            check(denied);
        };
        allow("/index/1", 0);
        check_denied();
        check_denied();
        allow("/index/1", 0700);
        check(run.next() == keys{"index/0/a", "index/1/b"});
        for (int i = 0; i < 3; ++i) {  // until an unchanged stamp is trusted
            static_cast<void>(run.next());
        }
        check(run.follower.folders_listed() == 0);
        allow("/index", 0);
        check_denied();
        allow("/index", 0400);  // it may be listed, but its contents cannot be checked
        check_denied();
        allow("/index", 0700);
        run.folder.write("index/1/c", "x");
        check(contains(run.next(), "index/1/c"));
        allow("", 0);
        check_denied();
        allow("", 0700);
        return first_wrong;
    });
    CHECK(wrong == 0);
}

TEST_CASE("folder_follower: on a clock with coarse ticks, two writers and a reader that checks all the time") {
    // Ticks of 20 ms and nothing else: as on kernels with the coarsest clock.
    detail::posix::folder_system coarse;
    coarse.look = [](int base, const char* name) {
        detail::posix::folder_look seen = detail::posix::look_at_folder(base, name);
        if (seen.stamp.changed % 1s != 0s) {  // otherwise the file system's own are coarser still
            seen.stamp.changed -= seen.stamp.changed % 20ms - 1ns;
        }
        seen.stamp.modified = {};
        seen.stamp.size = 0;
        return seen;
    };
    coarse.trusts = [](int) { return true; };
    const temporary_folder folder;
    constexpr int each = 400;
    const auto key_of = [](int writer, int i) {
        return "index/" + std::to_string(i / 50) + "/" + std::to_string(i) + "_" + std::to_string(writer);
    };
    std::atomic<int> written[2] = {};
    std::vector<std::jthread> threads;
    for (int writer = 0; writer < 2; ++writer) {
        threads.emplace_back([&, writer] {
            local_storage store{folder.path()};
            for (int i = 0; i < each; ++i) {
                store.write(key_of(writer, i), {});
                written[writer] = i + 1;
                if (i % 20 == 0) {
                    std::this_thread::sleep_for(1ms);
                }
            }
        });
    }
    const auto follower = follow_folder(folder.path(), "index/", coarse);
    std::set<std::string> seen;
    int checked[2] = {0, 0};
    while (checked[0] + checked[1] < 2 * each) {
        const int there[2] = {written[0], written[1]};
        for (const std::string& key : follower->next()) {
            seen.insert(key);
        }
        for (int writer = 0; writer < 2; ++writer) {
            for (; checked[writer] < there[writer]; ++checked[writer]) {
                REQUIRE(seen.contains(key_of(writer, checked[writer])));
            }
        }
    }
}

TEST_CASE("folder_follower: an empty prefix is the root itself, and a root may end in a slash") {
    const temporary_folder folder;
    folder.write("a", "x");
    folder.write("b/c", "x");
    CHECK(follow_folder(folder.path(), "")->next() == keys{"a", "b/c"});
    CHECK(follow_folder(folder.path() + "/", "b/")->next() == keys{"b/c"});
    CHECK(follow_folder(folder.path(), "b/../../")->next().empty());
    CHECK(follow_folder("", "b/")->next().empty());
}
