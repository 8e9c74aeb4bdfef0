// The bodies of <smdebug/rules/judge/closeness.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/rules/judge/closeness.hpp>

#include <utility>

namespace smdebug {
inline namespace v1 {
namespace rules {
namespace detail {

SMDEBUG_INLINE void check_tolerance(std::string_view rule, const tolerance& within) {
    for (const auto& [name, value] : {std::pair{"rtol", within.rtol}, std::pair{"atol", within.atol}}) {
        if (!(value >= 0) || !std::isfinite(value)) {
            throw value_error(std::string{rule} + ": " + name + " is " + short_text(value) +
                              "; it must be a number that is not negative");
        }
    }
}

SMDEBUG_INLINE bool extrema_differ(double value, double reference, double abs_max, const tolerance& within) noexcept {
    constexpr double largest = std::numeric_limits<float>::max();
    const double a = std::clamp(value, -largest, largest);
    const double b = std::clamp(reference, -largest, largest);
    const double rounding = saved_reduction_error * (std::abs(a) + std::abs(b));
    return std::abs(a - b) > within.allowed(abs_max * (1 + saved_reduction_error)) + rounding;
}

SMDEBUG_INLINE comparison differing(std::string what, double value, double reference, double allowed) {
    return {.alike = likeness::different,
            .what = std::move(what),
            .value = short_text(value),
            .reference = short_text(reference),
            .apart = std::abs(value - reference),
            .allowed = allowed};
}

}  // namespace detail
}  // namespace rules
}  // namespace v1
}  // namespace smdebug
