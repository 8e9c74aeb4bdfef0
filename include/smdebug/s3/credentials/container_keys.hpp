// The keys of a container, from the endpoint that ECS or EKS names in the environment.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/http/concepts.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/s3/credentials.hpp>
#include <smdebug/s3/credentials/environment.hpp>
#include <smdebug/s3/credentials/keys_answer.hpp>
#include <smdebug/s3/credentials/metadata_exchange.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

/// The host in "https://host:port/path", without the brackets of an IPv6 address; nothing when it is not of that form,
/// or holds a user's name, by which one host can look like another.
[[nodiscard]] std::optional<std::string_view> host_of(std::string_view url) noexcept;

/// Whether it is 127.x.y.z, written plainly.
[[nodiscard]] bool is_loopback_ipv4(std::string_view host) noexcept;

/// Whether keys may be fetched from there: by https from anywhere, by http from this machine and from the addresses of
/// ECS and EKS alone: over http from elsewhere others could read the keys, or put theirs in their place.
[[nodiscard]] bool may_give_keys(std::string_view url);

/// The address to ask: of AWS_CONTAINER_CREDENTIALS_RELATIVE_URI at 169.254.170.2, else
/// AWS_CONTAINER_CREDENTIALS_FULL_URI; nothing when neither is set.
/// Errors: value_error for an address that keys may not be fetched from.
[[nodiscard]] std::optional<std::string> container_url(const environment_reader& environment);

/// What goes out as "authorization": the content of the file that AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE names, which
/// may change from time to time, else AWS_CONTAINER_AUTHORIZATION_TOKEN; nothing when neither is set.
/// Errors: value_error when the file cannot be read, or the token holds a line break.
[[nodiscard]] std::optional<std::string> container_token(const environment_reader& environment);

/// Asks the container's endpoint.  Whoever sets it up means it to be used: `unreachable` is not among the outcomes.
/// Errors: value_error, as container_url() and container_token().  Cost: a request; see metadata_limits.
template <http_transport Transport>
[[nodiscard]] keys_answer keys_of_container(const Transport& transport, const environment_reader& environment,
                                            const metadata_limits& limits = {}) {
    const auto url = container_url(environment);
    if (!url) {
        return {keys_outcome::nothing_there,
                {},
                "the container (AWS_CONTAINER_CREDENTIALS_RELATIVE_URI and _FULL_URI "
                "are not set)"};
    }
    const std::string where = "the container's endpoint at " + std::string{*detail::host_of(*url)};
    const auto token = container_token(environment);
    keys_answer got = ask_repeatedly(limits, [&](http::request::clock::time_point latest) {
        http::request ask = metadata_request(http::method::get, *url, limits, latest);
        ask.headers.push_back({"accept", "application/json"});
        if (token) {
            ask.headers.push_back({"authorization", *token});
        }
        constexpr int ok = 200;
        const http::response answer = perform(transport, std::move(ask));
        return answer.answered() && answer.status == ok
                   ? parse_keys_answer(answer.body.view(), where, token.value_or(""))
                   : without_keys(answer, where);
    });
    if (got.outcome == keys_outcome::unreachable) {
        got.outcome = keys_outcome::failing;
    }
    return got;
}

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/credentials/impl/container_keys.ipp>
#endif
