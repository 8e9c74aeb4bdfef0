// The bodies of <smdebug/rules/judge/history.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/float_kinds.hpp>
#include <smdebug/core/json_text.hpp>
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

SMDEBUG_INLINE void require_choice(std::string_view rule, const text_list& collection_names,
                                   const text_list& tensor_regex) {
    if (collection_names.empty() && tensor_regex.empty()) {
        throw insufficient_information_for_rule_invocation(std::string{rule},
                                                           "collection_names or tensor_regex is needed");
    }
}

SMDEBUG_INLINE void check_range(std::string_view rule, std::string_view setting, double value,
                                const allowed_range& allowed) {
    const bool is_low = allowed.above_least ? !(value > allowed.least) : !(value >= allowed.least);
    if (!is_low && value <= allowed.most && is_finite(value)) {
        return;
    }
    std::string text = std::string{rule} + ": " + std::string{setting} + " is " + short_text(value) + "; it must be ";
    if (is_infinite(allowed.most)) {
        text += (allowed.above_least ? "a number above " : "a number of at least ") + short_text(allowed.least);
    } else {
        text += "from " + short_text(allowed.least) + " to " + short_text(allowed.most);
    }
    throw value_error(std::move(text));
}

SMDEBUG_INLINE void check_history(std::string_view rule, std::int64_t window,
                                  const std::optional<std::int64_t>& min_history) {
    check_range(rule, "window", window, {.least = 1});
    if (min_history) {
        check_range(rule, "min_history", *min_history, {.least = 1, .most = static_cast<double>(window)});
    }
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
    const double median = median_of(numbers);
    for (double& each : numbers) {
        each = std::abs(each - median);
    }
    return {median, deviations_of_median * median_of(numbers)};
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
