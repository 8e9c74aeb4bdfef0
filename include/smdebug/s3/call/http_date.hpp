// The dates in the headers of an answer.
// Source: RFC 9110, section 5.6.7.
#pragma once

#include <smdebug/core/form.hpp>

#include <chrono>
#include <optional>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

/// "Sun, 06 Nov 1994 08:49:37 GMT", the one form that servers send; nothing where it is another, or no date.
/// What lies beyond the range of the system's clock is the nearest that it knows.
[[nodiscard]] std::optional<std::chrono::system_clock::time_point> parse_http_date(std::string_view text);

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/call/impl/http_date.ipp>
#endif
