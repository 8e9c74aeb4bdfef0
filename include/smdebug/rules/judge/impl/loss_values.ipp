// The bodies of <smdebug/rules/judge/loss_values.hpp>.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/rules/judge/history.hpp>
#include <smdebug/rules/judge/loss_values.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules::detail {

SMDEBUG_INLINE lookup<std::optional<double>> scalar_at(const tensor_handle& tensor, step_number step,
                                                       const read_options& where) {
    const auto values = tensor.find_value(step, value_options{.mode = where.mode, .worker = where.worker});
    if (values) {
        return has_reals(values->type()) && values->size() == 1 ? std::optional{reals_of(*values)[0]} : std::nullopt;
    }
    const lookup_error missing = values.error();
    if (missing.why != lookup_failure_kind::tensor_not_saved) {
        return missing;
    }
    const auto shape = tensor.find_shape(step, where);
    if (!shape) {
        return missing;
    }
    if (element_count(*shape) != 1U) {
        return std::optional<double>{};
    }
    for (const reduction what : {reduction::mean, reduction::sum, reduction::max, reduction::min}) {
        const auto found =
            tensor.find_reduction(step, what, reduction_options{.mode = where.mode, .worker = where.worker});
        if (found) {
            return std::optional{*found};
        }
        if (is_lost(found.error())) {
            return found.error();
        }
    }
    return missing;
}

/// Whether a run separates training and validation by modes.  XGBoost's does not: every step has tensors for both,
/// named train... and validation..., in the collection "metrics".
[[nodiscard]] inline bool has_phases(const trial& run, step_number step) {
    const auto in = run.mode(step);
    return in == mode::train || in == mode::eval || has_steps_of(run, mode::train) || has_steps_of(run, mode::eval);
}

SMDEBUG_INLINE step_losses losses_at(const trial& run, step_number step, const text_list& tensor_regex) {
    step_losses losses;
    const bool by_mode = losses.by_mode = has_phases(run, step);
    const auto in = run.mode(step);
    if (by_mode && in != mode::train && in != mode::eval) {
        return losses;
    }
    const auto mean_of = [&](std::string_view name) -> mean_loss* {
        if (by_mode) {
            return in == mode::train ? &losses.train : &losses.validation;
        }
        return name.starts_with("train") ? &losses.train
                                         : (name.starts_with("validation") ? &losses.validation : nullptr);
    };
    tensor_choice which{.tensor_regex = tensor_regex};
    if (tensor_regex.empty()) {
        which.collection_names = by_mode ? "losses" : "metrics";
    }
    losses.notes = judge_each(run, step, which, false, [&](const saved_tensor& tensor) {
        mean_loss* const mean = mean_of(tensor.name());
        if (mean == nullptr) {
            return finding{};
        }
        const auto value = scalar_at(tensor.handle(), step, read_options{.worker = tensor.worker()});
        if (!value) {
            return tensor.note(value.error());
        }
        if (value->has_value()) {
            mean->add(**value, tensor.name(), tensor.worker());
        }
        return finding{};
    });
    return losses;
}

SMDEBUG_INLINE void mean_loss::add(double value, const std::string& from, const std::string& by) {
    sum += value;
    ++count;
    tensor = count == 1 ? from : std::string{};
    worker = count == 1 ? by : std::string{};
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
