// The bodies of <smdebug/rules/built_in/feature_importance_overweight.hpp>.
#pragma once

#include <smdebug/rules/built_in/feature_importance_overweight.hpp>

#include <algorithm>
#include <utility>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules {

SMDEBUG_INLINE void feature_importance_overweight::check() const {
    detail::check_range(name(), "threshold", threshold, {.most = 1});
    detail::check_range(name(), "nfeatures", nfeatures, {.least = 1});
    detail::require_setting(name(), !tensor_regex.empty(), "tensor_regex");
}

SMDEBUG_INLINE std::optional<finding> feature_importance_overweight::judge(std::vector<importance> all) const {
    if (all.empty() || std::any_of(all.begin(), all.end(), [](const auto& one) { return is_nan(one.value); })) {
        return std::nullopt;
    }
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.value > b.value; });
    const std::size_t counted = std::min(all.size(), static_cast<std::size_t>(std::max<std::int64_t>(nfeatures, 0)));
    double sum = 0;  // in one order for both sums, so that all features add up to exactly 1
    double largest = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        sum += all[i].value;
        largest = i < counted ? sum : largest;
    }
    const double share = largest / sum;
    if (!(sum > 0) || !(share > threshold)) {
        return std::nullopt;
    }
    return finding{.met = true,
                   .tensor = all[0].tensor,
                   .worker = all[0].worker,
                   .value = share,
                   .threshold = threshold,
                   .message = "the largest " + std::to_string(counted) + " of " + std::to_string(all.size()) +
                              " feature importances make up " + short_text(share) + " of their sum, more than " +
                              short_text(threshold)};
}

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>
