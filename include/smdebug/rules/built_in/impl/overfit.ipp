// The bodies of <smdebug/rules/built_in/overfit.hpp>.
#pragma once

#include <smdebug/rules/built_in/overfit.hpp>
#include <smdebug/rules/judge/check_settings.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules {

SMDEBUG_INLINE void overfit::check() const {
    detail::check_range(name(), "start_step", start_step);
    detail::check_range(name(), "patience", patience, {.least = 1});
    detail::check_range(name(), "rise", rise, {.infinite = true});
    detail::check_range(name(), "ratio_threshold", ratio_threshold, detail::any_number);
}

SMDEBUG_INLINE std::optional<finding> overfit::judge_phases(const detail::step_losses& now) {
    const bool training = now.train.count > 0;
    if (!training && now.validation.count == 0) {
        return std::nullopt;
    }
    const smdebug::mode in = training ? mode::train : mode::eval;
    detail::mean_loss& mean = training ? so_far.train_ : so_far.validation_;
    if (so_far.phase_ != in && window == loss_window::phase) {
        mean = {};
    }
    so_far.phase_ = in;
    const detail::mean_loss& loss = training ? now.train : now.validation;
    mean.add(loss.mean(), loss.tensor, loss.worker);
    if (training) {
        return std::nullopt;
    }
    detail::mean_loss validation = so_far.validation_;
    validation.tensor = loss.tensor;
    validation.worker = loss.worker;
    return judge_both(so_far.train_, validation);
}

SMDEBUG_INLINE std::optional<finding> overfit::judge_both(const detail::mean_loss& train,
                                                          const detail::mean_loss& validation) {
    if (train.count == 0 || validation.count == 0) {
        return std::nullopt;
    }
    const double t = train.mean();
    const double v = validation.mean();
    const double ratio = t == 0 ? (v > 0 ? std::numeric_limits<double>::infinity() : 0) : (v - t) / std::abs(t);
    so_far.least_ = std::min(so_far.least_, v);
    const bool rose = !rise || v > so_far.least_ + *rise * std::abs(so_far.least_);
    so_far.count_ = ratio > ratio_threshold && rose ? so_far.count_ + 1 : 0;
    if (so_far.count_ < patience) {
        return std::nullopt;
    }
    std::string message = "the validation loss " + short_text(v) + " is " + short_text(100 * ratio) +
                          "% above the training loss " + short_text(t);
    if (so_far.count_ > 1) {
        message += ", for " + std::to_string(so_far.count_) + " validation steps in a row";
    }
    return finding{.met = true,
                   .tensor = validation.tensor,
                   .worker = validation.worker,
                   .value = ratio,
                   .threshold = ratio_threshold,
                   .message = std::move(message)};
}

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>
