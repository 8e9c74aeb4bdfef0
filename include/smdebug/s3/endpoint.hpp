// The URL of a bucket: at Amazon by its region, or at a server of one's own.
// Pure.  Used by: s3/client.hpp.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/s3/options.hpp>
#include <smdebug/s3/percent_encoding.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace s3 {

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
[[nodiscard]] inline std::string checked_endpoint(std::string_view given) {
    std::string_view url = given;
    while (url.ends_with('/')) {
        url.remove_suffix(1);
    }
    const std::string_view host = url.starts_with("https://")  ? url.substr(8)
                                  : url.starts_with("http://") ? url.substr(7)
                                                               : std::string_view{};
    // A user's name and password in it are no way of S3's; they must not get into messages either.
    if (host.empty() || host.find_first_of("/?#@ \t\r\n") != std::string_view::npos) {
        throw value_error(
            "the endpoint of S3 is not of the form http://host:port or https://host:port, without user, path or query; "
            "see s3_options::endpoint, AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL and the profile's endpoint_url");
    }
    return std::string{url};
}

/// The URL that a bucket's keys are appended to, with '/' at its end.
/// `endpoint`: a checked one; none: Amazon's for the region.
[[nodiscard]] inline std::string bucket_url(const std::optional<std::string>& endpoint, std::string_view region,
                                            std::string_view bucket, addressing how) {
    const bool in_path =
        how == addressing::path ||
        // A name with dots in the host fits no certificate.
        (how == addressing::automatic && (endpoint.has_value() || bucket.find('.') != std::string_view::npos));
    const std::string base = endpoint ? *endpoint : "https://" + amazon_host(region);
    if (in_path) {
        return base + "/" + percent_encoded(bucket, false) + "/";
    }
    const std::size_t host = base.find("://") + 3;
    return base.substr(0, host).append(bucket).append(".").append(base, host).append("/");
}

}  // namespace s3
}  // namespace v1
}  // namespace smdebug
