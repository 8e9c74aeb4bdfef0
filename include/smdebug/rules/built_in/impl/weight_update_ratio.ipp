// The bodies of <smdebug/rules/built_in/weight_update_ratio.hpp>.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/rules/built_in/weight_update_ratio.hpp>

#include <span>

namespace smdebug {
inline namespace v1 {
namespace rules {
namespace detail {

SMDEBUG_INLINE double lane_sum::total() const noexcept {
    double sum = 0;
    for (const double each : sums_) {
        sum += each;
    }
    return sum;
}

SMDEBUG_INLINE update_norms scaled_norms(const tensor_value& before, const tensor_value& now, double scale) {
    lane_sum update;
    lane_sum weights;
    for_each_pair_block(before, now, [&](std::size_t, std::span<const double> was, std::span<const double> is) {
        const auto squared = [scale](double value) { return value * scale * (value * scale); };
        update.add(was.size(), [&](std::size_t i) { return squared(is[i] - was[i]); });
        weights.add(was.size(), [&](std::size_t i) { return squared(was[i]); });
        return true;
    });
    return {std::sqrt(update.total()) / scale, std::sqrt(weights.total()) / scale};
}

SMDEBUG_INLINE update_norms norms_of_update(const tensor_value& before, const tensor_value& now) {
    update_norms found = scaled_norms(before, now, 1);
    if (before.type() != dtype::float64 && now.type() != dtype::float64) {
        return found;
    }
    // Squares of doubles may leave their range where the doubles did not.
    constexpr double smallest = 1e-140;
    if (std::isinf(found.update) || std::isinf(found.weights)) {
        const update_norms scaled = scaled_norms(before, now, 1e-200);
        found.update = std::isinf(found.update) ? scaled.update : found.update;
        found.weights = std::isinf(found.weights) ? scaled.weights : found.weights;
    }
    if (found.update < smallest || found.weights < smallest) {
        const update_norms scaled = scaled_norms(before, now, 1e200);
        found.update = found.update < smallest ? scaled.update : found.update;
        found.weights = found.weights < smallest ? scaled.weights : found.weights;
    }
    return found;
}

}  // namespace detail

SMDEBUG_INLINE double update_ratio(const tensor_value& before, const tensor_value& now, double epsilon,
                                   update_norm norm) {
    if (norm == update_norm::l2) {
        const detail::update_norms norms = detail::norms_of_update(before, now);
        return norms.update / (norms.weights + epsilon);
    }
    detail::lane_sum update;
    detail::lane_sum weights;
    detail::lane_sum ratios;
    detail::for_each_pair_block(before, now, [&](std::size_t, std::span<const double> was, std::span<const double> is) {
        if (norm == update_norm::mean_abs) {
            update.add(was.size(), [&](std::size_t i) { return std::abs(is[i] - was[i]); });
            weights.add(was.size(), [&](std::size_t i) { return std::abs(was[i]); });
        } else {
            ratios.add(was.size(),
                       [&](std::size_t i) { return std::abs(is[i] - was[i]) / (std::abs(was[i]) + epsilon); });
        }
        return true;
    });
    const double count = static_cast<double>(before.size());
    return norm == update_norm::mean_abs ? update.total() / count / (weights.total() / count + epsilon)
                                         : ratios.total() / count;
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
