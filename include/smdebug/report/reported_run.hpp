// All that a report shows of one run: its facts, what rules said, and its series, gathered in one walk.
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

/// How a run is gathered.
struct gather_options {
    tensor_selection which = {};
    walk_options how = {};
    std::size_t most_bytes = std::size_t{10} << 20U;  ///< of its data, about
    std::size_t most_damage = 100;
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

/// What a thread makes of one tensor.  Names are the catalog's.
struct seen_tensor {
    step_number step = 0;
    std::string_view worker = {};
    std::string_view name = {};
    dtype type = dtype::invalid;
    bool has_shape = false;
    shape_type shape = {};
    std::uint64_t elements = 0;
    series_row row = {};
    std::optional<distribution> spread = {};
    bool sampled = false;
    bool unreadable = false;
    bool file_failed = false;
    std::vector<std::string> failures = {};
};

/// What a thread makes of some files; used again.
class seen_tensors {
public:
    [[nodiscard]] seen_tensor& next() {
        if (size_ == all_.size()) {
            all_.emplace_back();
        }
        return all_[size_++];
    }
    template <class Take>
    void hand_out(Take&& take) {
        for (std::size_t i = 0; i < size_; ++i) {
            take(all_[i]);
        }
        size_ = 0;
    }
    std::vector<std::byte> buffer = {};  // of distributions

private:
    std::vector<seen_tensor> all_;
    std::size_t size_ = 0;
};

/// Notes a tensor; `wants_values`: its distribution is wanted.
void note_tensor(seen_tensor& seen, const reduced_tensor& tensor, const tensor_view* values,
                 std::vector<std::byte>& buffer);
void take_tensor(reported_run& to, const seen_tensor& seen, std::size_t most_damage);

/// The steps of a catalog that are selected.
[[nodiscard]] std::vector<axis_step> steps_of(const smdebug::detail::catalog& from, const tensor_selection& which);

/// Gathers a run as it is now.  Errors: those of scan().
/// Memory: some 110 bytes for each series and bucket: as `most_bytes` says, times about 2.5.
/// Cost:   as for_each_tensor().
template <scannable_trial Trial>
[[nodiscard]] reported_run gather_run(const Trial& run, const gather_options& options) {
    reported_run all;
    all.name = run.name();
    all.path = run.path();
    all.state = run.job_state();
    for (const problem& each : run.problems()) {
        all.problems.push_back(text_of(each));
    }
    const auto catalog = run.snapshot();
    const auto state = run.state();
    const std::vector<axis_step> steps = steps_of(*catalog, options.which);
    all.num_workers = run.num_workers();
    all.tensors = run.tensor_names().size();
    all.last_complete = catalog->shown_step_of(run.last_complete_step());
    all.steps_are_synthetic = catalog->steps_are_synthetic;
    std::size_t tensors_of_modes = 0;
    for (const mode each : run.modes()) {
        tensors_of_modes += run.tensor_names({.mode = each}).size();
    }
    tensors_of_modes = std::max(tensors_of_modes, all.tensors);  // steps of no mode have some, too
    const room_of_run room = room_for(steps.size(), tensors_of_modes, all.tensors,
                                      std::max<std::size_t>(run.workers().size(), 1), options.most_bytes);
    all.axes = step_axes{steps, room.buckets};
    all.series = series_book{room.merge_workers, room.tensors};
    for (const auto& [name, group] : run.collections()) {
        all.collections.emplace_back(name, run.tensor_names({.collection = name}));
    }
    const reduction_set wanted = numbers_of_reports();
    const auto& kernel = state->kernel();
    scan_options scanning{.which = options.which,
                          .saved = wanted,
                          .how = options.how,
                          .defer_checks = true,
                          .keep_repeats = kernel.abilities().repeats,
                          .in_place = true};
    smdebug::detail::faster_way faster;
    scanning.faster = &faster;
    const auto walk = [&](const step_range& range, bool with_values) {
        scanning.which.range = range;
        scanning.stream = !with_values;
        const auto end = scan_parts(
            run, scanning, seen_tensors{},
            [&](seen_tensors& part, const smdebug::detail::scanned_tensor& scanned) {
                const reduced_tensor tensor = reduced(scanned, wanted, kernel);
                std::optional<tensor_view> values;
                if (with_values && scanned.values() != nullptr && scanned.repeats() == 0 && tensor.failure == nullptr) {
                    values = scanned.values()->view();
                }
                note_tensor(part.next(), tensor, values ? &*values : nullptr, part.buffer);
            },
            [&](seen_tensors& part) {
                part.hand_out([&](const seen_tensor& seen) { take_tensor(all, seen, options.most_damage); });
            });
        all.stopped = all.stopped || end == smdebug::detail::walk_end::stopped;
    };
    const std::vector<step_number> looked_at = all.axes.some(room.distributions);
    if (looked_at.size() >= steps.size()) {
        walk(options.which.range, true);
        return all;
    }
    // One walk, in pieces: values of large tensors are left in their files but for the steps that are looked at.
    std::optional<step_number> next = options.which.range.begin;
    for (const step_number step : looked_at) {
        if (!steps.empty() && steps.front().step < step && (!next || *next < step)) {
            walk({next, step}, false);
        }
        walk({step, step + 1}, true);
        next = step + 1;
    }
    if (!steps.empty() && steps.back().step >= next.value_or(0)) {
        walk({next, options.which.range.end}, false);
    }
    return all;
}

}  // namespace detail
}  // namespace report
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/report/impl/reported_run.ipp>
#endif
