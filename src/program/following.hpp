// Following several running jobs at once: a thread a run, one console for all of them.
#pragma once

#include <program/console.hpp>
#include <program/message_sink.hpp>
#include <program/run_problems.hpp>
#include <program/runs.hpp>
#include <program/step_feed.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/storage/posix/folder.hpp>
#include <smdebug/trial/trial.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1::cli::detail {

/// The limit of runs, as each takes a thread.
inline constexpr std::size_t most_followed_runs = 256;

/// A console for several threads, which use it one after the other.
class shared_console final : public message_sink {
public:
    explicit shared_console(console& to) : to_(to) {}

    /// Calls action(console) under the lock, which guards what writes to the console, too.
    void use(function_ref<void(console&)> action);
    void note(std::string_view text) override;
    void damage(std::string_view text) override;
    void error(std::string_view text) override;
    void progress(std::string_view what, std::size_t done, std::size_t all) override;

private:
    std::mutex guard_;
    console& to_;
};

/// Damage and errors of a run may be put right before it ends: until then they are notes.
class provisional_sink final : public message_sink {
public:
    explicit provisional_sink(shared_console& to) : to_(to) {}
    void note(std::string_view text) override { to_.note(text); }
    void damage(std::string_view text) override { to_.note(text); }
    void error(std::string_view text) override { to_.note(text); }
    void progress(std::string_view, std::size_t, std::size_t) override {}

private:
    shared_console& to_;
};

/// Whether a run may still start where opening it failed like this: nothing is there yet, or a file is half written.
[[nodiscard]] bool may_start(const error& unready) noexcept;

/// Detects whether the folder of a local run was replaced since it was opened; what was written again in it is seen by
/// the trial itself.  Elsewhere it reports no change.  Threads: one at a time.
class run_watch {
public:
    explicit run_watch(const std::string& path);

    /// Whether it is gone, or another one is there.
    [[nodiscard]] bool is_replaced() const { return folder_ && identity() != folder_; }

private:
    using identity_type = std::optional<smdebug::detail::posix::folder_identity>;

    [[nodiscard]] identity_type identity() const;

    std::string root_;
    identity_type folder_;
};

/// What a following command gets for each run, valid during the call.
struct followed_run {
    std::size_t place = 0;    ///< among the runs
    const std::string& path;  ///< as the user wrote it
    const trial& run;
    shared_console& out;
    std::stop_token stop;
    run_watch& watch;
    bool skip_damaged = false;
};

/// The steps of a followed run.  Notes problems as they appear, and reports at the end those that are left.
class noting_feed {
public:
    noting_feed(const followed_run& of, feed_options options);
    noting_feed(const noting_feed&) = delete;
    noting_feed& operator=(const noting_feed&) = delete;
    ~noting_feed();  // rules may end before the run does

    /// As step_feed::next().
    [[nodiscard]] std::vector<step_number> next(
        step_feed::clock::time_point until = step_feed::clock::time_point::max());
    [[nodiscard]] const step_feed& feed() const noexcept { return feed_; }
    void start_over() { feed_.start_over(); }

private:
    [[nodiscard]] feed_options watched(feed_options options) const;
    void report();

    const followed_run& of_;
    step_feed feed_;
    provisional_sink to_;
    run_problems problems_;
};

/// Waits so long, or until `stop`.
void pause_for(std::chrono::milliseconds time, const std::stop_token& stop);

/// The message for a stalled run.
[[nodiscard]] std::string stalled_text(const trial& run, const std::string& path);

/// Opens a run; prints a note and waits if there is none yet, or only part of it.  The kind of data is detected again
/// each time, as an empty folder may become anything.
/// Errors: as create_trial's: not_found and timed_out when it was given up; stopped_error.
[[nodiscard]] trial open_to_follow(const std::string& path, const run_options& how, const follow_options& follow,
                                   const std::stop_token& stop, shared_console& out);

/// The message for a followed run that is gone.
[[nodiscard]] std::string replaced_text(const std::string& path);

/// How following one run came to its end.
struct followed_end {
    std::string path;
    follow_end end = follow_end::not_started;
    bool saved_nothing = false;  ///< its job has ended without a step
};

/// Calls command(followed_run) for each run, all at once, each on a thread of its own; the command returns how following
/// its run came to its end.  Returns these ends, in the order of the runs.  `stop` ends all of it; so does an error that
/// is not one run's.
/// With run_options::folders the runs are those below these folders, also those that appear meanwhile, and not `paths`.
/// Errors: output_error, and whatever else the command throws that is no error of the library.
[[nodiscard]] std::vector<followed_end> follow_runs(const std::vector<std::string>& paths, const run_options& how,
                                                    const follow_options& follow, console& to,
                                                    const std::stop_token& stop,
                                                    function_ref<follow_end(const followed_run&)> command);

/// The exit status after that.
[[nodiscard]] int status_after(const std::vector<followed_end>& ends, const console& to);

}  // namespace smdebug::inline v1::cli::detail
