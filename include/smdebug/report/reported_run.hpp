// All that a report shows of one run: its facts, what rules said, and its series.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/problem.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/report/distribution.hpp>
#include <smdebug/report/run_series.hpp>
#include <smdebug/report/step_axis.hpp>
#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/concepts.hpp>
#include <smdebug/trial/job_state.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/read/faster_way.hpp>
#include <smdebug/trial/read/trial_state.hpp>
#include <smdebug/trial/reduced_tensor.hpp>
#include <smdebug/trial/scan.hpp>
#include <smdebug/trial/selection.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace report {
namespace detail {

/// What a report says of a tensor beside its series.
struct tensor_facts {
    dtype type = dtype::invalid;  ///< of the first step that has one
    shape_type shape = {};        ///< the same
    bool changes = false;         ///< dtype or shape, later
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
    step_number last_complete = -1;    ///< as it is shown
    bool steps_are_synthetic = false;  ///< see basic_trial
    std::uint64_t bytes = 0;           ///< of the values that were read
    std::size_t values = 0;            ///< tensors of steps and workers that were read
    bool sampled = false;              ///< some distributions are those of some elements
    bool stopped = false;              ///< the walk ended early
    std::string failed = {};           ///< why it could not be opened, or gathered; empty: it could
    step_axes axes = {};
    series_book series = {};
    std::vector<tensor_facts> facts = {};  ///< by tensor, as in `series`
    std::vector<std::pair<std::string, std::vector<std::string>>> collections = {};
    std::vector<std::string> problems = {};  ///< sentences: the trial's, see problem
    std::vector<std::string> damage = {};    ///< sentences on what the walk could not read: the first ones
    std::size_t damaged = 0;                 ///< how many there are
    std::vector<rule_result> verdicts = {};
    std::vector<rule_left_out> not_evaluated = {};
};

/// How finely a run can be shown in so many bytes.
struct room_of_run {
    std::size_t buckets = 0;        ///< of each mode
    std::size_t distributions = 0;  ///< steps of which they are made
    bool merge_workers = false;
    std::size_t tensors = 0;
};
[[nodiscard]] room_of_run room_for(std::size_t steps, std::size_t tensors_of_modes, std::size_t tensors,
                                   std::size_t workers, std::size_t bytes);

/// The steps of a catalog that are selected.
[[nodiscard]] std::vector<axis_step> steps_of(const smdebug::detail::catalog& from, const tensor_selection& which);

}  // namespace detail
}  // namespace report
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/report/impl/reported_run.ipp>
#endif
