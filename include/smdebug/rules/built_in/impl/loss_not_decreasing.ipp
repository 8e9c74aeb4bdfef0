// The bodies of <smdebug/rules/built_in/loss_not_decreasing.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/rules/built_in/loss_not_decreasing.hpp>
#include <smdebug/rules/concepts.hpp>

namespace smdebug {
inline namespace v1 {
namespace rules {

SMDEBUG_INLINE void loss_not_decreasing::check() const {
    if (collection_names.empty() && tensor_regex.empty() && !use_losses_collection) {
        throw insufficient_information_for_rule_invocation(
            std::string{name()}, "collection_names, tensor_regex or use_losses_collection is needed");
    }
    const std::string rule = "loss_not_decreasing: ";
    if (num_steps < 1) {
        throw value_error(rule + "num_steps is " + std::to_string(num_steps) + "; it must be at least 1");
    }
    for (const auto& [setting_name, value] : {std::pair{"diff_percent", diff_percent},
                                              std::pair{"increase_threshold_percent", increase_threshold_percent}}) {
        if (!(value >= 0)) {
            throw value_error(rule + setting_name + " is " + short_text(value) +
                              "; it must be a number that is not negative");
        }
    }
    if (mode == smdebug::mode::predict) {
        throw value_error(rule + "mode is PREDICT; it must be EVAL, TRAIN or GLOBAL");
    }
}

}  // namespace rules
}  // namespace v1
}  // namespace smdebug
