// Learning over many processes: each learns from the runs that rank 0 gives it, and sends rank 0 what it has learned.
#pragma once

#include <program/console.hpp>
#include <program/ranks.hpp>
#include <smdebug/batch/find_runs.hpp>
#include <smdebug/learn/learn.hpp>

#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1::cli::detail {

/// What a user should know of runs while they are learned from: printed at once, or kept for rank 0.
/// Threads: calls may run at once; the console is used by one at a time.
class learn_reports {
public:
    /// Null: nothing is printed.  Borrows it.
    explicit learn_reports(console* to) : to_(to) {}

    void leave_out(const left_out_run& one);
    void note(const std::string& run, const std::string& text);
    /// Counts more runs that were read.
    void count(std::size_t runs);

    /// The runs that were left out, by name.
    [[nodiscard]] std::vector<left_out_run> left_out() const;

    /// All of it but the count, as a message; another process takes it as its own.
    [[nodiscard]] std::string text() const;
    void take(std::string_view text);

private:
    console* to_;
    mutable std::mutex guard_;
    std::vector<left_out_run> left_out_;
    std::vector<left_out_run> notes_;  // the run, and the note
    std::size_t count_ = 0;
};

/// How a process finds out about runs.
struct learn_access {
    smdebug::detail::learn::run_opener open = {};
    std::function<bool(const std::string& path)> is_asked = {};  ///< whether it is in the shard; rank 0 asks
};

/// Rank 0's part: the facts of all runs that are found.  `how` has callbacks to `says`, which here also has what the
/// others have said.
/// Errors: value_error; stopped_error: a process was stopped; std::runtime_error: one has failed.
/// Memory: its own facts, and those of another rank as a file's text and read.
[[nodiscard]] learned_facts learn_as_rank_0(run_giver& giver, rank_channel& channel, run_finder& found,
                                            const learn_access& access, const learn_options& how, learn_reports& says);

/// The part of another rank, until rank 0 releases it.  Rank 0 says which numbers are kept.  Errors: why it has failed.
void learn_as_other_rank(rank_channel& channel, const learn_access& access, learn_options how, learn_reports& says);

}  // namespace smdebug::inline v1::cli::detail
