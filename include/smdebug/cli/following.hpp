// Following several running jobs at once: a thread a run, one console for all of them.
#pragma once

#include <smdebug/cli/console.hpp>
#include <smdebug/cli/near_runs.hpp>
#include <smdebug/cli/runs.hpp>
#include <smdebug/cli/step_feed.hpp>
#include <smdebug/cli/text.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/trial/options.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
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

/// What a following command gets for each run, valid during the call.
struct followed_run {
    std::size_t place = 0;    ///< among the runs
    const std::string& path;  ///< as the user wrote it
    const program_trial& run;
    shared_console& out;
    std::stop_token stop;
    bool skip_damaged = false;
};

/// The steps of a followed run.  What of it is not looked at is said as it is met.
class noting_feed {
public:
    noting_feed(const followed_run& of, feed_options options)
        : of_(of), feed_(of.run, std::move(options)), problems_(of.skip_damaged) {
        tell();
    }

    /// As step_feed::next().
    [[nodiscard]] std::vector<step_number> next() {
        auto steps = feed_.next();
        tell();
        return steps;
    }
    [[nodiscard]] follow_end end() const noexcept { return feed_.end(); }
    [[nodiscard]] std::size_t count() const noexcept { return feed_.count(); }

private:
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

/// Opens a run; says so and waits where there is none yet, or not all of it.
/// Errors: as create_trial's: not_found and timed_out when it was given up; stopped.
[[nodiscard]] inline program_trial open_to_follow(const std::string& path, const run_options& how,
                                                  const follow_options& follow, const std::stop_token& stop,
                                                  shared_console& out) {
    // Event files of a running job may come late: they are waited for, unlike elsewhere in the program.
    trial_options options = options_for(how);
    options.stop = stop;
    try {
        return open_trial(path, how.storage, options);
    } catch (const missing_collection_files&) {
        throw;  // the job has ended without them
    } catch (const not_found&) {
        if (names_archive(path)) {
            throw;  // no run starts in an archive
        }
    } catch (const timed_out&) {
    } catch (const collections_file_exception&) {  // it may be half written
    }
    const std::string hint = run_hint(path, true);
    out.note("waiting for a run to start in " + path + (hint.empty() ? "" : ".") + hint);
    options.open_timeout = follow.give_up_after.value_or(std::chrono::milliseconds::max());
    return open_trial(path, how.storage, options);
}

/// Opens and follows one run.  Its errors are printed; the other runs go on.
template <class Command>
[[nodiscard]] follow_end follow_one(std::size_t place, const std::string& path, const run_options& how,
                                    const follow_options& follow, const std::stop_token& stop, shared_console& out,
                                    Command& command) {
    follow_end when_stopped = follow_end::not_started;
    try {
        const program_trial run = open_to_follow(path, how, follow, stop, out);
        when_stopped = follow_end::interrupted;
        const follow_end end = command(followed_run{place, path, run, out, stop, how.skip_damaged});
        if (end == follow_end::stalled) {
            out.error(stalled_text(run, path));
        }
        return end;
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
