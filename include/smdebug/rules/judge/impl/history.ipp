// The bodies of <smdebug/rules/judge/history.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/float_kinds.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/rules/judge/history.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

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

SMDEBUG_INLINE void loss_course::add(step_number step, double loss, std::int64_t window) {
    if (step <= last_) {
        *this = loss_course{};
    }
    window_ = window;
    last_ = step;
    first_ = count_ == 0 ? loss : first_;
    first_sum_ += count_ < window ? loss : 0;
    ++count_;
    newest_.push_back(loss);
    if (newest_.size() > 4 * static_cast<std::size_t>(window)) {
        newest_.pop_front();
    }
}

SMDEBUG_INLINE std::optional<finding> loss_course::not_fallen(double diff_percent, double increase_percent) const {
    if (count_ == 0 || count_ < 2 * window_) {
        return std::nullopt;
    }
    const auto size = static_cast<double>(window_);
    const double before = first_sum_ / size;
    const double now = std::accumulate(newest_.end() - window_, newest_.end(), 0.0) / size;
    std::vector<double> differences(static_cast<std::size_t>(window_));  // there are more values than these
    std::transform(newest_.end() - window_, newest_.end(), newest_.end() - window_ - 1, differences.begin(),
                   std::minus<>{});
    const double deviation = robust_statistics_of(std::move(differences)).deviation;
    const double limit = std::max(diff_percent / 100 * std::abs(before), deviation / std::sqrt(size));
    const std::string mean =
        "the mean of the newest " + std::to_string(window_) + " losses, " + short_text(now) + ", is ";
    const auto met = [&](double fall, double least, const std::string& text) {
        return finding{.met = true, .value = fall, .threshold = least, .message = mean + text};
    };
    if (const double least = -increase_percent / 100 * std::abs(first_); first_ - now < least) {
        return met(first_ - now, least, "above the first loss, " + short_text(first_));
    }
    if (before - now < limit && first_ - now <= 3 * deviation) {
        return met(before - now, limit,
                   "not below that of the first, " + short_text(before) + ", by " + short_text(limit));
    }
    return std::nullopt;
}

SMDEBUG_INLINE bool loss_course::is_against(const loss_course& other) const {
    const std::size_t size = newest_.size();
    if (other.newest_.size() != size || other.last_ != last_ || this == &other) {
        return false;
    }
    if (size < 4 * static_cast<std::size_t>(window_)) {
        return true;
    }
    const auto mean = [size](double sum) { return sum / static_cast<double>(size); };
    const auto covariance = [&](const std::deque<double>& a, const std::deque<double>& b) {
        return mean(std::inner_product(a.begin(), a.end(), b.begin(), 0.0)) -
               mean(std::accumulate(a.begin(), a.end(), 0.0)) * mean(std::accumulate(b.begin(), b.end(), 0.0));
    };
    return covariance(newest_, other.newest_) <
           -0.2 * std::sqrt(covariance(newest_, newest_) * covariance(other.newest_, other.newest_));
}

}  // namespace smdebug::inline v1::rules::detail
#include <smdebug/core/strict_math/end.ipp>
