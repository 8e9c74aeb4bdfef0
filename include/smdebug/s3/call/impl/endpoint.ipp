// The bodies of <smdebug/s3/call/endpoint.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/s3/call/endpoint.hpp>

#include <cstddef>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

SMDEBUG_INLINE std::string checked_endpoint(std::string_view written) {
    std::string_view url = written;
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

SMDEBUG_INLINE std::string bucket_url(const std::optional<std::string>& endpoint, std::string_view region,
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

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug
