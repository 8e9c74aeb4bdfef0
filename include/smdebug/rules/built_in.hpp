// The built-in rules, as one list of types.  They judge smdebug::trial and types derived from it.  Their calls are
// templates, so that the header-only form compiles only the rules that a program calls; the compiled form contains all.
#pragma once

#include <concepts>

namespace smdebug::inline v1 {
namespace rules {

struct activation_outliers;
struct all_zero;
struct attention_collapse;
struct check_input_images;
struct class_imbalance;
struct confusion;
struct dead_relu;
struct expert_imbalance;
struct exploding_tensor;
struct feature_importance_overweight;
struct gradient_spike;
struct learned;
struct loss_not_decreasing;
struct loss_spike;
struct nan_origin;
struct nlp_sequence_ratio;
struct overfit;
struct overtraining;
struct poor_weight_initialization;
struct precision_underflow;
struct replica_mismatch;
struct saturated_activation;
struct similar_across_runs;
struct stalled_training;
struct tensor_variance;
struct tree_depth;
struct unchanged_tensor;
struct vanishing_gradient;
struct weight_norm_drift;
struct weight_update_ratio;

}  // namespace rules

namespace detail {

/// A list of rule types.
template <class... Rules>
struct rule_list {};

}  // namespace detail

/// The built-in rules, in display order.
using built_in_rules =
    detail::rule_list<rules::vanishing_gradient, rules::exploding_tensor, rules::poor_weight_initialization,
                      rules::saturated_activation, rules::dead_relu, rules::all_zero, rules::tensor_variance,
                      rules::unchanged_tensor, rules::similar_across_runs, rules::weight_update_ratio,
                      rules::loss_not_decreasing, rules::overfit, rules::overtraining, rules::class_imbalance,
                      rules::confusion, rules::stalled_training, rules::check_input_images, rules::nlp_sequence_ratio,
                      rules::tree_depth, rules::feature_importance_overweight, rules::loss_spike, rules::gradient_spike,
                      rules::nan_origin, rules::replica_mismatch, rules::activation_outliers, rules::attention_collapse,
                      rules::expert_imbalance, rules::precision_underflow, rules::weight_norm_drift, rules::learned>;

namespace detail {

template <class Rule, class List>
inline constexpr bool is_among = false;
template <class Rule, class... Rules>
inline constexpr bool is_among<Rule, rule_list<Rules...>> = (std::same_as<Rule, Rules> || ...);

}  // namespace detail

/// Whether Rule itself, not a base of it, is a built-in rule.
template <class Rule>
concept built_in_rule = detail::is_among<Rule, built_in_rules>;

}  // namespace smdebug::inline v1
