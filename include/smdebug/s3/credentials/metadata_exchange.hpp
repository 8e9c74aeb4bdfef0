// Requests to metadata services that provide keys: they are local, so a service that does not answer soon is absent.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/http/transport.hpp>
#include <smdebug/s3/credentials/profile.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug::inline v1::s3::detail {

/// A time with its zone: "2026-11-21T10:00:00Z", optionally with a fraction of a second after '.' or ',', and with
/// "+01:00", "+0100" or "+01" instead of the 'Z'.  Exact to the system clock's resolution; clamped to its range.
/// Nothing for anything else, including a time without a zone.
[[nodiscard]] std::optional<std::chrono::system_clock::time_point> parse_iso_time(std::string_view text) noexcept;

/// Reads {"AccessKeyId", "SecretAccessKey", "Token", "Expiration", "Code"}, the answer of container endpoints and
/// instances.  `where` names the service, for messages; `sent` is the secret sent to it, which must not appear there.
/// `Expiration`, `Code` and `Token` may be missing: keys without an expiration do not expire.
[[nodiscard]] keys_answer parse_keys_answer(byte_view body, const std::string& where, std::string_view sent = {});

/// Time limits for a service.
struct metadata_limits {
    std::chrono::milliseconds connect_within{1000};  ///< each request
    std::chrono::milliseconds answer_within{2000};   ///< each request
    int tries = 3;                                   ///< of the whole exchange, at least one
    std::chrono::milliseconds pause{100};            ///< between them
    std::chrono::milliseconds altogether{5000};      ///< limits all requests together
};

/// A request to such a service, which ends by `latest`.
[[nodiscard]] http::request metadata_request(http::method how, std::string url, const metadata_limits& limits,
                                             http::request::clock::time_point latest);

/// The outcome of an answer other than 200.
[[nodiscard]] keys_answer without_keys(const http::response& got, const std::string& where);

/// Repeats the exchange once(latest) until another try would not change its outcome.
[[nodiscard]] keys_answer ask_repeatedly(const metadata_limits& limits,
                                         function_ref<keys_answer(http::request::clock::time_point)> once);

// A container's keys, from the endpoint that ECS or EKS sets in the environment.

/// Whether keys may be fetched from there: by https from anywhere; by http only from this machine and the addresses of
/// ECS and EKS, since elsewhere others could read or replace the keys.
[[nodiscard]] bool may_give_keys(std::string_view url);

/// The endpoint's URL: AWS_CONTAINER_CREDENTIALS_RELATIVE_URI at 169.254.170.2, else
/// AWS_CONTAINER_CREDENTIALS_FULL_URI; nothing if neither is set.
/// Errors: value_error for an address from which keys may not be fetched.
[[nodiscard]] std::optional<std::string> container_url(const environment_reader& environment);

/// The "authorization" header: the content of the file named by AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE, which may
/// change over time, else AWS_CONTAINER_AUTHORIZATION_TOKEN; nothing if neither is set.
/// Errors: value_error when the file cannot be read, or the token contains a line break.
[[nodiscard]] std::optional<std::string> container_token(const environment_reader& environment);

/// Fetches keys from the container's endpoint.  An endpoint that is set is meant to be used, so the outcome is never
/// `unreachable`.  Errors: value_error, as container_url() and container_token().  Cost: a request; see
/// metadata_limits.
[[nodiscard]] keys_answer keys_of_container(const http_transport& transport, const environment_reader& environment,
                                            const metadata_limits& limits = {});

// The keys of an instance's role, from EC2's instance metadata service, version 2.

/// AWS_EC2_METADATA_SERVICE_ENDPOINT if set, else "http://169.254.169.254", or the IPv6 address if
/// AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE is IPv6; without a trailing '/'.
/// Errors: value_error for an invalid address or mode.
[[nodiscard]] std::string instance_url(const environment_reader& environment);

/// Fetches keys from the instance metadata service, unless AWS_EC2_METADATA_DISABLED is true.
/// Errors: value_error, as instance_url().  Cost: three requests, one after the other; without such a service see
/// metadata_limits.
[[nodiscard]] keys_answer keys_of_instance(const http_transport& transport, const environment_reader& environment,
                                           const metadata_limits& limits = {});

}  // namespace smdebug::inline v1::s3::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/credentials/impl/metadata_exchange.ipp>
#endif
