// Which servers belong to the service that was asked: signed requests go nowhere else, whoever says so.
// Pure: nothing is looked up.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/s3/call/endpoint.hpp>
#include <smdebug/s3/credentials/environment.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

/// A server as a URL names it, in a form in which two can be compared.
struct server_name {
    bool secure = false;
    std::string host = {};  ///< in small letters, without a dot at its end: "s3.example.org", "[::1]"
    unsigned port = 0;
    bool has_user = false;  ///< a user's name, or what looks like one, stood before the host

    /// "https://host", with the port where it is not the scheme's own.
    [[nodiscard]] std::string text() const;
    friend bool operator==(const server_name&, const server_name&) = default;
};

/// How a server stands to a service.
enum class standing : std::uint8_t {
    stranger,          ///< it is not known to belong to it
    server,            ///< it belongs to it: the bucket's name goes into the path
    server_of_bucket,  ///< the bucket's name stands before its own already
};

/// Takes what stands before the first dot, and the dot.
[[nodiscard]] constexpr std::string_view take_label(std::string_view& name) noexcept {
    const std::string_view label = name.substr(0, name.find('.'));
    name.remove_prefix(std::min(label.size() + 1, name.size()));
    return label;
}

/// Whether a host's name can be one: everything else (a percent sign, a backslash) is read in more ways than one.
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

/// Whether whoever has a host's name has those that end in it, too.  Not where it is an address, or has no dot: the
/// name of a machine next door may be that of a public domain.
[[nodiscard]] constexpr bool owns_subdomains(std::string_view host) noexcept {
    const std::size_t dot = host.rfind('.');
    if (host.starts_with('[') || dot == std::string_view::npos) {
        return host == "localhost";
    }
    const std::string_view last = host.substr(dot + 1);
    const bool is_number = last.starts_with("0x") || last.find_first_not_of("0123456789") == std::string_view::npos;
    return !is_number;
}

/// ".amazonaws.com" or ".amazonaws.com.cn" where Amazon serves S3 under that host; else nothing.  Under other names in
/// these domains there are machines that anybody may rent.
[[nodiscard]] constexpr std::string_view amazon_domain_of(std::string_view host) noexcept {
    for (const std::string_view domain : {std::string_view{".amazonaws.com"}, std::string_view{".amazonaws.com.cn"}}) {
        if (!host.ends_with(domain)) {
            continue;
        }
        std::string_view name = host.substr(0, host.size() - domain.size());
        const std::string_view service = take_label(name);  // "s3", "s3-fips", "s3-us-west-2", "s3-accelerate"
        if (name == "dualstack" || name.starts_with("dualstack.")) {
            static_cast<void>(take_label(name));
        }
        const bool is_place = name.empty() || (is_region(name) && std::count(name.begin(), name.end(), '-') >= 2 &&
                                               name.back() >= '0' && name.back() <= '9');  // "eu-west-1"
        return is_place && (service == "s3" || service.starts_with("s3-")) ? domain : std::string_view{};
    }
    return {};
}

/// The server of an http or https URL; nothing where none is named, or in a way that could be read as another one.
/// What stands behind it does not count.
[[nodiscard]] std::optional<server_name> server_named_by(std::string_view url);

/// How `other` stands to the service whose server is `home`.  It belongs to it where it is the same host or one below
/// it, and of Amazon's any other one of S3 in the same domain, but not with another bucket's name before it.  The port
/// is the same one, too, and nothing goes from https to http; from http to https it may, on their own ports.
[[nodiscard]] standing standing_of(const server_name& other, const server_name& home, std::string_view bucket);

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/call/impl/same_service.ipp>
#endif
