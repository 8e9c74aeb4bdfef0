// The built-in rule VanishingGradient: a gradient whose mean absolute value is below a threshold.
// Used by: users, cli.
// Source: the public description of SageMaker Debugger's rule VanishingGradient.
#pragma once

#include <smdebug/core/json_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/selection.hpp>
#include <smdebug/trial/concepts.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace rules {

/// Fires for each tensor of the collection "gradients" with mean(|g|) < threshold.  A NaN mean never fires; a gradient
/// of zeros does.  Cost: nothing but a small read where abs_mean was saved, else one pass over the tensor.
struct vanishing_gradient {
    double threshold = 1e-7;   ///< strictly below this fires
    bool all_workers = false;  ///< look at every worker, not only at the first by name

    [[nodiscard]] static constexpr std::string_view name() noexcept { return "vanishing_gradient"; }

    [[nodiscard]] std::vector<finding> operator()(const readable_trial auto& run, step_number step) const {
        std::vector<finding> found;
        for (const std::string& tensor_name : selected_tensors(run, step, {.collection_names = "gradients"})) {
            const auto tensor = run.tensor(tensor_name);
            for (const std::string& worker : workers_to_check(tensor, step, all_workers)) {
                const auto mean = tensor.find_reduction(step, reduction::mean, {.worker = worker, .abs = true});
                if (!mean) {
                    found.push_back(note_about(tensor_name, worker, step, mean.failure()));
                } else if (*mean < threshold) {
                    found.push_back({.met = true,
                                     .tensor = tensor_name,
                                     .worker = worker,
                                     .value = *mean,
                                     .threshold = threshold,
                                     .message = "the mean absolute gradient " + short_text(*mean) + " is below " +
                                                short_text(threshold)});
                }
            }
        }
        return found;
    }
};

}  // namespace rules
}  // namespace v1
}  // namespace smdebug
