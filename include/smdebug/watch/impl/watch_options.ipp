// The bodies of <smdebug/watch/watch_options.hpp>.
#pragma once

#include <smdebug/hook/reduction_plan.hpp>
#include <smdebug/watch/watch_options.hpp>

namespace smdebug {
inline namespace v1 {

SMDEBUG_INLINE void check(const watch_options& options) {
    check(options.save_config, "save_config");
    detail::check_patterns(options.include_regex, "include_regex");
    if (options.reduction_config && detail::make_reduction_plan(*options.reduction_config).empty()) {
        throw value_error("reduction_config names nothing that is to be kept: rules would see no tensor");
    }
    if (options.keep_steps < 1) {
        throw value_error("keep_steps is 0: the step at hand is one that rules look at");
    }
}

}  // namespace v1
}  // namespace smdebug
