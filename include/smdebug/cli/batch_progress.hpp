// How far a batch is: a line that changes on a terminal, one line a minute elsewhere, or JSON for programs.
#pragma once

#include <smdebug/batch/run_result.hpp>
#include <smdebug/cli/console.hpp>
#include <smdebug/cli/rule_notes.hpp>
#include <smdebug/cli/text.hpp>
#include <smdebug/core/stop_token.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
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
    [[nodiscard]] std::optional<double> seconds_left() const {
        const std::size_t worked = done - unchanged;
        if (!all || worked == 0 || *all < done) {
            return std::nullopt;
        }
        return seconds / static_cast<double>(worked) * static_cast<double>(*all - done);
    }
    [[nodiscard]] double bytes_per_second() const { return seconds > 0 ? static_cast<double>(bytes) / seconds : 0; }
};

/// "[###...] 120/2000 runs, 1.2 GB/s, 25 with findings, 3 failed, 4 minutes left"; `bar`: with what is in brackets.
[[nodiscard]] inline std::string progress_text(const batch_counts& now, bool bar) {
    std::string text;
    if (now.all && bar) {
        text = console::progress_bar(now.done, *now.all) + "runs";
    } else {
        text = std::to_string(now.done) + (now.all ? " of " + std::to_string(*now.all) : std::string{}) + " runs";
    }
    if (now.bytes > 0) {
        text += ", " + size_text(static_cast<std::uint64_t>(now.bytes_per_second())) + "/s";
    }
    text += now.with_findings > 0 ? ", " + std::to_string(now.with_findings) + " with findings" : "";
    text += now.failed > 0 ? ", " + std::to_string(now.failed) + " failed" : "";
    if (const auto left = now.seconds_left()) {
        const std::chrono::milliseconds time{static_cast<std::int64_t>(*left * 1000)};
        text += *now.all > now.done ? ", " + duration_text(time) + " left" : "";
    }
    return text;
}

[[nodiscard]] inline std::string progress_json(const batch_counts& now) {
    const auto real = [](double number) {
        std::array<char, 32> text{};
        std::snprintf(text.data(), text.size(), "%.3f", number);
        return std::string{text.data()};
    };
    const auto left = now.seconds_left();
    return "{\"runs_done\":" + std::to_string(now.done) +
           ",\"runs\":" + (now.all ? std::to_string(*now.all) : std::string{"null"}) +
           ",\"unchanged\":" + std::to_string(now.unchanged) +
           ",\"with_findings\":" + std::to_string(now.with_findings) + ",\"failed\":" + std::to_string(now.failed) +
           ",\"bytes\":" + std::to_string(now.bytes) + ",\"bytes_per_second\":" + real(now.bytes_per_second()) +
           ",\"seconds\":" + real(now.seconds) + ",\"seconds_left\":" + (left ? real(*left) : std::string{"null"}) +
           "}";
}

/// Tells the progress of a batch, at its own pace.  Whoever writes to the console meanwhile holds lock(); done() and
/// steps() are called by whom holds it.
class batch_progress {
    using clock = std::chrono::steady_clock;

public:
    batch_progress(progress_format how, console& to) : how_(how), to_(to) {
        if (how_ == progress_format::none) {
            return;
        }
        pace_ = how_ == progress_format::json ? std::chrono::milliseconds{1000}
                : to_.messages_on_terminal()  ? std::chrono::milliseconds{200}
                                              : std::chrono::milliseconds{60'000};
        ticker_ = std::jthread{[this](const std::stop_token& end) { tick(end); }};
    }

    [[nodiscard]] std::unique_lock<std::mutex> lock() { return std::unique_lock{guard_}; }

    /// There are so many runs, and no more.
    void listed(std::size_t all) {
        const auto locked = lock();
        now_.all = all + now_.apart;
    }
    /// Of so many more there is nothing to do; they are not among those that were listed.
    void unchanged(std::size_t runs) {
        const auto locked = lock();
        now_.done += runs;
        now_.unchanged += runs;
        now_.apart += runs;
    }
    void done(const run_result& result) {
        if (result.state != run_state::undone) {
            ++now_.done;
            now_.unchanged += result.state == run_state::unchanged;
            now_.with_findings += has_findings(result);
            now_.failed += !result.error.empty();
            now_.bytes += result.state == run_state::unchanged ? 0 : result.run.bytes;
        }
        // Of an archive that was listed as one.
        for (const run_result& other : result.others) {
            ++now_.apart;
            now_.all = now_.all ? std::optional{*now_.all + 1} : std::nullopt;
            done(other);
        }
    }
    /// Of a run that is the only one: how far it is.
    void steps(const std::string& what, std::size_t done, std::size_t all) {
        const auto locked = lock();
        if (how_ == progress_format::people && now_.all == 1) {
            to_.progress(what, done, all);
            shows_steps_ = true;
        }
    }
    /// Nothing more is told, but for a program the end.
    void finish() {
        ticker_ = {};
        const auto locked = lock();
        if (how_ == progress_format::json) {
            to_.report(progress_json(so_far()));
        }
    }
    [[nodiscard]] batch_counts so_far() const {
        batch_counts counts = now_;
        counts.seconds = std::chrono::duration<double>(clock::now() - begin_).count();
        return counts;
    }

private:
    void tick(const std::stop_token& end) {
        auto locked = lock();
        while (!end.stop_requested()) {
            if (wake_.wait_for(locked, end, pace_, [] { return false; }); end.stop_requested()) {
                return;
            }
            if (how_ == progress_format::json) {
                to_.report(progress_json(so_far()));
            } else if (!to_.messages_on_terminal()) {
                to_.note(progress_text(so_far(), false));
            } else if (!shows_steps_) {
                to_.progress_line([&] { return progress_text(so_far(), true); });
            }
        }
    }

    progress_format how_;
    console& to_;
    clock::time_point begin_ = clock::now();
    std::chrono::milliseconds pace_{};
    std::mutex guard_;
    std::condition_variable_any wake_;
    batch_counts now_;
    bool shows_steps_ = false;
    std::jthread ticker_;  // last: it uses all of the above
};

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
