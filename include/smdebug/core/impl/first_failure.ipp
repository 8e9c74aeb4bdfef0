// The bodies of <smdebug/core/first_failure.hpp>.
#pragma once

#include <smdebug/core/first_failure.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE void first_failure::rethrow() const {
    if (what_) {
        std::rethrow_exception(what_);
    }
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
