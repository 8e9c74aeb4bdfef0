// The bodies of <smdebug/rules/built_in/nlp_sequence_ratio.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/rules/built_in/nlp_sequence_ratio.hpp>

namespace smdebug {
inline namespace v1 {
namespace rules {

SMDEBUG_INLINE void nlp_sequence_ratio::check() const {
    const auto refuse = [](const std::string& why) { throw value_error("nlp_sequence_ratio: " + why); };
    if (tensor_regex.empty()) {
        throw insufficient_information_for_rule_invocation{"nlp_sequence_ratio", "tensor_regex names no tensors"};
    }
    if (token_values.empty()) {
        refuse("token_values is empty; it must name at least one token");
    }
    if (token_thresholds_percent.size() != 1 && token_thresholds_percent.size() < token_values.size()) {
        refuse("token_thresholds_percent has " + std::to_string(token_thresholds_percent.size()) + " numbers for the " +
               std::to_string(token_values.size()) +
               " tokens of token_values; it must have one, or one for each token");
    }
    for (const double token : token_values) {
        if (!std::isfinite(token)) {
            refuse("token_values has " + short_text(token) + "; tokens must be finite numbers");
        }
    }
    for (const double percent : token_thresholds_percent) {
        if (!(percent >= 0 && percent <= 100)) {
            refuse("token_thresholds_percent has " + short_text(percent) + "; percents must be from 0 to 100");
        }
    }
}

}  // namespace rules
}  // namespace v1
}  // namespace smdebug
