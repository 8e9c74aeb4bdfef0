// The bodies of <smdebug/rules/built_in/tree_depth.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/rules/built_in/tree_depth.hpp>

namespace smdebug {
inline namespace v1 {
namespace rules {

SMDEBUG_INLINE void tree_depth::check() const {
    if (!(depth >= 0)) {
        throw value_error("tree_depth: depth is " + short_text(depth) + "; it must be a number that is not below 0");
    }
}

}  // namespace rules
}  // namespace v1
}  // namespace smdebug
