// The bodies of <smdebug/rules/built_in/poor_weight_initialization.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/float_kinds.hpp>
#include <smdebug/reduce/quantiles.hpp>
#include <smdebug/rules/built_in/poor_weight_initialization.hpp>
#include <smdebug/rules/judge/check_settings.hpp>
#include <smdebug/tensor/tensor_value.hpp>

#include <cstring>
#include <span>
#include <utility>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules {

namespace detail {

template <class Lazy>
double quantile_width::operator()(const tensor_view& values) const {
    if (!has_reals(values.type) || values.count() < 2) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    if (is_surely_enough(values)) {
        return std::numeric_limits<double>::infinity();
    }
    const auto ends = quantiles<Lazy>(values, between);
    return ends.ok() ? (*ends)[1] - (*ends)[0] : std::numeric_limits<double>::quiet_NaN();
}
#ifdef SMDEBUG_COMPILED
template double quantile_width::operator()<void>(const tensor_view& values) const;
#endif

SMDEBUG_INLINE bool quantile_width::is_surely_enough(const tensor_view& values) const {
    constexpr std::size_t samples = 256;
    constexpr std::size_t block = 1024;
    const std::size_t count = values.bytes.size() / sizeof(float);
    if (values.type != dtype::float32 || count < 2 * samples) {
        return false;
    }
    const std::byte* const bytes = values.bytes.data();
    const auto load = [bytes](std::size_t i) {  // at any alignment
        float element = 0;
        std::memcpy(&element, bytes + i * sizeof(float), sizeof(float));
        return element;
    };
    std::array<float, samples> some{};
    for (std::size_t i = 0; i < samples; ++i) {
        some[i] = load(i * (count / samples));
        if (!is_finite(some[i])) {
            return false;
        }
    }
    std::sort(some.begin(), some.end());
    const float low = some[samples / 4];
    const float high = some[samples - samples / 4];
    // Twice: interpolation rounds.
    if (!(static_cast<double>(high) - static_cast<double>(low) > 2 * enough)) {
        return false;
    }
    const auto wanted = [count](double share) {
        return static_cast<std::size_t>(share * static_cast<double>(count)) + 3;
    };
    const std::size_t below_wanted = wanted(between[0]);
    const std::size_t above_wanted = wanted(1 - between[1]);
    std::size_t below = 0;
    std::size_t above = 0;
    for (std::size_t i = 0; i < count && (below < below_wanted || above < above_wanted);) {
        std::uint32_t below_here = 0;
        std::uint32_t above_here = 0;
        for (const std::size_t end = std::min(count, i + block); i < end; ++i) {
            const float element = load(i);
            below_here += element <= low ? 1U : 0U;
            above_here += element >= high ? 1U : 0U;
        }
        below += below_here;
        above += above_here;
    }
    return below >= below_wanted && above >= above_wanted;
}

}  // namespace detail

SMDEBUG_INLINE void poor_weight_initialization::check() const {
    detail::check_range(name(), "threshold", threshold, {.infinite = true});
    detail::check_range(name(), "distribution_range", distribution_range, {.infinite = true});
    detail::check_range(name(), "patience", patience, {.least = 1});
    detail::check_range(name(), "steps", steps, {.least = 1, .infinite = true});
}

SMDEBUG_INLINE finding poor_weight_initialization::met(const measured& what, double value, double limit,
                                                       std::string message) {
    return {.met = true,
            .tensor = what.tensor,
            .worker = what.worker,
            .value = value,
            .threshold = limit,
            .message = std::move(message)};
}

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>
