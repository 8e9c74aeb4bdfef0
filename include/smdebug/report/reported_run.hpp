// Everything that a report shows of one run: its facts, the verdicts of rules, and its series.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/report/run_series.hpp>
#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/concepts.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/read/reading_plan.hpp>
#include <smdebug/trial/read/trial_state.hpp>
#include <smdebug/trial/scanned_tensor.hpp>
#include <smdebug/trial/selection.hpp>
#include <smdebug/trial/step_stream.hpp>
#include <smdebug/trial/trial.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1::report::detail {

/// Facts about a tensor besides its series.
struct tensor_facts {
    std::optional<dtype> type = {};        ///< at the first step that has one
    std::optional<shape_type> shape = {};  ///< the same
    bool changes = false;                  ///< dtype or shape change later
};

/// A rule that was not evaluated.
struct rule_left_out {
    std::string name = {};
    std::string why = {};
};

/// One run of a report.
struct reported_run {
    std::string name = {};
    std::string path = {};
    job_state state = job_state::ended;
    std::size_t num_workers = 0;
    std::size_t tensors = 0;
    std::optional<step_number> last_complete = {};  ///< as displayed
    bool steps_are_synthetic = false;               ///< see basic_trial
    std::uint64_t bytes = 0;                        ///< values read, in bytes
    std::size_t values = 0;                         ///< tensors read, one for each step and worker
    bool sampled = false;                           ///< some distributions are made from samples
    bool stopped = false;                           ///< the walk ended early
    std::string failed = {};                        ///< why it could not be opened, or gathered; empty: no failure
    step_axes axes = {};
    series_book series = {};
    std::vector<tensor_facts> facts = {};  ///< by tensor, as in `series`
    std::vector<std::pair<std::string, std::vector<std::string>>> collections = {};
    std::vector<std::string> problems = {};  ///< sentences: the trial's, see problem
    std::vector<std::string> damage = {};    ///< sentences on what the walk could not read: the first ones
    std::size_t damaged = 0;                 ///< the number of all
    std::string last_failed = {};            ///< the sentence on an event file, if it is the last of these
    std::vector<rule_result> verdicts = {};
    std::size_t most_band_bytes = std::size_t{1} << 20U;  ///< about so many are written of their bands
    std::vector<rule_left_out> not_evaluated = {};
};

/// The resolution at which a run fits into so many bytes.
struct room_of_run {
    std::size_t buckets = 0;        ///< of each mode
    std::size_t distributions = 0;  ///< steps with distributions
    bool merge_workers = false;
    std::size_t tensors = 0;
};
[[nodiscard]] inline room_of_run room_for(std::size_t steps, std::size_t tensors_of_modes, std::size_t tensors,
                                          std::size_t workers, std::size_t bytes) {
    constexpr std::size_t row = 44;             // bytes of a bucket of a series, most often
    constexpr std::size_t spread = 54;          // of a distribution
    constexpr std::size_t most_buckets = 2048;  // no screen can show more
    constexpr std::size_t most_distributions = 64;
    constexpr std::size_t least_buckets = 24;
    room_of_run room{.buckets = std::max<std::size_t>(std::min(steps, most_buckets), 1), .tensors = tensors};
    const std::size_t for_rows = bytes - bytes / 5;
    std::size_t series = std::max<std::size_t>(tensors_of_modes, 1) * workers;
    const std::size_t least = std::min(least_buckets, room.buckets) * row;
    if (workers > 1 && series * least > for_rows) {
        room.merge_workers = true;
        series /= workers;
    }
    if (series * least > for_rows) {
        const std::size_t fitting = std::max<std::size_t>(for_rows / least, 1);
        room.tensors = std::max<std::size_t>(tensors * fitting / series, 1);
        series = fitting;
    }
    room.buckets = std::clamp<std::size_t>(for_rows / (series * row), 1, room.buckets);
    room.distributions = std::clamp<std::size_t>(bytes / 5 / (series * spread), 2, most_distributions);
    return room;
}

/// The selected steps of a catalog.
[[nodiscard]] inline std::vector<axis_step> steps_of(const smdebug::detail::catalog& from,
                                                     const tensor_selection& which) {
    std::vector<axis_step> steps;
    for (const auto& entry : from.steps) {
        if (which.range.contains(entry.step) && (which.mode == mode::global || which.mode == entry.mode)) {
            steps.push_back({.step = entry.step,
                             .mode_step = entry.mode_step,
                             .mode = entry.mode,
                             .shown = from.shown_step(entry)});
        }
    }
    return steps;
}

}  // namespace smdebug::inline v1::report::detail
