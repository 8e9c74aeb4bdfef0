// A call to S3 that came to nothing, as one error: what was asked, where, what the server said, and what to do.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/s3/call/call.hpp>
#include <smdebug/s3/call/call_window.hpp>
#include <smdebug/s3/call/content_range.hpp>
#include <smdebug/s3/call/error_answer.hpp>
#include <smdebug/s3/call/same_service.hpp>
#include <smdebug/s3/location.hpp>
#include <smdebug/s3/object/object_checksum.hpp>

#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

/// "503 SlowDown (request id X): Please reduce your request rate"
[[nodiscard]] std::string answer_text(const call_result& failed);

/// What to do about an answer that forbids it.
[[nodiscard]] std::string_view advice_when_denied(std::string_view code) noexcept;

/// What to do where there is no way to the server.
[[nodiscard]] std::string advice_when_unreachable(std::string_view server);

/// Throws what a call came to that has failed.  `server` is "https://host".
/// Errors: not_found (no such object or bucket), access_denied, timed_out (the deadline), unsupported (the server does
///         not do such a thing), unavailable (all else: it may go well another time).
[[noreturn]] void fail(const location& place, std::string_view server, const call_result& failed);

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/object/impl/failure.ipp>
#endif
