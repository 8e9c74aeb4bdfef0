// The bodies of <smdebug/s3/credentials/container_keys.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/s3/credentials/container_keys.hpp>
#include <smdebug/storage/posix/file.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

SMDEBUG_INLINE std::optional<std::string_view> host_of(std::string_view url) noexcept {
    constexpr std::string_view separator = "://";
    const std::size_t scheme = url.find(separator);
    const auto odd = [](char c) { return c <= ' ' || c >= '\x7f' || c == '\\'; };  // also bytes beyond ASCII
    if (scheme == std::string_view::npos || std::any_of(url.begin(), url.end(), odd)) {
        return std::nullopt;
    }
    std::string_view left = url.substr(scheme + separator.size());
    left = left.substr(0, left.find_first_of("/?#"));
    if (left.find('@') != std::string_view::npos) {
        return std::nullopt;
    }
    const bool bracketed = left.starts_with('[');
    const std::size_t end = std::min(bracketed ? left.find(']') : left.find(':'), left.size());
    const std::string_view host = bracketed ? left.substr(1, end - 1) : left.substr(0, end);
    std::string_view port = left.substr(std::min(end + (bracketed ? 1 : 0), left.size()));
    if (port.starts_with(':')) {
        port.remove_prefix(1);
    } else if (!port.empty()) {
        return std::nullopt;
    }
    const bool number = std::all_of(port.begin(), port.end(), [](char c) { return c >= '0' && c <= '9'; });
    const bool closed = !bracketed || end < left.size();
    return number && closed && !host.empty() ? std::optional{host} : std::nullopt;
}

SMDEBUG_INLINE bool is_loopback_ipv4(std::string_view host) noexcept {
    int parts = 0;
    while (true) {
        const std::size_t end = std::min(host.find('.'), host.size());
        const std::string_view part = host.substr(0, end);
        const bool number = !part.empty() && part.size() <= 3 &&
                            std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
        if (!number || (part.size() == 3 && part > "255") || (parts == 0 && part != "127") ||
            (part.size() > 1 && part.front() == '0')) {
            return false;
        }
        ++parts;
        if (end == host.size()) {
            return parts == 4;
        }
        host.remove_prefix(end + 1);
    }
}

SMDEBUG_INLINE bool may_give_keys(std::string_view url) {
    const auto host = detail::host_of(url);
    if (!host) {
        return false;
    }
    const std::string scheme = in_small_letters(url.substr(0, url.find(':')));
    constexpr std::array<std::string_view, 5> known{"localhost", "::1", "169.254.170.2", "169.254.170.23",
                                                    "fd00:ec2::23"};
    return scheme == "https" ||
           (scheme == "http" && (std::find(known.begin(), known.end(), in_small_letters(*host)) != known.end() ||
                                 detail::is_loopback_ipv4(*host)));
}

SMDEBUG_INLINE std::optional<std::string> container_url(const environment_reader& environment) {
    constexpr const char* relative_name = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI";
    constexpr const char* full_name = "AWS_CONTAINER_CREDENTIALS_FULL_URI";
    if (const auto relative = variable(environment, relative_name)) {
        std::string url = "http://169.254.170.2" + *relative;
        if (!relative->starts_with('/') || !may_give_keys(url)) {
            throw value_error(std::string{relative_name} + " must be a path that begins with '/'.");
        }
        return url;
    }
    auto full = variable(environment, full_name);
    if (full && !may_give_keys(*full)) {
        throw value_error(std::string{full_name} +
                          " must begin with https://, or with http:// and one of these hosts: localhost, 127.0.0.1, "
                          "[::1], 169.254.170.2, 169.254.170.23, [fd00:ec2::23]; without a user's name.");
    }
    return full;
}

SMDEBUG_INLINE std::optional<std::string> container_token(const environment_reader& environment) {
    constexpr const char* file_name = "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE";
    constexpr const char* token_name = "AWS_CONTAINER_AUTHORIZATION_TOKEN";
    constexpr std::uint64_t most = std::uint64_t{64} << 10U;
    const char* from = token_name;
    auto token = variable(environment, token_name);
    if (const auto path = variable(environment, file_name)) {
        from = file_name;
        std::string why;
        try {
            const smdebug::detail::posix::file file{*path};
            smdebug::detail::posix::scratch_buffer buffer;
            if (file.size() <= most) {
                token = as_text(file.read_all(buffer));
            } else {
                why = *path + " is too large";
            }
        } catch (const error& thrown) {
            why = thrown.message();
        }
        if (!why.empty()) {
            throw value_error(std::string{file_name} + " names a file that cannot be read: " + why, {.where = *path});
        }
    }
    if (token && !fits_header(*token)) {
        throw value_error(std::string{"The token of "} + from +
                          " holds a line break or another control character, which cannot be sent.");
    }
    return token;
}

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug
