// The bodies of <smdebug/rules/judge/closeness.hpp>.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/rules/judge/closeness.hpp>

#include <utility>

namespace smdebug {
inline namespace v1 {
namespace rules {
namespace detail {

SMDEBUG_INLINE bool tolerance::close(double value, double reference) const noexcept {
    const double apart = std::abs(value - reference);
    // An infinite reference allows everything by the formula, so a finite distance is asked for, too.
    return value == reference || (apart <= allowed(reference) && std::isfinite(apart)) ||
           (equal_nan && std::isnan(value) && std::isnan(reference));
}

SMDEBUG_INLINE void check_tolerance(std::string_view rule, const tolerance& within) {
    for (const auto& [name, value] : {std::pair{"rtol", within.rtol}, std::pair{"atol", within.atol}}) {
        if (!(value >= 0) || !std::isfinite(value)) {
            throw value_error(std::string{rule} + ": " + name + " is " + short_text(value) +
                              "; it must be a number that is not negative");
        }
    }
}

SMDEBUG_INLINE std::span<const double> widened(const tensor_value& tensor, std::size_t begin, std::size_t count,
                                               std::array<double, pair_block>& room) {
    if (tensor.type() == dtype::float64) {
        return tensor.elements<double>().subspan(begin, count);
    }
    visit_reals(tensor, [&]<class T>(std::span<const T> elements) {
        const T* const from = elements.data() + begin;
        for (std::size_t i = 0; i < count; ++i) {
            room[i] = to_double(from[i]);
        }
    });
    return std::span{room}.first(count);
}

SMDEBUG_INLINE bool surely_close(std::span<const double> values, std::span<const double> references, double rtol,
                                 double atol) noexcept {
    std::uint64_t far = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double beyond = std::abs(values[i] - references[i]) - (atol + rtol * std::abs(references[i]));
        far |= static_cast<std::uint64_t>(!(beyond <= 0));
    }
    return far == 0;
}

SMDEBUG_INLINE std::optional<std::size_t> first_difference(const tensor_value& values, const tensor_value& references,
                                                           const tolerance& within) {
    std::optional<std::size_t> found;
    for_each_pair_block(values, references,
                        [&](std::size_t begin, std::span<const double> value, std::span<const double> reference) {
                            if (detail::surely_close(value, reference, within.rtol, within.atol)) {
                                return true;
                            }
                            for (std::size_t i = 0; !found && i < value.size(); ++i) {
                                if (!within.close(value[i], reference[i])) {
                                    found = begin + i;
                                }
                            }
                            return !found;
                        });
    return found;
}

SMDEBUG_INLINE bool extrema_differ(double value, double reference, double abs_max, const tolerance& within) noexcept {
    constexpr double largest = std::numeric_limits<float>::max();
    const double a = std::clamp(value, -largest, largest);
    const double b = std::clamp(reference, -largest, largest);
    const double rounding = saved_reduction_error * (std::abs(a) + std::abs(b));
    return std::abs(a - b) > within.allowed(abs_max * (1 + saved_reduction_error)) + rounding;
}

SMDEBUG_INLINE comparison differing(std::string what, double value, double reference, double allowed) {
    return {.result = likeness::different,
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
