// The bodies of <smdebug/rules/built_in/gradient_spike.hpp>.
#pragma once

#include <smdebug/core/float_kinds.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/core/text_hash.hpp>
#include <smdebug/rules/built_in/gradient_spike.hpp>
#include <smdebug/rules/judge/check_settings.hpp>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules {

SMDEBUG_INLINE void gradient_spike::check() const {
    detail::check_history(name(), window, min_history);
    detail::check_range(name(), "ratio", ratio, {.least = 1});
    detail::check_range(name(), "z_threshold", z_threshold);
    detail::check_range(name(), "above_largest", above_largest);
    detail::check_range(name(), "top", top, {.least = 1});
}

SMDEBUG_INLINE void gradient_spike::history::see(step_number step) {
    constexpr std::size_t most = 1U << 16U;  // an older step is read again, should a set of tensors come back
    if (seen_.size() == most) {
        seen_.erase(seen_.begin(), seen_.begin() + most / 2);
    }
    seen_.push_back(step);
}

SMDEBUG_INLINE void gradient_spike::sum_up(all_gradients& gradients) {
    double squares = 0;
    double largest = 0;
    for (const gradient& each : gradients.tensors) {
        constexpr std::uint64_t odd = 0x9E3779B97F4A7C15;  // the golden ratio: mixes the order in
        gradients.names = (gradients.names ^ smdebug::detail::text_hash{}(each.name)) * odd;
        gradients.names ^= gradients.names >> 32U;
        squares += each.norm * each.norm;
        largest = std::max(largest, each.norm);
    }
    gradients.norm = std::sqrt(squares);
    constexpr double least_square = 1e-280;  // below it squares lose digits
    if (is_finite(largest) && largest > 0 && (is_infinite(squares) || squares < least_square)) {
        double scaled = 0;
        for (const gradient& each : gradients.tensors) {
            scaled += each.norm / largest * (each.norm / largest);
        }
        gradients.norm = largest * std::sqrt(scaled);
    }
}

SMDEBUG_INLINE gradient_spike::verdict gradient_spike::verdict_of(const all_gradients& gradients,
                                                                  const std::deque<history::of_set::entry>& earlier,
                                                                  double newest, const std::string& newest_step) const {
    if (!is_finite(gradients.norm)) {
        return non_finite && is_finite(newest)
                   ? verdict_about(gradients, std::numeric_limits<double>::quiet_NaN(),
                                   "the norm of all gradients is no longer finite: " + short_text(gradients.norm) +
                                       ", after " + short_text(newest) + " at " + newest_step + "; norms: ")
                   : verdict{};
    }
    const auto usual = detail::usual_numbers(earlier, min_history, window);
    if (!usual) {
        return {};
    }
    const double bound = std::max({ratio * usual->median, usual->median + z_threshold * usual->deviation,
                                   usual->median + above_largest * (usual->largest - usual->median)});
    if (!(usual->median > 0 && gradients.norm > bound)) {
        return {};
    }
    return verdict_about(gradients, bound,
                         "the norm of all gradients is " + short_text(gradients.norm) + ", " +
                             short_text(gradients.norm / usual->median) + " times " + short_text(usual->median) +
                             ", the median of its last " + std::to_string(earlier.size()) + " values; the limit was " +
                             short_text(bound) + "; largest shares: ");
}

SMDEBUG_INLINE gradient_spike::verdict gradient_spike::verdict_about(const all_gradients& gradients, double threshold,
                                                                     std::string message) const {
    std::vector<const gradient*> by_size;
    for (const gradient& each : gradients.tensors) {
        by_size.push_back(&each);
    }
    // Those that are not finite first; equal ones by name.
    std::stable_sort(by_size.begin(), by_size.end(), [](const gradient* a, const gradient* b) {
        const bool finite = is_finite(a->norm);
        return finite != is_finite(b->norm) ? !finite : finite && a->norm > b->norm;
    });
    for (std::size_t i = 0; i < by_size.size() && i < static_cast<std::size_t>(top); ++i) {
        const double share = by_size[i]->norm / gradients.norm;
        const double percent = 100 * share * share;
        message += (i == 0 ? "" : ", ") + by_size[i]->name + " ";
        message += is_finite(gradients.norm) ? short_text(percent < 1 ? percent : std::round(percent)) + "%"
                                             : short_text(by_size[i]->norm);
    }
    return {by_size.front(), threshold, std::move(message)};
}

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>
