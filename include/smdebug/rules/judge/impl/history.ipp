// The bodies of <smdebug/rules/judge/history.hpp>.
#pragma once

#include <smdebug/core/float_kinds.hpp>
#include <smdebug/rules/judge/history.hpp>

#include <algorithm>
#include <cmath>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules::detail {

SMDEBUG_INLINE tensor_choice choice_or(const text_list& collection_names, const text_list& tensor_regex,
                                       std::string_view collection) {
    if (collection_names.empty() && tensor_regex.empty() && !collection.empty()) {
        return {.collection_names = collection};
    }
    return {collection_names, tensor_regex};
}

/// The middle of some numbers, or half the sum of the two middle ones; orders them.
[[nodiscard]] inline double median_of(std::vector<double>& numbers) {
    const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
    std::nth_element(numbers.begin(), middle, numbers.end());
    if (numbers.size() % 2 != 0) {
        return *middle;
    }
    const double below = *std::max_element(numbers.begin(), middle);
    const double sum = below + *middle;
    return is_finite(sum) ? sum / 2 : below / 2 + *middle / 2;
}

SMDEBUG_INLINE robust_statistics robust_statistics_of(std::vector<double> numbers) {
    if (numbers.empty()) {
        return {};
    }
    constexpr double deviations_of_median = 1.4826;  // of a normal distribution
    const double largest = *std::max_element(numbers.begin(), numbers.end());
    const double median = median_of(numbers);
    for (double& each : numbers) {
        each = std::abs(each - median);
    }
    return {median, deviations_of_median * median_of(numbers), largest};
}

SMDEBUG_INLINE std::optional<robust_statistics> usual_numbers(const std::deque<number_history::entry>& earlier,
                                                              const std::optional<std::int64_t>& min_history,
                                                              std::int64_t window) {
    if (earlier.size() < static_cast<std::size_t>(min_history.value_or(std::min<std::int64_t>(10, window)))) {
        return std::nullopt;
    }
    std::vector<double> numbers;
    for (const number_history::entry& each : earlier) {
        numbers.push_back(each.what);
    }
    return robust_statistics_of(std::move(numbers));
}

}  // namespace smdebug::inline v1::rules::detail
#include <smdebug/core/strict_math/end.ipp>
