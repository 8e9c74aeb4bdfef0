// How far a batch is: a line that changes on a terminal, one line a minute elsewhere, or JSON for programs.
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

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

/// How progress is told.
enum class progress_format : std::uint8_t {
    people,  ///< on a terminal a line that changes, else one a minute
    json,    ///< an object a line, one a second and one at the end, on standard error
    none,
};

/// What is known of a batch under way.
struct batch_counts {
    std::size_t done = 0;
    std::optional<std::size_t> all = {};  ///< once the list has been read to its end
    std::size_t apart = 0;                ///< of those that are done: not in the list
    std::size_t unchanged = 0;            ///< of those that are done: nothing was to be done
    std::size_t with_findings = 0;
    std::size_t failed = 0;
    std::uint64_t bytes = 0;  ///< of the runs that were looked at, as far as known
    double seconds = 0;

    /// How long the rest takes, where the rest is like what was done.
    [[nodiscard]] std::optional<double> seconds_left() const;
    [[nodiscard]] double bytes_per_second() const { return seconds > 0 ? static_cast<double>(bytes) / seconds : 0; }
};

/// "[###...] 120/2000 runs, 1.2 GB/s, 25 with findings, 3 failed, 4 minutes left"; `bar`: with what is in brackets.
[[nodiscard]] std::string progress_text(const batch_counts& now, bool bar);

[[nodiscard]] std::string progress_json(const batch_counts& now);

/// Tells the progress of a batch, at its own pace.  Whoever writes to the console meanwhile holds lock(); done() and
/// steps() are called by whom holds it.
class batch_progress {
    using clock = std::chrono::steady_clock;

public:
    batch_progress(progress_format how, console& to);

    [[nodiscard]] std::unique_lock<std::mutex> lock() { return std::unique_lock{guard_}; }

    /// There are so many runs, and no more.
    void listed(std::size_t all);
    /// Of so many more there is nothing to do; they are not among those that were listed.
    void unchanged(std::size_t runs);
    void done(const run_result& result);
    /// Other processes are done with so many, of which nothing more is known yet.
    void done_elsewhere(std::size_t runs);
    /// The results of these come now, by done().
    void begin_results();
    /// Of a run that is the only one: how far it is.
    void steps(const std::string& what, std::size_t done, std::size_t all);
    /// Nothing more is told, but for a program the end.
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

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
