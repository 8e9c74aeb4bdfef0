// The steps of a growing run, each handed out once, when it is complete.
#pragma once

#include <smdebug/core/step.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/catalog/catalog.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1::cli::detail {

/// Why following a run ended.
enum class follow_end : std::uint8_t {
    ended,        ///< the job has ended, and every step was seen
    end_step,     ///< the step to end at was reached; the job goes on
    stalled,      ///< nothing new for give_up_after
    replaced,     ///< the run is gone, or another one is in its place
    interrupted,  ///< by the user
    not_started,  ///< by the user, before there was a run
    failed,       ///< an error
};

/// The word for a run's state in each case.
[[nodiscard]] constexpr std::string_view name_of(follow_end end) noexcept {
    switch (end) {
        case follow_end::ended:
            return "ended";
        case follow_end::end_step:
            return "running";
        case follow_end::stalled:
            return "stalled";
        case follow_end::replaced:
            return "replaced";
        case follow_end::interrupted:
            return "interrupted";
        case follow_end::not_started:
            return "not started";
        case follow_end::failed:
            break;
    }
    return "failed";
}

/// Which steps, and how long to wait for them.
struct feed_options {
    step_number start = 0;                ///< as it is shown: see trial::shown_step()
    std::optional<step_number> end = {};  ///< exclusive; the end of the run if unset
    std::optional<std::chrono::milliseconds> give_up_after = {};
    std::stop_token stop = {};
    std::size_t most = 64;  ///< steps that are handed out at once
    /// Called every idle_interval while there is nothing to hand out, unless empty.
    std::function<void()> idle = {};
    std::chrono::milliseconds idle_interval{1000};
    /// Whether the run was replaced since it was opened: called as often as idle(), and before steps are handed out.
    std::function<bool()> is_replaced = {};
};

/// The global steps of one run.  Borrows the run.
/// A step that appears late, below others that were handed out, is handed out then, and so is one whose data have
/// changed since: none is skipped, and none repeated as it was.
class step_feed {
public:
    using clock = std::chrono::steady_clock;

    step_feed(const trial& run, feed_options options);

    /// The next complete steps, ascending; waits until there are some, or until that time.  No step that was handed out
    /// before lies between them.  If empty, end() says why no more will come, or nothing if the time has come.
    /// Errors: what a refresh throws.
    [[nodiscard]] std::vector<step_number> next(clock::time_point until = clock::time_point::max());
    /// Begins at the first step again.
    void start_over();

    [[nodiscard]] std::optional<follow_end> end() const noexcept { return end_; }
    /// Whether the last next() went back: to a step that is not behind all that were handed out.
    [[nodiscard]] bool went_back() const noexcept { return went_back_; }
    /// The first and the last step that was handed out again because it was written again; of runs with an index.
    [[nodiscard]] const std::optional<std::pair<step_number, step_number>>& rewritten() const noexcept {
        return rewritten_;
    }
    /// How many were handed out.
    [[nodiscard]] std::size_t count() const noexcept { return handed_out_.size(); }

private:
    [[nodiscard]] bool is_replaced() const { return options_.is_replaced && options_.is_replaced(); }

    [[nodiscard]] std::vector<step_number> complete_ones(const smdebug::detail::catalog& from);

    // Where the steps begin that may be wanted.
    [[nodiscard]] step_number first_of(const smdebug::detail::catalog& from) const noexcept;

    // Whether no step before `end` is to come; of a log each mode has to be there.
    [[nodiscard]] static bool has_reached(step_number end, const smdebug::detail::catalog& from);

    [[nodiscard]] std::vector<step_number> over(follow_end why);
    void note_handed_out(const smdebug::detail::catalog& from, const std::vector<step_number>& ready);

    /// What decides which steps are complete.
    struct progress {
        std::size_t steps = 0;
        step_number last_complete = -1;
        bool loaded = false;
        std::uint32_t load = 0;
        [[nodiscard]] friend bool operator==(const progress&, const progress&) = default;
    };

    const trial& run_;
    feed_options options_;
    // As it was when it was handed out.
    struct handed_out {
        step_number step = 0;
        std::uint32_t load = 0;
        std::uint32_t files = 0;
    };

    progress searched_;                   // when there was nothing to hand out
    std::vector<handed_out> handed_out_;  // ascending
    std::uint32_t walked_ = 0;            // the load after which all steps up to the last one handed out were walked
    bool went_back_ = false;
    std::optional<std::pair<step_number, step_number>> rewritten_;
    std::optional<follow_end> end_;
};

}  // namespace smdebug::inline v1::cli::detail
