// Progress of a batch: an updating line on a terminal, one line a minute elsewhere, or JSON for programs.
#pragma once

#include <program/console.hpp>
#include <smdebug/batch/run_result.hpp>
#include <smdebug/core/stop_token.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace smdebug::inline v1::cli::detail {

/// How progress is printed.
enum class progress_format : std::uint8_t {
    people,  ///< an updating line on a terminal, else one a minute
    json,    ///< an object a line, one a second and one at the end, on standard error
    none,
};

/// The state of a batch in progress.
struct batch_counts {
    std::size_t done = 0;
    std::optional<std::size_t> all = {};  ///< once the list has been read to its end
    std::size_t apart = 0;                ///< done, but not in the list
    std::size_t unchanged = 0;            ///< done without work, as they had not changed
    std::size_t with_findings = 0;
    std::size_t failed = 0;
    std::uint64_t bytes = 0;  ///< in the runs that were read, as far as known
    double seconds = 0;

    /// Estimates the time for the rest from the time for what is done.
    [[nodiscard]] std::optional<double> seconds_left() const;
    [[nodiscard]] double bytes_per_second() const { return seconds > 0 ? static_cast<double>(bytes) / seconds : 0; }
};

/// "[###...] 120/2000 runs, 1.2 GB/s, 25 with findings, 3 failed, 4 minutes left"; `bar`: with the part in brackets.
[[nodiscard]] std::string progress_text(const batch_counts& now, bool bar);

[[nodiscard]] std::string progress_json(const batch_counts& now);

/// Prints the progress of a batch, at its own pace.  Other writers to the console hold lock(); so do callers of done(),
/// and of so_far() until finish().
class batch_progress {
    using clock = std::chrono::steady_clock;

public:
    batch_progress(progress_format how, console& to);

    [[nodiscard]] std::unique_lock<std::mutex> lock() { return std::unique_lock{guard_}; }

    /// Sets the final number of runs.
    void listed(std::size_t all);
    /// Counts more runs without work that were not listed.
    void unchanged(std::size_t runs);
    void done(const run_result& result);
    /// Counts runs finished by other processes, whose results are not known yet.
    void done_elsewhere(std::size_t runs);
    /// The results of these follow, by done().
    void begin_results();
    /// The progress within a run, if it is the only one.
    void steps(const std::string& what, std::size_t done, std::size_t all);
    /// Prints nothing more, except the end in JSON.
    void finish();
    [[nodiscard]] batch_counts so_far() const;

private:
    void tick(const std::stop_token& end);

    progress_format how_;
    console& to_;
    clock::time_point begin_ = clock::now();
    std::chrono::milliseconds pace_{};
    std::mutex guard_;
    std::condition_variable_any wake_;
    batch_counts now_;
    std::size_t elsewhere_ = 0;
    bool shows_steps_ = false;
    std::jthread ticker_;  // last: it uses all of the above
};

}  // namespace smdebug::inline v1::cli::detail
