// All built-in rules, which rules/built_in.hpp lists: a visit of each type, and the names by which they are found.
#pragma once

#include <smdebug/registry/configure.hpp>
#include <smdebug/rules/built_in.hpp>
#include <smdebug/rules/built_in/activation_outliers.hpp>
#include <smdebug/rules/built_in/all_zero.hpp>
#include <smdebug/rules/built_in/attention_collapse.hpp>
#include <smdebug/rules/built_in/check_input_images.hpp>
#include <smdebug/rules/built_in/class_imbalance.hpp>
#include <smdebug/rules/built_in/confusion.hpp>
#include <smdebug/rules/built_in/dead_relu.hpp>
#include <smdebug/rules/built_in/expert_imbalance.hpp>
#include <smdebug/rules/built_in/exploding_tensor.hpp>
#include <smdebug/rules/built_in/feature_importance_overweight.hpp>
#include <smdebug/rules/built_in/gradient_spike.hpp>
#include <smdebug/rules/built_in/learned.hpp>
#include <smdebug/rules/built_in/loss_not_decreasing.hpp>
#include <smdebug/rules/built_in/loss_spike.hpp>
#include <smdebug/rules/built_in/nan_origin.hpp>
#include <smdebug/rules/built_in/nlp_sequence_ratio.hpp>
#include <smdebug/rules/built_in/overfit.hpp>
#include <smdebug/rules/built_in/overtraining.hpp>
#include <smdebug/rules/built_in/poor_weight_initialization.hpp>
#include <smdebug/rules/built_in/precision_underflow.hpp>
#include <smdebug/rules/built_in/replica_mismatch.hpp>
#include <smdebug/rules/built_in/saturated_activation.hpp>
#include <smdebug/rules/built_in/similar_across_runs.hpp>
#include <smdebug/rules/built_in/stalled_training.hpp>
#include <smdebug/rules/built_in/tensor_variance.hpp>
#include <smdebug/rules/built_in/tree_depth.hpp>
#include <smdebug/rules/built_in/unchanged_tensor.hpp>
#include <smdebug/rules/built_in/vanishing_gradient.hpp>
#include <smdebug/rules/built_in/weight_norm_drift.hpp>
#include <smdebug/rules/built_in/weight_update_ratio.hpp>
#include <smdebug/rules/concepts.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1 {

/// Calls `visit.template operator()<BuiltIn>()` for each built-in rule.
template <class Visit>
void for_each_built_in_rule(Visit&& visit) {
    [&]<class... BuiltIn>(detail::rule_list<BuiltIn...>) {
        (visit.template operator()<BuiltIn>(), ...);
    }(built_in_rules{});
}

/// A rule that compares its run with others: a member `others`, a std::vector<std::shared_ptr<const Other>>, holds
/// them.  Other is the Trial of the rule_registry: smd::trial for rule_registry<smd::trial>, smd::program_trial for
/// rule_main.  If `others` is empty, its check() throws insufficient_information, and nothing else.
template <class BuiltIn, class Other>
concept takes_other_runs =
    requires(BuiltIn& rule, std::vector<std::shared_ptr<const Other>> others) { rule.others = others; };

/// "ExplodingTensor", "exploding_tensor" and "explodingtensor" are the same name, and so is the service's
/// "StalledTrainingRule".
[[nodiscard]] inline std::string plain_rule_name(std::string_view name) {
    std::string plain;
    for (const char c : name) {
        if (c != '_') {
            plain += detail::in_small_letters(c);
        }
    }
    return plain;
}

}  // namespace smdebug::inline v1
