// The bodies of <smdebug/rules/judge/loss_values.hpp>.
#pragma once

#include <smdebug/rules/judge/loss_values.hpp>

namespace smdebug {
inline namespace v1 {
namespace rules {
namespace detail {

SMDEBUG_INLINE void mean_loss::add(double value, const std::string& from, const std::string& by) {
    sum += value;
    ++count;
    tensor = count == 1 ? from : std::string{};
    worker = count == 1 ? by : std::string{};
}

}  // namespace detail
}  // namespace rules
}  // namespace v1
}  // namespace smdebug
