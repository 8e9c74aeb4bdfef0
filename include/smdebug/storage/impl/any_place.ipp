// The bodies of <smdebug/storage/any_place.hpp>.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/storage/any_place.hpp>

namespace smdebug {
inline namespace v1 {

SMDEBUG_INLINE void any_claim::release() {
    if (inner_) {
        inner_->release();
    }
}

}  // namespace v1
}  // namespace smdebug
