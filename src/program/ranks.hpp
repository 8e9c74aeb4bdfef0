// A command over many processes, the ranks: rank 0 has the list of runs, and each rank asks it for the next ones.
#pragma once

#include <program/console.hpp>
#include <smdebug/batch/run_result.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/stop_token.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1::cli::detail {

/// Messages between the ranks, the small part of MPI that is needed.  Threads: one at a time.
class rank_channel {
public:
    rank_channel() = default;
    rank_channel(const rank_channel&) = delete;
    rank_channel& operator=(const rank_channel&) = delete;
    virtual ~rank_channel() = default;

    [[nodiscard]] virtual int rank() const noexcept = 0;
    [[nodiscard]] virtual int size() const noexcept = 0;
    /// Sends a message; may wait until it is received.
    virtual void send(int to, std::string_view text) = 0;
    /// The sender of a message, and the message; nothing if none has come.  Those of one rank come in order.
    [[nodiscard]] virtual std::optional<std::pair<int, std::string>> receive() = 0;
    /// Every rank calls it, after its last message.
    virtual void end() = 0;
};

/// The MPI library that the program is built with; empty without one.
struct rank_starter {
    std::string library = {};  ///< "Open MPI v4.1.4"
    /// Called once.  Errors: unavailable.
    std::function<std::unique_ptr<rank_channel>()> start = {};
};

/// The number of processes that a launcher (mpirun, srun) reports for this job; 1 without a launcher.
[[nodiscard]] std::size_t launched_processes();

/// Runs `work` with the channel to the other processes, of which there are so many; its exit status, or that of its
/// error, which is printed.  `each_would`: what each process would do alone, "scan all runs".
/// Errors: usage_error: the program was built without MPI; unavailable: MPI does not start.
[[nodiscard]] int on_ranks(const rank_starter& ranks, std::size_t processes, std::string_view each_would, console& to,
                           function_ref<int(rank_channel&)> work);

/// Errors: usage_error: MPI sees one process only, though a launcher has started several.
void check_size(const rank_channel& channel, std::string_view each_would);

/// Appends a part of a message, of any bytes.
void append_part(std::string& message, std::string_view part);
/// Takes the first part away from a message.  Returns what there is of it if the message is cut.
[[nodiscard]] std::string_view take_part(std::string_view& message);
/// A number in a message; 0 if it is not a number.
[[nodiscard]] std::uint64_t number_in(std::string_view digits);

/// Runs as a message, with what is known of a run before it is opened; no runs are an empty message.
[[nodiscard]] std::string text_of(const std::vector<batch_run>& runs);
[[nodiscard]] std::vector<batch_run> runs_of(std::string_view text);

/// How a rank has ended.
enum class rank_end : char {
    whole = 'w',    ///< it finished all its runs
    stopped = 's',  ///< by a stop request
    failed = 'f',
};

/// Rank 0's side: gives runs to the others.  Threads: one at a time; has_failed() any.
class run_giver {
public:
    /// The next runs for a rank; no runs if there are no more; nothing if there are none at the moment.
    using source = std::function<std::optional<std::vector<batch_run>>()>;

    explicit run_giver(rank_channel& channel)
        : channel_(channel), given_(static_cast<std::size_t>(channel.size()), 0) {}
    run_giver(const run_giver&) = delete;
    run_giver& operator=(const run_giver&) = delete;

    /// What the ranks hear before their first run, if they ask.  Call before give().
    void tell(std::string before_runs) { told_ = std::move(before_runs); }

    /// Hands out no more runs, waits until all other ranks have ended their work, and releases them.
    ~run_giver();

    /// Answers until all other ranks have ended their work.  When one fails, or `stop` is requested, it hands out no
    /// more runs.  Calls done(count) when a rank has finished so many.
    void give(const source& next, const std::function<void(std::size_t)>& done, const std::stop_token& stop);

    /// Whether all ranks that have ended did all their runs.
    [[nodiscard]] bool is_whole() const noexcept { return is_whole_; }
    [[nodiscard]] bool has_failed() const noexcept { return has_failed_; }

    /// What a rank has made, which keeps it until it is released; nothing if it could not pass it on.
    /// Call it after give(), for a rank that has ended whole.  Memory: all of it.
    [[nodiscard]] std::optional<std::string> fetch(int rank);

private:
    void hear(int rank, std::string_view text, const std::function<void(std::size_t)>& done);

    rank_channel& channel_;
    std::vector<std::size_t> given_;  // to each rank, when it asked last
    std::optional<std::string> told_;
    std::deque<int> asking_;
    int ended_ = 0;
    bool is_whole_ = true;
    std::atomic<bool> has_failed_ = false;
};

/// The side of another rank.
class run_taker {
public:
    /// Passes on what this rank has made, piece by piece.
    using maker = std::function<void(const std::function<void(std::string_view)>& write)>;

    explicit run_taker(rank_channel& channel) : channel_(channel) {}

    /// What rank 0 says before the first run; nothing if it has ended, or a stop was requested.  Waits for it.
    [[nodiscard]] std::optional<std::string> told(const std::stop_token& stop);

    /// The next run; nothing if there are no more, or a stop was requested.  Waits for it.  Threads: one at a time.
    [[nodiscard]] std::optional<batch_run> next(const std::stop_token& stop);

    /// Reports to rank 0 that all work has ended, and waits until it releases this rank.  Until then rank 0 may fetch
    /// what `make` passes on.  Call once, when files are closed.  Errors: those of `make`, of which rank 0 hears first.
    void end(rank_end how, const maker& make = {});

private:
    [[nodiscard]] bool hear();
    // Asks rank 0, unless an answer is due, and waits for one.
    void ask(std::string_view what, const std::stop_token& stop);

    rank_channel& channel_;
    std::optional<std::string> told_;
    bool is_fetched_ = false;
    std::deque<batch_run> runs_;
    std::size_t unanswered_ = 0;
    bool over_ = false;
};

}  // namespace smdebug::inline v1::cli::detail
