#include <smdebug/storage/posix/folder_follower.hpp>

#include "support/child_process.hpp"
#include "support/few_descriptors.hpp"
#include "support/temporary_folder.hpp"

#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/posix/impl/folder_follower.tpp>  // over a system of its own

#include <doctest/doctest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;
using namespace std::chrono_literals;
using keys = std::vector<std::string>;

namespace {

// What a test makes the system say; the folders themselves are real.
struct script {
    std::chrono::steady_clock::time_point now{};
    std::chrono::nanoseconds time_of_day = 1h * 24 * 365 * 100;
    std::function<void(const std::string& name, detail::posix::folder_look& seen)> change_look = [](auto&&...) {};
    std::function<bool()> trusts = [] { return true; };
};

struct scripted_system {
    script* played;
    [[nodiscard]] detail::posix::folder_look look(int base, const char* name) const {
        detail::posix::folder_look seen = detail::posix::folder_system::look(base, name);
        if (seen.is == detail::posix::folder_look::state::there) {
            // Times that move with each change, whatever the ticks of the file system that the test runs on.
            seen.stamp.changed = 1000s + 1ns;
            seen.stamp.modified = std::chrono::nanoseconds{what_is_in(base, name)};
            seen.stamp.size = 0;
        }
        played->change_look(name, seen);
        return seen;
    }
    [[nodiscard]] static std::int64_t what_is_in(int base, const std::string& name) {
        std::size_t sum = 0;
        try {
            if (auto reader = detail::posix::folder_reader::open_if_there(base, name.empty() ? "." : name, name)) {
                reader->each([&](const detail::posix::folder_entry& entry) {
                    sum += std::hash<std::string_view>{}(entry.name) % 1'000'000'007;
                });
            }
        } catch (const access_denied&) {
            sum = 0;  // the follower will find out
        }
        return static_cast<std::int64_t>(sum);
    }
    [[nodiscard]] bool trusts(int) const { return played->trusts(); }
    [[nodiscard]] std::chrono::steady_clock::time_point now() const { return played->now; }
    [[nodiscard]] std::chrono::nanoseconds time_of_day() const { return played->time_of_day; }
};

using scripted_follower = basic_folder_follower<scripted_system>;

// A run's folder whose ticks are over when the test says so.
struct scripted_run {
    temporary_folder folder;
    script system;
    scripted_follower follower{folder.path(), "index/", {&system}};

    // Every listing from now on begins when the ticks of what it sees are over.
    keys next() {
        system.now += 3s;
        return follower.next();
    }
    // Until an unmoved stamp is believed.
    void settle() {
        static_cast<void>(next());
        static_cast<void>(next());
        static_cast<void>(next());
        REQUIRE(follower.folders_listed() == 0);
    }
};

bool contains(const keys& all, const std::string& key) { return std::find(all.begin(), all.end(), key) != all.end(); }

void link_folder(const temporary_folder& folder, const std::string& target, const std::string& name) {
    std::filesystem::create_directory_symlink(target, folder.path() + "/" + name);
}

static_assert(key_follower<scripted_follower>);

}  // namespace

TEST_CASE("folder_follower: lists a folder again only when something has come into it") {
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
    run.folder.write("index/0/a", "longer than before");  // no name has come
    CHECK(run.next().empty());
    CHECK(run.follower.folders_listed() == 0);

    run.follower.forget();
    CHECK(run.next() == keys{"index/0/a", "index/0/b", "index/1/c", "index/1/f", "index/2/g", "index/d"});
    CHECK(run.follower.folders_listed() == 4);
}

TEST_CASE("folder_follower: a file that comes in the tick of a listing is found although no stamp has moved") {
    scripted_run run;
    // A clock of whole minutes, so to say: all stamps are the same for ever.
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

TEST_CASE("folder_follower: what changed before another folder of the device is settled by its first listing") {
    scripted_run run;
    for (const char* key : {"index/0/a", "index/1/b", "index/2/c"}) {
        run.folder.write(key, "x");
    }
    const auto self = [&](const std::string& name) {
        return detail::posix::folder_system::look(detail::posix::working_folder, (run.folder.path() + name).c_str())
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
        CHECK(run.follower.next() == keys{"index/2/c"});  // too near to the newest, as the newest itself
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

TEST_CASE("folder_follower: where folder times are not to be trusted, everything is listed each time") {
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

TEST_CASE("folder_follower: where the system tells nothing of a folder, it is listed each time") {
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

TEST_CASE("folder_follower: a folder that is not there yet, goes, and comes again") {
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

TEST_CASE("folder_follower: another folder in the place of one is another, even when it has the same times") {
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

    // Two that change places.
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

TEST_CASE("folder_follower: follows links to folders elsewhere, and what comes into those") {
    scripted_run run;
    const temporary_folder elsewhere;
    elsewhere.write("x/a", "1");
    run.folder.write("index/b", "1");
    link_folder(run.folder, elsewhere.path() + "/x", "index/linked");
    std::filesystem::create_symlink(elsewhere.path() + "/x/a", run.folder.path() + "/index/file");
    CHECK(run.next() == keys{"index/b", "index/file", "index/linked/a"});
    run.settle();
    elsewhere.write("x/c", "1");
    elsewhere.write("x/deep/d", "1");
    CHECK(run.next() == keys{"index/linked/a", "index/linked/c", "index/linked/deep/d"});
    run.settle();

    // What the link leads to goes, becomes a file, comes again: the folder of the link has not changed.
    std::filesystem::rename(elsewhere.path() + "/x", elsewhere.path() + "/y");
    CHECK(run.next() == keys{"index/b", "index/file", "index/linked"});  // both links lead to nothing
    elsewhere.write("x", "a file now");
    CHECK(run.next() == keys{"index/b", "index/file", "index/linked"});
    elsewhere.remove("x");
    static_cast<void>(run.next());
    elsewhere.write("x/e", "1");
    CHECK(run.next() == keys{"index/b", "index/file", "index/linked/e"});
}

TEST_CASE("folder_follower: circles of links end, and give what a listing gives") {
    scripted_run run;
    run.folder.write("index/0/a", "x");
    run.folder.write("index/1/b", "x");
    SUBCASE("to itself, to its parent, to a neighbour, to each other") {
        link_folder(run.folder, ".", "index/0/self");
        link_folder(run.folder, "..", "index/0/up");
        link_folder(run.folder, "0", "index/a_neighbour");
        link_folder(run.folder, "../1", "index/0/one");
        link_folder(run.folder, "../0", "index/1/zero");
        link_folder(run.folder, "endless", "index/endless");
    }
    SUBCASE("out of the folder and in again, many ways") {
        for (const char* name : {"one", "two", "three", "index/four", "index/0/five", "index/1/six"}) {
            link_folder(run.folder, run.folder.path(), name);
        }
    }
    const local_storage listing{run.folder.path()};
    const keys all = listing.list("index/", "");
    CHECK(run.next() == all);
    for (int i = 0; i < 3; ++i) {
        const keys again = run.next();
        CHECK(std::includes(all.begin(), all.end(), again.begin(), again.end()));
    }
    run.folder.write("index/1/c", "x");
    CHECK(contains(run.next(), "index/1/c"));
    run.follower.forget();
    CHECK(run.next() == listing.list("index/", ""));
}

TEST_CASE("folder_follower: a second link to a folder is followed when the first has gone") {
    scripted_run run;
    const temporary_folder elsewhere;
    elsewhere.write("x/a", "1");
    run.folder.write("index/0/b", "1");
    run.folder.write("index/1/c", "1");
    link_folder(run.folder, elsewhere.path() + "/x", "index/0/first");
    run.settle();
    link_folder(run.folder, elsewhere.path() + "/x", "index/1/second");
    CHECK(run.next() == keys{"index/1/c"});
    CHECK(run.next() == keys{"index/1/c"});
    run.folder.remove("index/0/first");
    CHECK(run.next() == keys{"index/0/b", "index/1/c", "index/1/second/a"});
    run.settle();
}

TEST_CASE("folder_follower: a link that comes to lead round is not followed any more") {
    scripted_run run;
    const temporary_folder elsewhere;
    elsewhere.write("x/a", "1");
    link_folder(elsewhere, elsewhere.path() + "/x", "way");
    run.folder.write("index/0/b", "1");
    link_folder(run.folder, elsewhere.path() + "/way", "index/0/linked");
    CHECK(run.next() == keys{"index/0/b", "index/0/linked/a"});
    run.settle();
    elsewhere.remove("way");
    link_folder(elsewhere, run.folder.path() + "/index", "way");  // index/0 stays as it is
    CHECK(run.next() == keys{"index/0/b"});
    CHECK(run.next() == keys{"index/0/b"});
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

TEST_CASE("folder_follower: without descriptors it fails, and gives everything when there are some again") {
    const temporary_folder folder;
    folder.write("index/0/a", "x");
    folder.write("index/b", "x");
    folder_follower follower{folder.path(), "index/"};
    without_descriptors([&] { CHECK_THROWS_AS(static_cast<void>(follower.next()), unavailable); });
    CHECK(follower.next() == keys{"index/0/a", "index/b"});
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
        for (int i = 0; i < 3; ++i) {  // until an unmoved stamp is believed
            static_cast<void>(run.next());
        }
        check(run.follower.folders_listed() == 0);
        allow("/index", 0);
        check_denied();
        allow("/index", 0400);  // may be listed, but nothing in it looked at
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

TEST_CASE("folder_follower: on a clock with coarse ticks, two writers and one who looks all the time") {
    // Ticks of 20 ms, and nothing but them: what kernels with the coarsest clock show.
    struct coarse_system : detail::posix::folder_system {
        [[nodiscard]] static detail::posix::folder_look look(int base, const char* name) noexcept {
            detail::posix::folder_look seen = detail::posix::folder_system::look(base, name);
            if (seen.stamp.changed % 1s != 0s) {  // else the file system's own are coarser still
                seen.stamp.changed -= seen.stamp.changed % 20ms - 1ns;
            }
            seen.stamp.modified = {};
            seen.stamp.size = 0;
            return seen;
        }
        [[nodiscard]] static bool trusts(int) noexcept { return true; }
    };
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
    basic_folder_follower<coarse_system> follower{folder.path(), "index/"};
    std::set<std::string> seen;
    int checked[2] = {0, 0};
    while (checked[0] + checked[1] < 2 * each) {
        const int there[2] = {written[0], written[1]};
        for (const std::string& key : follower.next()) {
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
    CHECK(folder_follower{folder.path(), ""}.next() == keys{"a", "b/c"});
    CHECK(folder_follower{folder.path() + "/", "b/"}.next() == keys{"b/c"});
    CHECK(folder_follower{folder.path(), "b/../../"}.next().empty());
    CHECK(folder_follower{"", "b/"}.next().empty());
}
