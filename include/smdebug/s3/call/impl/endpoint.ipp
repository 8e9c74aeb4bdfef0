// The bodies of <smdebug/s3/call/endpoint.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/core/text_number.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/s3/call/endpoint.hpp>

#include <utility>

namespace smdebug::inline v1::s3::detail {

SMDEBUG_INLINE std::string percent_encoded(std::string_view text, bool keep_slashes) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string out;
    out.reserve(text.size() + text.size() / 4);
    for (const char c : text) {
        if (is_unreserved(c) || (c == '/' && keep_slashes)) {
            out += c;
        } else {
            const auto code = static_cast<unsigned char>(c);
            out.append({'%', digits[code >> 4U], digits[code & 15U]});
        }
    }
    return out;
}

SMDEBUG_INLINE std::optional<std::string> percent_decoded(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const std::size_t plain = text.find('%');
        out.append(text.substr(0, plain));
        if (plain == std::string_view::npos) {
            break;
        }
        text.remove_prefix(plain);
        const auto code = smdebug::detail::number_of_text<std::uint8_t>(text.substr(1, 2), 16);
        if (!code || text.size() < 3) {
            return std::nullopt;
        }
        out += static_cast<char>(*code);
        text.remove_prefix(3);
    }
    return out;
}

SMDEBUG_INLINE std::string checked_endpoint(std::string_view written) {
    std::string_view url = written;
    while (url.ends_with('/')) {
        url.remove_suffix(1);
    }
    const http::detail::url_parts parts = http::detail::parts_of(url);
    const bool is_http = parts.scheme == "http" || parts.scheme == "https";
    // S3 has no user names or passwords in URLs, and they must not get into messages either.
    if (!is_http || parts.server.size() != url.size() || url.size() == parts.scheme.size() + 3 ||
        url.find_first_of("@ \t\r\n") != std::string_view::npos) {
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
        // No certificate matches a host with a dotted bucket name.
        (how == addressing::automatic && (endpoint.has_value() || bucket.find('.') != std::string_view::npos));
    const std::string base = endpoint ? *endpoint : "https://" + amazon_host(region);
    if (in_path) {
        return base + "/" + percent_encoded(bucket, false) + "/";
    }
    const std::size_t host = base.find("://") + 3;
    return base.substr(0, host).append(bucket).append(".").append(base, host).append("/");
}

SMDEBUG_INLINE std::optional<server_name> server_named_by(std::string_view url) {
    const http::detail::url_parts parts = http::detail::parts_of(url);
    const std::string scheme = smdebug::detail::in_small_letters(parts.scheme);
    server_name found{.secure = scheme == "https", .host = smdebug::detail::in_small_letters(parts.host)};
    found.has_user = !parts.user.empty();
    found.port = found.secure ? 443U : 80U;
    if (!parts.port.empty()) {
        found.port = smdebug::detail::number_of_text<std::uint16_t>(parts.port).value_or(0);
        if (found.port == 0) {
            return std::nullopt;
        }
    }
    if (found.host.ends_with('.')) {
        found.host.pop_back();
    }
    return (scheme == "http" || found.secure) && is_host(found.host) ? std::optional{std::move(found)} : std::nullopt;
}

SMDEBUG_INLINE standing standing_of(const server_name& other, const server_name& home, std::string_view bucket) {
    const bool is_same_way = other.secure == home.secure && other.port == home.port;
    const bool is_safer = other.secure && !home.secure && other.port == 443 && home.port == 80;
    if (other.has_user || (!is_same_way && !is_safer)) {
        return standing::stranger;
    }
    const std::string_view host = other.host;
    const std::string before = smdebug::detail::in_small_letters(bucket) + ".";
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

}  // namespace smdebug::inline v1::s3::detail
