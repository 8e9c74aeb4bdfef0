// The built-in rules, their registry, and what evaluates many of them together, instantiated for a type of trials.
#pragma once

#include <smdebug/own_policies.hpp>

#include <smdebug/registry/built_in_rules.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace smdebug {
inline namespace v1 {

template <readable_trial Trial>
template <class Held>
std::shared_ptr<typename any_rule<Trial>::erased_rule> any_rule<Trial>::kept_built_in(Held&& callable) {
    static_assert(built_in_rule<std::remove_reference_t<Held>, Trial>);
    return std::make_shared<detail::held_rule<Held, Trial>>(std::forward<Held>(callable));
}

#define SMDEBUG_RULE(trial_type, rule)                                                                             \
    template std::shared_ptr<any_rule<trial_type>::erased_rule> any_rule<trial_type>::kept_built_in<rule>(rule&&); \
    template std::shared_ptr<any_rule<trial_type>::erased_rule> any_rule<trial_type>::kept_built_in<rule&>(rule&)
#define SMDEBUG_RULES(trial_type)                                     \
    template class rule_session<trial_type>;                          \
    template class any_rule<trial_type>;                              \
    template class rule_registry<trial_type>;                         \
    SMDEBUG_RULE(trial_type, rules::all_zero);                        \
    SMDEBUG_RULE(trial_type, rules::check_input_images);              \
    SMDEBUG_RULE(trial_type, rules::class_imbalance);                 \
    SMDEBUG_RULE(trial_type, rules::confusion);                       \
    SMDEBUG_RULE(trial_type, rules::dead_relu);                       \
    SMDEBUG_RULE(trial_type, rules::exploding_tensor);                \
    SMDEBUG_RULE(trial_type, rules::feature_importance_overweight);   \
    SMDEBUG_RULE(trial_type, rules::loss_not_decreasing);             \
    SMDEBUG_RULE(trial_type, rules::nlp_sequence_ratio);              \
    SMDEBUG_RULE(trial_type, rules::overfit);                         \
    SMDEBUG_RULE(trial_type, rules::overtraining);                    \
    SMDEBUG_RULE(trial_type, rules::poor_weight_initialization);      \
    SMDEBUG_RULE(trial_type, rules::saturated_activation);            \
    SMDEBUG_RULE(trial_type, rules::similar_across_runs<trial_type>); \
    SMDEBUG_RULE(trial_type, rules::stalled_training);                \
    SMDEBUG_RULE(trial_type, rules::tensor_variance);                 \
    SMDEBUG_RULE(trial_type, rules::tree_depth);                      \
    SMDEBUG_RULE(trial_type, rules::unchanged_tensor);                \
    SMDEBUG_RULE(trial_type, rules::vanishing_gradient);              \
    SMDEBUG_RULE(trial_type, rules::weight_update_ratio)

}  // namespace v1
}  // namespace smdebug
