// Labels and predictions as the numbers of categories: what has fractions, such as probabilities, is none.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/float_kinds.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/core/step.hpp>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules::detail {

/// Errors: tensor_unavailable_for_step, at which a rule skips the step, if a number is finite and not whole; `hint`
/// ends its message.
inline void require_whole_numbers(const std::vector<double>& values, const std::string& tensor, step_number step,
                                  std::string_view hint = {}) {
    for (const double value : values) {
        if (is_finite(value) && value != std::trunc(value)) {
            throw tensor_unavailable_for_step(
                tensor, step, mode::global, false,
                "as the number of a category, as " + short_text(value) + " is not whole." + std::string{hint});
        }
    }
}

}  // namespace smdebug::inline v1::rules::detail
#include <smdebug/core/strict_math/end.ipp>
