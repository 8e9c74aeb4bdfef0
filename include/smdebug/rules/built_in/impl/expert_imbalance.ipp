// The bodies of <smdebug/rules/built_in/expert_imbalance.hpp>.
#pragma once

#include <smdebug/core/float_kinds.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/rules/built_in/expert_imbalance.hpp>
#include <smdebug/rules/judge/check_settings.hpp>

#include <algorithm>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules {

SMDEBUG_INLINE void expert_imbalance::check() const {
    detail::require_choice(name(), collection_names, tensor_regex);
    detail::check_range(name(), "threshold", threshold, {.least = 1});
    detail::check_range(name(), "dead_share", dead_share, {.most = 1});
    detail::check_range(name(), "patience", patience, {.least = 1});
    detail::check_range(name(), "experts", experts, {.least = 2, .most = 1e6});  // a load of each is kept
}

SMDEBUG_INLINE expert_imbalance::expert_loads expert_imbalance::loads_in(reduce::detail::expert_sums sums) const {
    const std::size_t count = sums.sum.size();
    if (count == 0) {
        return {.missing = "it has no axes: the last one should be that of the experts"};
    }
    if (count < 2) {
        return {.missing = "its last axis has one expert: there is no other to compare with"};
    }
    if (!sums.finite) {
        return {.missing = "an element is not finite"};
    }
    if (sums.wrong) {
        return {.wrong = "an element is " + short_text(*sums.wrong) +
                         (experts ? ", which is not the number of one of " + std::to_string(count) + " experts"
                                  : ", below 0, as the logits of a router may be")};
    }
    double all = 0;
    for (const double each : sums.sum) {
        all += each;
    }
    if (!(all > 0) || !is_finite(all)) {
        return {.missing = "the sum of all loads is " + short_text(all) + ": there are no shares"};
    }
    for (double& each : sums.sum) {
        each = static_cast<double>(count) * each / all;
    }
    return {.load = std::move(sums.sum)};
}

SMDEBUG_INLINE expert_imbalance::dead_experts expert_imbalance::dead_among(const expert_loads& loads) const {
    dead_experts dead(loads.load.size());
    for (std::size_t i = 0; i < dead.size(); ++i) {
        if (loads.load[i] < dead_share) {
            dead[i] = true;
        }
    }
    return dead;
}

SMDEBUG_INLINE finding expert_imbalance::verdict_of(const expert_loads& loads, const dead_history& earlier) const {
    const std::vector<double>& load = loads.load;
    const auto count = static_cast<double>(load.size());
    const auto what = [&](std::size_t expert) {
        return "expert " + std::to_string(expert) + " of " + std::to_string(load.size()) + " has " +
               short_text(100 * load[expert] / count) + "% of the load, " + short_text(load[expert]) +
               " times its fair share";
    };
    const bool is_row = earlier.size() + 1 == static_cast<std::size_t>(patience);
    std::optional<std::size_t> dead;
    for (std::size_t i = 0; is_row && i < load.size(); ++i) {
        const bool is_least = load[i] < dead_share && (!dead || load[i] < load[*dead]);
        if (is_least && std::all_of(earlier.begin(), earlier.end(), [&](const auto& each) {
                return each.what.size() == load.size() && each.what[i];
            })) {
            dead = i;
        }
    }
    const std::string about_dead = dead
                                       ? what(*dead) + ", below " + short_text(dead_share) +
                                             (patience > 1 ? " in " + std::to_string(patience) + " saves in a row" : "")
                                       : std::string{};
    const auto greatest = static_cast<std::size_t>(std::max_element(load.begin(), load.end()) - load.begin());
    if (load[greatest] > threshold) {
        return {.met = true,
                .value = load[greatest],
                .threshold = threshold,
                .message = what(greatest) + ", above " + short_text(threshold) + (dead ? "; " + about_dead : "")};
    }
    return dead ? finding{.met = true, .value = load[*dead], .threshold = dead_share, .message = about_dead}
                : finding{};
}

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>
