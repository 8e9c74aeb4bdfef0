// The bodies of <smdebug/s3/credentials/metadata_exchange.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/s3/credentials/metadata_exchange.hpp>
#include <smdebug/storage/posix/file.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace smdebug::inline v1::s3::detail {

SMDEBUG_INLINE http::request metadata_request(http::method how, std::string url, const metadata_limits& limits,
                                              http::request::clock::time_point latest) {
    constexpr std::uint64_t longest_answer = std::uint64_t{64} << 10U;
    return {.method = how,
            .url = std::move(url),
            .most = longest_answer,
            .connect_within = limits.connect_within,
            .stalled_after = limits.answer_within,
            .deadline = std::min(latest, http::request::clock::now() + limits.answer_within)};
}

SMDEBUG_INLINE keys_answer without_keys(const http::response& got, const std::string& where) {
    if (!got.answered()) {
        const bool for_good = got.outcome == http::outcome::refused;
        return {for_good ? keys_outcome::refused : keys_outcome::unreachable,
                {},
                where + " (no answer: " + got.failure + ")"};
    }
    constexpr int request_timeout = 408;
    constexpr int too_many = 429;
    constexpr int server_errors = 500;
    const bool passing = got.status == request_timeout || got.status == too_many || got.status >= server_errors;
    return {passing ? keys_outcome::failing : keys_outcome::refused,
            {},
            where + " (it answers with status " + std::to_string(got.status) + ")"};
}

SMDEBUG_INLINE std::optional<std::string_view> host_of(std::string_view url) noexcept {
    constexpr std::string_view separator = "://";
    const std::size_t scheme = url.find(separator);
    const auto odd = [](char c) { return c <= ' ' || c >= '\x7f' || c == '\\'; };  // includes bytes beyond ASCII
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
                          " contains a line break or another control character, which cannot be sent.");
    }
    return token;
}

SMDEBUG_INLINE std::string instance_url(const environment_reader& environment) {
    constexpr const char* endpoint_name = "AWS_EC2_METADATA_SERVICE_ENDPOINT";
    constexpr const char* mode_name = "AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE";
    if (auto url = variable(environment, endpoint_name)) {
        const bool known = url->starts_with("http://") || url->starts_with("https://");
        const auto odd = [](char c) { return c <= ' ' || c >= '\x7f' || c == '@' || c == '?' || c == '#'; };
        if (!known || std::any_of(url->begin(), url->end(), odd)) {
            throw value_error(std::string{endpoint_name} + " must be of the form http://host:port");
        }
        while (url->ends_with('/')) {
            url->pop_back();
        }
        return *std::move(url);
    }
    const std::string mode = in_small_letters(variable(environment, mode_name).value_or("ipv4"));
    if (mode != "ipv4" && mode != "ipv6") {
        throw value_error(std::string{mode_name} + " must be IPv4 or IPv6");
    }
    return mode == "ipv4" ? "http://169.254.169.254" : "http://[fd00:ec2::254]";
}

}  // namespace smdebug::inline v1::s3::detail
