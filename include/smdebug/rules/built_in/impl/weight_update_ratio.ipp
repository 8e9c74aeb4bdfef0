// The bodies of <smdebug/rules/built_in/weight_update_ratio.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/reduce/difference_norms.hpp>
#include <smdebug/rules/built_in/weight_update_ratio.hpp>

namespace smdebug {
inline namespace v1 {
namespace rules {
SMDEBUG_INLINE double update_ratio(const tensor_view& before, const tensor_view& now, double epsilon,
                                   update_norm norm) {
    if (norm == update_norm::mean_of_ratios) {
        return reduce::detail::mean_relative_difference(before, now, epsilon);
    }
    const auto norms = norm == update_norm::l2 ? reduce::detail::l2_of_difference(before, now)
                                               : reduce::detail::mean_abs_of_difference(before, now);
    return norms.difference / (norms.first + epsilon);
}

SMDEBUG_INLINE detail::update_comparison::answer detail::update_comparison::operator()(const tensor_view& before,
                                                                                       const tensor_view& now) const {
    const auto is_comparable = [](const tensor_view& each) { return has_reals(each.type) && each.count() > 0; };
    if (!is_comparable(before) || !is_comparable(now)) {
        return {};
    }
    if (!std::ranges::equal(before.shape, now.shape)) {
        return {.comparable = true};
    }
    return {update_ratio(before, now, epsilon, norm), true, true};
}

SMDEBUG_INLINE void weight_update_ratio::check() const {
    if (num_steps && *num_steps < 1) {
        refuse("num_steps", std::to_string(*num_steps), "at least 1");
    }
    if (!(epsilon >= 0) || !std::isfinite(epsilon)) {
        refuse("epsilon", short_text(epsilon), "a number that is not negative");
    }
    if (std::isnan(large_threshold)) {
        refuse("large_threshold", "NaN", "a number");
    }
    if (!(small_threshold <= large_threshold)) {
        refuse("small_threshold", short_text(small_threshold),
               "at most large_threshold, " + short_text(large_threshold));
    }
}

SMDEBUG_INLINE void weight_update_ratio::refuse(std::string_view setting_name, const std::string& value,
                                                const std::string& allowed) {
    throw value_error("weight_update_ratio: " + std::string{setting_name} + " is " + value + "; it must be " + allowed);
}

}  // namespace rules
}  // namespace v1
}  // namespace smdebug
