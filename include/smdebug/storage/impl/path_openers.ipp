// The body of <smdebug/storage/path_openers.hpp>.
#pragma once

#include <smdebug/storage/path_openers.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE path_openers& known_openers() noexcept {
    static constinit path_openers known;
    return known;
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
