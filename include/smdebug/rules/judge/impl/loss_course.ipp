// The bodies of <smdebug/rules/judge/loss_course.hpp>.
#pragma once

#include <smdebug/core/json_text.hpp>
#include <smdebug/rules/judge/history.hpp>
#include <smdebug/rules/judge/loss_course.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules::detail {

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
