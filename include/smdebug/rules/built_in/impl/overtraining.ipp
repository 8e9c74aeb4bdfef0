// The bodies of <smdebug/rules/built_in/overtraining.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/rules/built_in/overtraining.hpp>

#include <cmath>
#include <string>

namespace smdebug {
inline namespace v1 {
namespace rules {

SMDEBUG_INLINE void overtraining::history::course::add(double loss, double better_by) {
    seen = true;
    if (best ? loss < *best - better_by : !std::isnan(loss)) {
        best = loss;
        count = 0;
    } else {
        ++count;
    }
}

SMDEBUG_INLINE void overtraining::check() const {
    for (const auto& [setting_name, value] :
         {std::pair{"patience_train", patience_train}, std::pair{"patience_validation", patience_validation}}) {
        if (value < 1) {
            throw value_error(std::string{"overtraining: "} + setting_name + " is " + std::to_string(value) +
                              "; it must be at least 1");
        }
    }
    if (!(delta >= 0) || !std::isfinite(delta)) {
        throw value_error("overtraining: delta is " + short_text(delta) + "; it must be a number that is not negative");
    }
}

SMDEBUG_INLINE bool overtraining::is_over() const noexcept {
    const bool train = so_far.train_.count >= patience_train;
    const bool validation = so_far.validation_.count >= patience_validation;
    return so_far.train_.seen && so_far.validation_.seen &&
           (when == detail::patience_rule::both ? train && validation : train || validation);
}

SMDEBUG_INLINE finding overtraining::met(const detail::mean_loss& now) const {
    const auto course_of = [](const auto& course) {
        return std::to_string(course.count) + " steps" +
               (course.best ? " (the best was " + short_text(*course.best) + ")" : std::string{});
    };
    const bool by_train = when == detail::patience_rule::both || so_far.train_.count >= patience_train;
    return {.met = true,
            .tensor = now.tensor,
            .worker = now.worker,
            .value = static_cast<double>(by_train ? so_far.train_.count : so_far.validation_.count),
            .threshold = static_cast<double>(by_train ? patience_train : patience_validation),
            .message = "the training loss has not got better for " + course_of(so_far.train_) +
                       ", the validation loss not for " + course_of(so_far.validation_)};
}

}  // namespace rules
}  // namespace v1
}  // namespace smdebug
