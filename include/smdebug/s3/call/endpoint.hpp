// The URL of a bucket: at Amazon by its region, or at a server of one's own.
// Pure.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/s3/call/percent_encoding.hpp>
#include <smdebug/s3/options.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

/// Whether a name can be a region's: small letters, digits and '-'.  Anything else must not get into a host's name.
[[nodiscard]] constexpr bool is_region(std::string_view name) noexcept {
    for (const char c : name) {
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-')) {
            return false;
        }
    }
    return !name.empty() && name.size() <= 64;
}

/// Amazon's host for a region.
[[nodiscard]] inline std::string amazon_host(std::string_view region) {
    return std::string{"s3."}.append(region).append(region.starts_with("cn-") ? ".amazonaws.com.cn" : ".amazonaws.com");
}

/// Checks a server's address, and takes slashes from its end.
/// Errors: value_error where it is no "http://host" or "https://host", or has anything behind the host.
[[nodiscard]] std::string checked_endpoint(std::string_view written);

/// The URL that a bucket's keys are appended to, with '/' at its end.
/// `endpoint`: a checked one; none: Amazon's for the region.
[[nodiscard]] std::string bucket_url(const std::optional<std::string>& endpoint, std::string_view region,
                                     std::string_view bucket, addressing how);

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/call/impl/endpoint.ipp>
#endif
