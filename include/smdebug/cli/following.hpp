// Following several running jobs at once: a thread a run, one console for all of them.
#pragma once

#include <smdebug/cli/console.hpp>
#include <smdebug/cli/near_runs.hpp>
#include <smdebug/cli/runs.hpp>
#include <smdebug/cli/step_feed.hpp>
#include <smdebug/cli/text.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/storage/posix/folder.hpp>
#include <smdebug/storage/uri.hpp>
#include <smdebug/trial/options.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

/// A thread each: there has to be a limit.
inline constexpr std::size_t most_followed_runs = 256;

/// Called only when a command is about to follow running jobs: gives the token that ends it.
using stop_giver = std::function<std::stop_token()>;

/// A console for several threads, which use it one after the other.
class shared_console {
public:
    explicit shared_console(console& to) : to_(to) {}

    /// Calls action(console) under the lock, which guards what writes to the console, too.
    template <class Action>
    void use(Action&& action) {
        const std::lock_guard lock{guard_};
        action(to_);
    }
    void note(const std::string& text) {
        use([&](console& to) { to.note(text); });
    }
    void error(const std::string& text) {
        use([&](console& to) { to.error(text); });
    }

private:
    std::mutex guard_;
    console& to_;
};

/// Knows whether the run in a folder of this machine is still the one that was opened: by the folder, and by some files that
/// stay, or only grow, as long as it is.  Elsewhere it always is.      Threads: one at a time.
class run_watch {
public:
    explicit run_watch(const std::string& path) {
        if (!smdebug::detail::is_in_s3(path) && !smdebug::detail::archive_in(path)) {
            root_ = smdebug::detail::local_path(path);
            folder_ = identity();
            find_files();
        }
    }

    /// Whether it is gone, or another one is there.
    [[nodiscard]] bool is_replaced() {
        if (!folder_) {
            return false;
        }
        if (identity() != folder_) {
            return true;
        }
        for (auto& [path, known] : files_) {
            const facts now = facts_of(path);
            if (!now.size || *now.size < known.size || (path == index_ && now.written != known.written)) {
                return true;
            }
            known = now;
        }
        if (files_.empty()) {
            find_files();
        }
        return false;
    }

private:
    using identity_type = std::optional<smdebug::detail::posix::folder_identity>;
    struct facts {
        std::optional<std::uintmax_t> size = {};  ///< nothing: it is not there
        std::filesystem::file_time_type written = {};
    };

    [[nodiscard]] identity_type identity() const {
        try {
            const auto reader = smdebug::detail::posix::folder_reader::open_if_there(
                smdebug::detail::posix::working_folder, root_, root_);
            return reader ? reader->identity() : std::nullopt;
        } catch (const error&) {
            return folder_;  // it is there, and cannot be looked at now
        }
    }
    [[nodiscard]] static facts facts_of(const std::string& path) {
        std::error_code failed;
        facts now{.size = std::filesystem::file_size(path, failed)};
        now.written = std::filesystem::last_write_time(path, failed);
        return failed ? facts{} : now;
    }

    // An index file, which is not written again; or else logs and event files.
    void find_files() {
        constexpr std::size_t most_files = 16;
        std::error_code failed;
        const std::filesystem::path index = std::filesystem::path{root_} / "index";
        std::filesystem::recursive_directory_iterator entry{
            std::filesystem::is_directory(index, failed) ? index.string() : root_, failed};
        std::size_t left = most_looked_at;
        for (; !failed && entry != std::filesystem::recursive_directory_iterator{} && left > 0 && index_.empty() &&
               files_.size() < most_files;
             entry.increment(failed), --left) {
            const std::string path = entry->path().string();
            const bool is_index = path.ends_with(".json") && path.starts_with(index.string());
            if (is_index || path.find("tfevents") != std::string::npos) {
                files_.emplace(path, facts_of(path));
                index_ = is_index ? path : std::string{};
            }
        }
    }

    std::string root_;
    identity_type folder_;
    std::string index_;
    std::map<std::string, facts> files_;
};

/// What a following command gets for each run, valid during the call.
struct followed_run {
    std::size_t place = 0;    ///< among the runs
    const std::string& path;  ///< as the user wrote it
    const program_trial& run;
    shared_console& out;
    std::stop_token stop;
    run_watch& watch;
    bool skip_damaged = false;
};

/// The steps of a followed run.  What of it is not looked at is said as it is met.
class noting_feed {
public:
    noting_feed(const followed_run& of, feed_options options)
        : of_(of), feed_(of.run, watched(std::move(options))), problems_(of.skip_damaged) {
        tell();
    }
    noting_feed(const noting_feed&) = delete;
    noting_feed& operator=(const noting_feed&) = delete;
    ~noting_feed() { problems_.finish(of_.path, of_.out); }  // rules may end before the run does

    /// As step_feed::next().
    [[nodiscard]] std::vector<step_number> next() {
        auto steps = feed_.next();
        tell();
        return steps;
    }
    [[nodiscard]] follow_end end() const noexcept { return feed_.end(); }
    [[nodiscard]] std::size_t count() const noexcept { return feed_.count(); }

private:
    [[nodiscard]] feed_options watched(feed_options options) const {
        options.is_replaced = [&watch = of_.watch] { return watch.is_replaced(); };
        return options;
    }
    void tell() { problems_.tell(of_.run, of_.path, of_.out); }

    const followed_run& of_;
    step_feed<program_trial> feed_;
    run_problems problems_;
};

/// The message for a stalled run.
template <class Trial>
[[nodiscard]] std::string stalled_text(const Trial& run, const std::string& path) {
    const auto from = run.snapshot();  // what was looked at last
    const auto complete = from->steps_of(mode::global, false);
    return path + ": stalled: nothing new for " + duration_text(run.quiet_time()) + ", and no end-of-job mark; " +
           (complete.empty() ? "no step is complete"
                             : "the last complete step is " + std::to_string(from->shown_step_of(complete.back())));
}

/// Opens a run; says so and waits where there is none yet, or not all of it.  What lies there is found out again each time, as
/// an empty folder may become anything.
/// Errors: as create_trial's: not_found and timed_out when it was given up; stopped.
[[nodiscard]] inline program_trial open_to_follow(const std::string& path, const run_options& how,
                                                  const follow_options& follow, const std::stop_token& stop,
                                                  shared_console& out) {
    using clock = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds longest_wait{1000};
    // Event files of a running job may come late: they are waited for, unlike elsewhere in the program.
    trial_options options = options_for(how);
    options.stop = stop;
    std::optional<clock::time_point> given_up;
    while (true) {
        const bool is_last = given_up && clock::now() + options.open_timeout >= *given_up;
        try {
            return open_trial(path, how.storage, options);
        } catch (const missing_collection_files&) {
            throw;  // the job has ended without them
        } catch (const not_found& missing) {
            if (names_archive(path)) {
                throw;  // no run starts in an archive
            }
            if (is_last) {
                throw described(missing, path, how);
            }
        } catch (const timed_out&) {
            if (is_last) {
                throw;
            }
        } catch (const collections_file_exception&) {  // it may be half written
            if (is_last) {
                throw;
            }
        }
        const auto now = clock::now();
        if (options.open_timeout == std::chrono::milliseconds{0}) {
            const std::string hint = run_hint(path, true);
            out.note("waiting for a run to start in " + path + (hint.empty() ? "" : ".") + hint);
            given_up = follow.give_up_after ? std::optional{now + *follow.give_up_after} : std::nullopt;
        }
        options.open_timeout = longest_wait;
        if (given_up) {
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(*given_up - now);
            options.open_timeout = std::clamp(left, std::chrono::milliseconds{1}, longest_wait);
        }
    }
}

/// What is said when the run that is followed is no longer there.
[[nodiscard]] inline std::string replaced_text(const std::string& path) {
    return "the run in " + path +
           " was removed, or replaced by another one; what is there next is looked at from its beginning";
}

/// Opens and follows one run, and what takes its place.  Its errors are printed; the other runs go on.
template <class Command>
[[nodiscard]] follow_end follow_one(std::size_t place, const std::string& path, const run_options& how,
                                    const follow_options& follow, const std::stop_token& stop, shared_console& out,
                                    Command& command) {
    follow_end when_stopped = follow_end::not_started;
    try {
        while (true) {
            const program_trial run = open_to_follow(path, how, follow, stop, out);
            run_watch watch{path};
            when_stopped = follow_end::interrupted;
            follow_end end = follow_end::replaced;
            try {
                end = command(followed_run{place, path, run, out, stop, watch, how.skip_damaged});
            } catch (const not_found&) {
                if (!watch.is_replaced()) {
                    throw;
                }
            }
            if (end == follow_end::stalled) {
                out.error(stalled_text(run, path));
            }
            if (end != follow_end::replaced) {
                return end;
            }
            out.note(replaced_text(path));
        }
    } catch (const stopped&) {
        return when_stopped;
    } catch (const usage_error&) {
        throw;
    } catch (const output_error&) {
        throw;
    } catch (const std::exception& failed) {
        out.error(error_text(failed, path));
        return follow_end::failed;
    }
}

/// What the threads share: the console, and the stop source that ends them.
struct follow_team {
    explicit follow_team(console& to) : out(to) {}

    void fail() {
        out.use([&](console&) { failure = std::current_exception(); });
        ending->request_stop();
    }

    shared_console out;
    // Not on the stack: g++ 12 would warn, with sanitizers, that its constructor reads it.
    std::unique_ptr<std::stop_source> ending = std::make_unique<std::stop_source>();
    std::exception_ptr failure;  // the last one
};

/// Calls command(followed_run) for each run, all at once; it returns how following the run came to its end.  Returns
/// that of each run.  `stop` ends it all; so does an error that is not one run's.
/// Errors: output_error, and whatever else the command throws that is no error of the library.
template <class Command>
[[nodiscard]] std::vector<follow_end> follow_runs(const std::vector<std::string>& paths, const run_options& how,
                                                  const follow_options& follow, console& to,
                                                  const std::stop_token& stop, Command&& command) {
    detail::follow_team team{to};
    const std::stop_callback forwarded{stop, [&] { team.ending->request_stop(); }};
    std::vector<follow_end> ends(paths.size(), follow_end::not_started);
    std::vector<std::jthread> threads;
    try {
        for (std::size_t i = 0; i < paths.size(); ++i) {
            threads.emplace_back([&, i] {
                try {
                    ends[i] = detail::follow_one(i, plain_path(paths[i]), how, follow, team.ending->get_token(),
                                                 team.out, command);
                } catch (...) {
                    team.fail();
                }
            });
        }
    } catch (...) {  // no more threads
        team.ending->request_stop();
        throw;
    }
    threads.clear();
    if (team.failure) {
        std::rethrow_exception(team.failure);
    }
    return ends;
}

/// The exit status after that.
[[nodiscard]] inline int status_after(const std::vector<follow_end>& ends, const console& to) {
    const bool interrupted = std::any_of(ends.begin(), ends.end(), [](follow_end end) {
        return end == follow_end::interrupted || end == follow_end::not_started;
    });
    return interrupted ? exit_interrupted : to.status();
}

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
