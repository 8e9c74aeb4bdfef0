// The bodies of <smdebug/record/payload_check.hpp>.
#pragma once

#include <smdebug/record/crc32c.hpp>
#include <smdebug/record/payload_check.hpp>

namespace smdebug::inline v1::record {

static_assert(package_footer == crc32c::mask(crc32c::value(package_footer_text)));

SMDEBUG_INLINE void payload_check::pass_until(std::size_t end) noexcept {
    if (end > passed_) {
        crc_ = crc32c::extend(crc_, payload_.subspan(passed_, end - passed_));
        passed_ = end;
    }
}

SMDEBUG_INLINE bool payload_check::matches() noexcept {
    pass_until(payload_.size());
    return crc32c::mask(crc_) == footer_;
}

}  // namespace smdebug::inline v1::record
