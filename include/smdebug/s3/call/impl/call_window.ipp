// The bodies of <smdebug/s3/call/call_window.hpp>.
#pragma once

#include <smdebug/s3/call/call_window.hpp>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

SMDEBUG_INLINE bool call_result::is_missing() const noexcept {
    return !good && answer.answered() && answer.status == 404 && said.code != "NoSuchBucket" &&
           said.code != "NoSuchUpload";
}

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug
