// The built-in rule ExplodingTensor: a tensor that holds NaN or an infinity.
// Used by: users, cli.
// Source: the public description of SageMaker Debugger's rule ExplodingTensor.
#pragma once

#include <smdebug/core/step.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/selection.hpp>
#include <smdebug/trial/concepts.hpp>
#include <smdebug/trial/lookup.hpp>

#include <cmath>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace rules {

/// A handle that can count values, not only reduce them.
template <class H>
concept countable_tensor = requires(const H& tensor, step_number step, reduction_set wanted,
                                    const read_options& where) {
    { tensor.find_computed(step, wanted, where) } -> std::same_as<lookup<reduction_values>>;
};

/// Fires for each selected tensor with a value that is NaN or infinite; with only_nan, NaN alone.
/// The values decide where they were saved.  Where only reductions were: one that is not finite among min, max and
/// their abs forms proves it, and any finite sum, mean or norm disproves it; else the tensor is noted and skipped.
struct exploding_tensor {
    text_list collection_names = {};  ///< with tensor_regex: the union; neither: all tensors
    text_list tensor_regex = {};
    bool only_nan = false;
    bool all_workers = false;  ///< look at every worker, not only at the first by name

    [[nodiscard]] static constexpr std::string_view name() noexcept { return "exploding_tensor"; }

    [[nodiscard]] std::vector<finding> operator()(const readable_trial auto& run, step_number step) const {
        std::vector<finding> found;
        for (const std::string& tensor_name : selected_tensors(run, step, {collection_names, tensor_regex})) {
            const auto tensor = run.tensor(tensor_name);
            for (const std::string& worker : workers_to_check(tensor, step, all_workers)) {
                found.push_back(judge(tensor, tensor_name, worker, step));
            }
        }
        return found;
    }

private:
    [[nodiscard]] finding judge(const reducible_tensor auto& tensor, const std::string& tensor_name,
                                const std::string& worker, step_number step) const {
        if constexpr (countable_tensor<decltype(tensor)>) {
            const auto counts = tensor.find_computed(step, reduction_set::counts(), {.worker = worker});
            if (counts) {
                return by_counts(*counts, tensor_name, worker);
            }
            if (counts.failure().why != absence::tensor_not_saved) {
                return note_about(tensor_name, worker, step, counts.failure());
            }
        }
        return by_reductions(tensor, tensor_name, worker, step);
    }

    [[nodiscard]] finding by_counts(const reduction_values& counts, const std::string& tensor_name,
                                    const std::string& worker) const {
        const auto infinite = counts.pos_inf + counts.neg_inf;
        if (counts.nan == 0 && (only_nan || infinite == 0)) {
            return {};
        }
        constexpr double nan = std::numeric_limits<double>::quiet_NaN();
        constexpr double inf = std::numeric_limits<double>::infinity();
        return {.met = true,
                .tensor = tensor_name,
                .worker = worker,
                .value = counts.nan > 0 ? nan : (counts.pos_inf > 0 ? inf : -inf),
                .message = std::to_string(counts.nan) + " NaN and " + std::to_string(infinite) + " infinite of " +
                           std::to_string(counts.count) + " values"};
    }

    [[nodiscard]] finding by_reductions(const reducible_tensor auto& tensor, const std::string& tensor_name,
                                        const std::string& worker, step_number step) const {
        const auto saved = [&](reduction what, bool abs) {
            return tensor.find_reduction(step, what, {.worker = worker, .abs = abs});
        };
        lookup_failure missing;
        std::size_t finite_extrema = 0;
        for (const reduction_key key : {reduction_key{reduction::max, true}, reduction_key{reduction::max, false},
                                        reduction_key{reduction::min, false}}) {
            const auto extremum = saved(key.what, key.abs);
            if (!extremum) {
                missing = extremum.failure();
            } else if (std::isnan(*extremum) || (std::isinf(*extremum) && !only_nan)) {
                return {.met = true,
                        .tensor = tensor_name,
                        .worker = worker,
                        .value = *extremum,
                        .message = "the saved " + key.name() + " is not finite"};
            } else {
                finite_extrema += key.abs ? 2 : 1;
            }
        }
        if (finite_extrema >= 2) {
            return {};
        }
        for (const reduction what : {reduction::mean, reduction::sum, reduction::l1, reduction::l2}) {
            for (const bool abs : {false, true}) {
                if (const auto total = saved(what, abs); total && std::isfinite(*total)) {
                    return {};
                }
            }
        }
        return note_about(tensor_name, worker, step, missing);
    }
};

}  // namespace rules
}  // namespace v1
}  // namespace smdebug
