// The bodies of <smdebug/trial/diff_runs.hpp> that are no templates.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/trial/diff_runs.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <vector>

namespace smdebug {
inline namespace v1 {

SMDEBUG_INLINE std::string_view name_of(run_difference_kind kind) noexcept {
    constexpr std::array<std::string_view, 10> names{"collection", "step",  "worker",    "mode",   "tensor",
                                                     "dtype",      "shape", "reduction", "values", "unreadable"};
    return names[static_cast<std::size_t>(kind)];
}

namespace detail {

SMDEBUG_INLINE std::string_view name_of_run(unsigned run) noexcept { return run == 1 ? "first" : "second"; }

SMDEBUG_INLINE diff_log::diff_log(const diff_options& options, diff_visit visit) : options_(options), visit_(visit) {
    for (const std::optional<double>& each : {options.rtol, options.atol}) {
        if (each && !(*each >= 0)) {
            throw value_error("a tolerance must be a number, 0 or more");
        }
    }
    if (options.rtol || options.atol) {
        within_ = reduce::detail::tolerance{options.rtol.value_or(0), options.atol.value_or(0), true};
    }
}

SMDEBUG_INLINE void diff_log::begin_step(const catalog::file& file) {
    step_ = {.step = by_mode_ ? file.mode_step : file.step, .mode_step = file.mode_step, .mode = file.mode};
    second_mode_ = file.mode;
    second_mode_step_ = file.mode_step;
    worker_ = {};
    tensor_ = {};
}

SMDEBUG_INLINE void diff_log::end_step() {
    ++summary.steps;
    if (options_.step_done) {
        options_.step_done(step_);
    }
}

SMDEBUG_INLINE void diff_log::begin_worker(std::string_view worker, const catalog::file& first,
                                           const catalog::file& second) {
    worker_ = worker;
    tensor_ = {};
    step_.mode = first.mode;
    step_.mode_step = first.mode_step;
    second_mode_ = second.mode;
    second_mode_step_ = second.mode_step;
}

SMDEBUG_INLINE void diff_log::begin_tensor(std::string_view tensor) noexcept {
    tensor_ = tensor;
    differs_ = false;
}

SMDEBUG_INLINE void diff_log::end_tensor(bool was_compared, std::uint64_t bytes) {
    if (was_compared) {
        summary.compared += 1;
        summary.bytes += bytes;
        step_.tensors += 1;
        step_.differing += differs_ ? 1U : 0U;
    }
    tensor_ = {};
}

SMDEBUG_INLINE void diff_log::tell(run_difference& found) {
    found.step = step_.step;
    found.mode_step = found.run == 2 ? second_mode_step_ : step_.mode_step;
    found.mode = found.run == 2 ? second_mode_ : step_.mode;
    found.worker = worker_;
    found.tensor = found.kind == run_difference_kind::collection ? found.tensor : tensor_;
    if (found.kind == run_difference_kind::unreadable) {
        ++summary.unreadable;
    } else {
        ++summary.differences;
        differs_ = true;
    }
    visit_(found);
}

SMDEBUG_INLINE void diff_log::tell(run_difference_kind kind, unsigned run, std::string what) {
    run_difference found{.kind = kind, .run = run, .what = std::move(what)};
    tell(found);
}

SMDEBUG_INLINE void diff_log::tell(run_difference_kind kind, const comparison& result, std::string_view of,
                                   const shape_type* shape) {
    if (result.differing() == 0) {
        return;
    }
    run_difference found{.kind = kind,
                         .elements = result.elements(),
                         .differing = result.differing(),
                         .largest = result.largest(),
                         .largest_relative = result.largest_relative(),
                         .first = result.first(),
                         .farthest = result.farthest(),
                         .shape = shape};
    found.what = of.empty() ? std::to_string(found.differing) + " of " + std::to_string(found.elements) +
                                  (found.elements == 1 ? " element differs" : " elements differ")
                            : std::string{of} + " is " + found.first->first + " in the first run, " +
                                  found.first->second + " in the second";
    if (found.largest > step_.largest || step_.farthest_tensor.empty()) {
        step_.largest = std::isnan(found.largest) ? step_.largest : found.largest;
        step_.farthest_tensor = tensor_;
    }
    if (found.largest_relative > step_.largest_relative) {
        step_.largest_relative = found.largest_relative;
    }
    tell(found);
}

SMDEBUG_INLINE void diff_log::unreadable(unsigned run, const lookup_error& why) {
    run_difference found{.kind = run_difference_kind::unreadable, .run = run};
    if (tensor_.empty() && why.why != absence::event_file_missing) {
        found.what = why.where + " of the " + std::string{name_of_run(run)} + " run cannot be read: " + why.note;
    } else if (tensor_.empty()) {
        found.what = why.where + " of the " + std::string{name_of_run(run)} + " run is missing";
    } else {
        found.what = "in the " + std::string{name_of_run(run)} + " run: " +
                     words_of(why, std::string{tensor_}, step_.step, by_mode_ ? step_.mode : smdebug::mode::global);
    }
    tell(found);
}

SMDEBUG_INLINE void diff_log::compare_collections(const catalog::job_description& first,
                                                  const catalog::job_description& second) {
    const tensor_selection& which = options_.which;
    if (which.names || which.regex.given()) {
        return;  // members may be others among those that are left out
    }
    step_ = {};
    second_mode_ = step_.mode;
    second_mode_step_ = step_.mode_step;
    worker_ = {};
    const auto differ = [&](std::string_view name, unsigned run, std::string what) {
        run_difference found{
            .kind = run_difference_kind::collection, .tensor = name, .run = run, .what = std::move(what)};
        tell(found);
    };
    const auto is_wanted = [&](const std::string& name) {
        return !which.collection || which.collection->name() == name;
    };
    const auto members = [&](const collection& mine, const collection& other, unsigned run) {
        std::vector<std::string> alone;
        std::set_difference(mine.tensor_names.begin(), mine.tensor_names.end(), other.tensor_names.begin(),
                            other.tensor_names.end(), std::back_inserter(alone));
        if (!alone.empty()) {
            const std::string more =
                alone.size() == 1 ? std::string{} : " and " + std::to_string(alone.size() - 1) + " more";
            differ(mine.name, run,
                   "only in the " + std::string{name_of_run(run)} + " run it holds " + alone.front() + more);
        }
    };
    for (const auto& [name, mine] : first.collections) {
        const auto other = second.collections.find(name);
        if (!is_wanted(name)) {
            continue;
        }
        if (other == second.collections.end()) {
            differ(name, 1, "only the first run has it");
        } else {
            members(mine, other->second, 1);
            members(other->second, mine, 2);
        }
    }
    for (const auto& [name, mine] : second.collections) {
        if (is_wanted(name) && first.collections.find(name) == first.collections.end()) {
            differ(name, 2, "only the second run has it");
        }
    }
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
