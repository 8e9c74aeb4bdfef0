// Which servers belong to the service that was asked: signed requests go nowhere else, whoever says so.
// Pure: nothing is looked up.  Used by: s3 (client, verdict).
#pragma once

#include <smdebug/s3/endpoint.hpp>
#include <smdebug/s3/environment.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace smdebug {
inline namespace v1 {
namespace s3 {

/// A server as a URL names it, in a form in which two can be compared.
struct server_name {
    bool secure = false;
    std::string host = {};  ///< in small letters, without a dot at its end: "s3.example.org", "[::1]"
    unsigned port = 0;
    bool has_user = false;  ///< a user's name, or what looks like one, stood before the host

    /// "https://host", with the port where it is not the scheme's own.
    [[nodiscard]] std::string text() const {
        const bool usual = port == (secure ? 443U : 80U);
        return (secure ? "https://" : "http://") + host + (usual ? "" : ":" + std::to_string(port));
    }
    friend bool operator==(const server_name&, const server_name&) = default;
};

/// How a server stands to a service.
enum class standing : std::uint8_t {
    stranger,          ///< it is not known to belong to it
    server,            ///< it belongs to it: the bucket's name goes into the path
    server_of_bucket,  ///< the bucket's name stands before its own already
};

namespace detail {

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

}  // namespace detail

/// The server of an http or https URL; nothing where none is named, or in a way that could be read as another one.
/// What stands behind it does not count.
[[nodiscard]] inline std::optional<server_name> server_named_by(std::string_view url) {
    const std::string scheme = in_small_letters(url.substr(0, std::min(url.find("://"), url.size())));
    if ((scheme != "http" && scheme != "https") || scheme.size() == url.size()) {
        return std::nullopt;
    }
    url.remove_prefix(scheme.size() + 3);
    std::string_view place = url.substr(0, url.find_first_of("/?#"));
    server_name found{.secure = scheme == "https", .port = scheme == "https" ? 443U : 80U};
    if (const std::size_t at = place.rfind('@'); at != std::string_view::npos) {
        found.has_user = true;
        place.remove_prefix(at + 1);
    }
    const std::size_t colon = place.find(':', place.starts_with('[') ? std::min(place.find(']'), place.size()) : 0);
    if (colon != std::string_view::npos && colon + 1 < place.size()) {
        const std::string_view digits = place.substr(colon + 1);
        const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), found.port);
        if (failure != std::errc{} || end != digits.data() + digits.size() || found.port == 0 || found.port > 65535) {
            return std::nullopt;
        }
    }
    found.host = in_small_letters(place.substr(0, colon));
    if (found.host.ends_with('.')) {
        found.host.pop_back();
    }
    return detail::is_host(found.host) ? std::optional{std::move(found)} : std::nullopt;
}

/// How `other` stands to the service whose server is `home`.  It belongs to it where it is the same host or one below
/// it, and of Amazon's any other one of S3 in the same domain, but not with another bucket's name before it.  The port
/// is the same one, too, and nothing goes from https to http; from http to https it may, on their own ports.
[[nodiscard]] inline standing standing_of(const server_name& other, const server_name& home, std::string_view bucket) {
    const bool is_same_way = other.secure == home.secure && other.port == home.port;
    const bool is_safer = other.secure && !home.secure && other.port == 443 && home.port == 80;
    if (other.has_user || (!is_same_way && !is_safer)) {
        return standing::stranger;
    }
    const std::string_view host = other.host;
    const std::string before = in_small_letters(bucket) + ".";
    const std::string_view rest = host.starts_with(before) ? host.substr(before.size()) : std::string_view{};
    if (const std::string_view domain = detail::amazon_domain_of(home.host); !domain.empty()) {
        return detail::amazon_domain_of(host) == domain   ? standing::server
               : detail::amazon_domain_of(rest) == domain ? standing::server_of_bucket
                                                          : standing::stranger;
    }
    if (host == home.host) {
        return standing::server;
    }
    const std::string below = "." + home.host;
    if (!detail::owns_subdomains(home.host) || !host.ends_with(below)) {
        return standing::stranger;
    }
    return rest == home.host || rest.ends_with(below) ? standing::server_of_bucket : standing::server;
}

}  // namespace s3
}  // namespace v1
}  // namespace smdebug
