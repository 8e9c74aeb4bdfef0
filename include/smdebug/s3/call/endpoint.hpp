// The URL of a bucket: at Amazon by its region, or at a given server.
// Pure functions.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/s3/credentials.hpp>
#include <smdebug/s3/options.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug::inline v1::s3::detail {

/// Whether a character needs no encoding: the unreserved ones of RFC 3986.
[[nodiscard]] constexpr bool is_unreserved(char c) noexcept {
    return is_alphanumeric(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

/// `text` with all but the unreserved characters as upper-case %XX: a space is "%20", a plus "%2B".  Slashes stay if
/// they separate a path.  Accepts any bytes.
[[nodiscard]] std::string percent_encoded(std::string_view text, bool keep_slashes);

/// Decodes upper- and lower-case escapes; nothing if an escape is cut or invalid.  '+' stays '+'.
[[nodiscard]] std::optional<std::string> percent_decoded(std::string_view text);

/// Whether a name may be a region: lower-case letters, digits and '-'.  Anything else must not get into a host's name.
[[nodiscard]] constexpr bool is_region(std::string_view name) noexcept {
    return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    });
}

/// Amazon's host for a region.
[[nodiscard]] inline std::string amazon_host(std::string_view region) {
    return std::string{"s3."}.append(region).append(region.starts_with("cn-") ? ".amazonaws.com.cn" : ".amazonaws.com");
}

/// Checks a server's address and removes trailing slashes.
/// Errors: value_error unless it is "http://host" or "https://host" with nothing after the host.
[[nodiscard]] std::string checked_endpoint(std::string_view written);

/// The URL to which a bucket's keys are appended; ends in '/'.
/// `endpoint` was checked; without one it is Amazon's for the region.
[[nodiscard]] std::string bucket_url(const std::optional<std::string>& endpoint, std::string_view region,
                                     std::string_view bucket, addressing how);

// Which servers belong to the configured service: signed requests go nowhere else, whatever an answer says.
// Pure: no name is resolved.

/// A server named by a URL, in comparable form.
struct server_name {
    bool secure = false;
    std::string host = {};  ///< lower case, without a trailing dot: "s3.example.org", "[::1]"
    unsigned port = 0;
    bool has_user = false;  ///< the URL had a user name, or something like it, before the host

    /// "https://host", with the port unless it is the scheme's default.
    [[nodiscard]] std::string text() const {
        const bool usual = port == (secure ? 443U : 80U);
        return (secure ? "https://" : "http://") + host + (usual ? "" : ":" + std::to_string(port));
    }
    friend bool operator==(const server_name&, const server_name&) = default;
};

/// A server's relation to a service.
enum class standing : std::uint8_t {
    stranger,          ///< not known to belong to the service
    server,            ///< belongs to it: the bucket's name goes into the path
    server_of_bucket,  ///< belongs to it, and its name already begins with the bucket's
};

/// Whether a host name has valid characters only: others (a percent sign, a backslash) are ambiguous.
[[nodiscard]] constexpr bool is_host(std::string_view host) noexcept {
    const bool is_ipv6 = host.starts_with('[') && host.ends_with(']') && host.size() > 4;
    const std::string_view inside = is_ipv6 ? host.substr(1, host.size() - 2) : host;
    const bool good = std::all_of(inside.begin(), inside.end(), [&](char c) {
        const bool is_digit = c >= '0' && c <= '9';
        return is_ipv6 ? is_digit || (c >= 'a' && c <= 'f') || c == ':' || c == '.'
                       : is_digit || (c >= 'a' && c <= 'z') || c == '-' || c == '_' || c == '.';
    });
    return good && !inside.empty() && !inside.starts_with('.') && inside.find("..") == std::string_view::npos;
}

/// Whether the owner of a host name also owns its subdomains.  Not if it is an address or has no dot: a local machine
/// may have the name of a public domain.
[[nodiscard]] constexpr bool owns_subdomains(std::string_view host) noexcept {
    const std::size_t dot = host.rfind('.');
    if (host.starts_with('[') || dot == std::string_view::npos) {
        return host == "localhost";
    }
    const std::string_view last = host.substr(dot + 1);
    const bool is_number = last.starts_with("0x") || last.find_first_not_of("0123456789") == std::string_view::npos;
    return !is_number;
}

/// ".amazonaws.com" or ".amazonaws.com.cn" if Amazon serves S3 under that host; else nothing.  Other names in these
/// domains belong to machines that anybody may rent.
[[nodiscard]] constexpr std::string_view amazon_domain_of(std::string_view host) noexcept {
    for (const std::string_view domain : {std::string_view{".amazonaws.com"}, std::string_view{".amazonaws.com.cn"}}) {
        if (!host.ends_with(domain)) {
            continue;
        }
        std::string_view name = host.substr(0, host.size() - domain.size());
        const std::string_view service = name.substr(0, name.find('.'));  // "s3", "s3-us-west-2", "s3-accelerate"
        name.remove_prefix(std::min(service.size() + 1, name.size()));
        if (name == "dualstack" || name.starts_with("dualstack.")) {
            name.remove_prefix(std::min(std::string_view{"dualstack."}.size(), name.size()));
        }
        const bool is_place = name.empty() || (is_region(name) && std::count(name.begin(), name.end(), '-') >= 2 &&
                                               name.back() >= '0' && name.back() <= '9');  // "eu-west-1"
        return is_place && (service == "s3" || service.starts_with("s3-")) ? domain : std::string_view{};
    }
    return {};
}

/// The server of an http or https URL; nothing if there is none or it is ambiguous.  The rest of the URL is ignored.
[[nodiscard]] std::optional<server_name> server_named_by(std::string_view url);

/// The relation of `other` to the service whose server is `home`.  It belongs to the service if it is the same host
/// or a subdomain of it; with Amazon, also any other S3 host in the same domain, unless it begins with another
/// bucket's name.  The port must be the same, and https never becomes http; http may become https, on the default
/// ports.
[[nodiscard]] standing standing_of(const server_name& other, const server_name& home, std::string_view bucket);

}  // namespace smdebug::inline v1::s3::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/call/impl/endpoint.ipp>
#endif
