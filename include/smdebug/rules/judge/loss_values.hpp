// The losses of a run at a step: selects the tensors, reads their values, and separates training from validation; what
// the values of a loss say about its course.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/judge/saved_tensor.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/options.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules::detail {

/// The value of a tensor of one real element; nothing for tensors of other sizes, text and complex numbers.  If only
/// reductions were saved, and the shape has one element, the reductions are the value.
[[nodiscard]] lookup<std::optional<double>> scalar_at(const tensor_handle& tensor, step_number step,
                                                      const read_options& where);

/// The losses of a step, which are averaged.
struct mean_loss {
    double sum = 0;
    std::size_t count = 0;
    std::string tensor = {};  ///< its name; empty for several losses
    std::string worker = {};

    [[nodiscard]] double mean() const noexcept {
        return count == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(count);
    }
    void add(double value, const std::string& from, const std::string& by);
};

/// The training and validation losses at a step.
struct step_losses {
    mean_loss train = {};
    mean_loss validation = {};
    bool by_mode = true;              ///< a step has only one of them; false for XGBoost
    std::vector<finding> notes = {};  ///< losses that could not be read
};

/// The losses of a step, by its mode: TRAIN is training, EVAL validation, other modes have no losses.  In a run without
/// such modes the prefix of a name decides.  Without a regex the collection "losses", or "metrics", is used.  Only
/// scalars of the first worker by name count.
[[nodiscard]] step_losses losses_at(const trial& run, step_number step, const text_list& tensor_regex = {});

/// The course of one loss, judged by its first `window` values, and by the newest 4 * `window`.
class loss_course {
public:
    /// Adds a finite value.  A step that is not above the last one begins a new course.
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
    /// their newest values is below -0.2.  True also before there are 4 * window values, as it is not known until then.
    /// Losses that have not as many values, or not the same last step, are not against each other.
    [[nodiscard]] bool is_against(const loss_course& other) const;
    /// Whether not_fallen() can answer already, but is_against() does not know yet.
    [[nodiscard]] bool may_be_against() const noexcept { return count_ >= 2 * window_ && count_ < 4 * window_; }

    bool is_noted = false;  ///< set by the caller, once a note has said that the verdict waits for is_against()

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
#include <smdebug/rules/judge/impl/loss_values.ipp>
#endif
