// A follower of a run's folder whose clock and stamps a test sets: for the tests of folder_follower.
#pragma once

#include <smdebug/storage/posix/folder_follower.hpp>

#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>

namespace smdebug_test::follower {

using namespace smdebug;
using namespace smdebug::detail;
using namespace std::chrono_literals;
using keys = std::vector<std::string>;

// System calls with results that a test sets; the folders themselves are real.
struct script {
    std::chrono::steady_clock::time_point now{};
    std::chrono::nanoseconds time_of_day = 1h * 24 * 365 * 100;
    std::function<void(const std::string& name, detail::posix::folder_look& seen)> change_look = [](auto&&...) {};
    std::function<bool()> trusts = [] { return true; };
};

struct scripted_system {
    script* played;
    [[nodiscard]] detail::posix::folder_system calls() const {
        return {.look = [as = *this](int base, const char* name) { return as.look(base, name); },
                .trusts = [at = played](int) { return at->trusts(); },
                .now = [at = played] { return at->now; },
                .time_of_day = [at = played] { return at->time_of_day; }};
    }
    [[nodiscard]] detail::posix::folder_look look(int base, const char* name) const {
        detail::posix::folder_look seen = detail::posix::look_at_folder(base, name);
        if (seen.is == detail::posix::folder_look::state::there) {
            // Times that change at every write, whatever the ticks of the file system under test.
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
            sum = 0;  // the follower will notice
        }
        return static_cast<std::int64_t>(sum);
    }
};

// A run's folder, whose clock ticks end when the test says so.
struct scripted_run {
    temporary_folder folder;
    script system;
    std::unique_ptr<folder_follower> made = follow_folder(folder.path(), "index/", scripted_system{&system}.calls());
    folder_follower& follower = *made;

    // From now on every listing begins after the ticks of what it sees.
    keys next() {
        system.now += 3s;
        return follower.next();
    }
    // Until an unchanged stamp is trusted.
    void settle() {
        static_cast<void>(next());
        static_cast<void>(next());
        static_cast<void>(next());
        REQUIRE(follower.folders_listed() == 0);
    }
};

inline bool contains(const keys& all, const std::string& key) {
    return std::find(all.begin(), all.end(), key) != all.end();
}

inline void link_folder(const temporary_folder& folder, const std::string& target, const std::string& name) {
    std::filesystem::create_directory_symlink(target, folder.path() + "/" + name);
}

}  // namespace smdebug_test::follower
