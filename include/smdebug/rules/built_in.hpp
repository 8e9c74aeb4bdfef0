// Which rules are this library's own: the compiled form has their code for the usual trials, whoever evaluates them.
// Used by: rules/any_rule.hpp, compiled/.
#pragma once

#include <smdebug/trial/concepts.hpp>

#include <concepts>

namespace smdebug {
inline namespace v1 {
namespace rules {

struct all_zero;
struct check_input_images;
struct class_imbalance;
struct confusion;
struct dead_relu;
struct exploding_tensor;
struct feature_importance_overweight;
struct loss_not_decreasing;
struct nlp_sequence_ratio;
struct overfit;
struct overtraining;
struct poor_weight_initialization;
struct saturated_activation;
template <readable_trial Other>
struct similar_across_runs;
struct stalled_training;
struct tensor_variance;
struct tree_depth;
struct unchanged_tensor;
struct vanishing_gradient;
struct weight_update_ratio;

}  // namespace rules

namespace detail {

template <class R, class... Rules>
concept one_of = (std::same_as<R, Rules> || ...);

}  // namespace detail

/// Whether R is a built-in rule, as it is evaluated over runs of that type; not what derives from one.
template <class R, class Trial>
concept built_in_rule = detail::one_of<
    R, rules::all_zero, rules::check_input_images, rules::class_imbalance, rules::confusion, rules::dead_relu,
    rules::exploding_tensor, rules::feature_importance_overweight, rules::loss_not_decreasing,
    rules::nlp_sequence_ratio, rules::overfit, rules::overtraining, rules::poor_weight_initialization,
    rules::saturated_activation, rules::stalled_training, rules::tensor_variance, rules::tree_depth,
    rules::unchanged_tensor, rules::vanishing_gradient, rules::weight_update_ratio> ||
    (readable_trial<Trial>&& std::same_as<R, rules::similar_across_runs<Trial>>);

}  // namespace v1
}  // namespace smdebug
