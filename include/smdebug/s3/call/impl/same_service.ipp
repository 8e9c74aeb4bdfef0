// The bodies of <smdebug/s3/call/same_service.hpp>.
#pragma once

#include <smdebug/s3/call/same_service.hpp>

#include <charconv>
#include <system_error>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

SMDEBUG_INLINE std::string server_name::text() const {
    const bool usual = port == (secure ? 443U : 80U);
    return (secure ? "https://" : "http://") + host + (usual ? "" : ":" + std::to_string(port));
}

SMDEBUG_INLINE std::optional<server_name> server_named_by(std::string_view url) {
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

SMDEBUG_INLINE standing standing_of(const server_name& other, const server_name& home, std::string_view bucket) {
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

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug
