// The built-in rule TreeDepth: a boosted tree that is deeper than it should be.
// Source: the public description of SageMaker Debugger's rule TreeDepth.
#pragma once

#include <smdebug/core/json_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/judge/check_settings.hpp>
#include <smdebug/rules/judge/saved_tensor.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/trial/trial.hpp>

#include <concepts>
#include <string_view>
#include <tuple>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules {

/// Fires if the node ids that XGBoost saved (`trees/Node`, `trees/<anything>/Node`) show a tree with floor(log2(largest
/// id + 1)) > depth: the root, id 0, has depth 0, and a full tree of depth 4 ends with id 30.
/// Ids are heap positions in full trees only, so this is a lower bound of the depth.  Ids below 0 and NaN never fire.
/// Fast path: exact; the largest id is the reduction max.  Cost: a small read if max was saved, else one pass over the
/// ids.
struct tree_depth {
    double depth = 4;
    bool all_workers = false;

    [[nodiscard]] static constexpr std::string_view name() noexcept { return "tree_depth"; }
    [[nodiscard]] static constexpr std::string_view service_name() noexcept { return "TreeDepth"; }
    [[nodiscard]] static constexpr std::string_view summary() noexcept { return "a boosted tree is too deep"; }
    template <class Rule = tree_depth>
    [[nodiscard]] static constexpr auto settings() {
        return std::tuple{setting{"depth", &Rule::depth, "fires if a tree is deeper than this; the root has depth 0"},
                          setting{"all_workers", &Rule::all_workers, all_workers_meaning}};
    }

    /// The tensors of node ids, as the XGBoost hook names its columns, with or without a tree between.
    static constexpr const char* node_ids = "^trees/(.*/)?Node$";

    /// Errors: value_error.
    void check() const;

    [[nodiscard]] std::vector<finding> operator()(const std::derived_from<trial> auto& run, step_number step) const {
        return detail::judge_each(run, step, {.tensor_regex = node_ids}, all_workers, [&](const auto& tensor) {
            const auto largest = tensor.reduction_value(reduction::max);
            if (!largest) {
                return tensor.note(largest.error());
            }
            if (!(*largest >= 0)) {  // no ids: an empty tensor gives NaN, too
                return finding{};
            }
            const double reached = depth_of_node(*largest);
            return reached > depth
                       ? tensor.met(reached, depth,
                                    "the largest node id " + short_text(*largest) + " means a depth of at least " +
                                        short_text(reached) + ", more than " + short_text(depth))
                       : finding{};
        });
    }

private:
    // Decision: rounded down, so that a full tree of an allowed depth does not fire.  logb is exactly the floor of
    // log2.
    [[nodiscard]] static double depth_of_node(double id) noexcept { return std::logb(id + 1); }
};

inline void tree_depth::check() const { detail::check_range(name(), "depth", depth, {.infinite = true}); }

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>
