// What the values of a loss say about its course: whether it has fallen, and whether it moves against another loss.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/rules/finding.hpp>

#include <cstdint>
#include <deque>
#include <optional>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules::detail {

/// The first `window` finite values of a loss and four times as many of the newest, and what they say.
class loss_course {
public:
    /// A value that is given again, or of an earlier step, begins anew.
    void add(step_number step, double loss, std::int64_t window);

    [[nodiscard]] std::int64_t count() const noexcept { return count_; }

    /// The finding that the loss has not fallen, if it has not; nothing before there are 2 * window values.  It has not
    /// if the mean of the newest `window`
    ///  - is above the very first value by more than `increase_percent`; or
    ///  - is not below the mean of the first `window` by `diff_percent` and by the noise, and not below the very first
    ///    value by 3 robust deviations of the differences of neighbours: a loss may fall at once, and then stay.
    /// The noise is the standard error of such a difference of means, by the same deviation.
    [[nodiscard]] std::optional<finding> not_fallen(double diff_percent, double increase_percent) const;

    /// Whether two losses move against each other, as those of a generator and its discriminator do: the correlation of
    /// their newest values, of the same steps, is below -0.2; before there are 4 * window, they may:
    /// may_be_against(), from where not_fallen() could answer.
    [[nodiscard]] bool is_against(const loss_course& other) const;
    [[nodiscard]] bool may_be_against() const noexcept { return count_ >= 2 * window_ && count_ < 4 * window_; }

    bool is_noted = false;  ///< the caller has said that it is not judged before then

private:
    std::int64_t window_ = 0;
    std::int64_t count_ = 0;
    step_number last_ = -1;
    double first_ = 0;
    double first_sum_ = 0;  // of the first `window_`
    std::deque<double> newest_;
};

}  // namespace smdebug::inline v1::rules::detail
#include <smdebug/core/strict_math/end.ipp>

#ifndef SMDEBUG_COMPILED
#include <smdebug/rules/judge/impl/loss_course.ipp>
#endif
