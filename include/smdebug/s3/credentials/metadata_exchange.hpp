// Requests to metadata services that provide keys: they are local, so a service that does not answer soon is absent.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/http/concepts.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/s3/credentials.hpp>
#include <smdebug/s3/credentials/keys_answer.hpp>
#include <smdebug/s3/credentials/profile.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace smdebug::inline v1::s3::detail {

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
template <class Once>
[[nodiscard]] keys_answer ask_repeatedly(const metadata_limits& limits, Once&& once) {
    using clock = http::request::clock;
    const auto latest = clock::now() + limits.altogether;
    for (int left = limits.tries;; --left) {
        keys_answer got = once(latest);
        const bool passing = got.outcome == keys_outcome::unreachable || got.outcome == keys_outcome::failing;
        if (!passing || left <= 1 || clock::now() + limits.pause >= latest) {
            return got;
        }
        std::this_thread::sleep_for(limits.pause);
    }
}

// A container's keys, from the endpoint that ECS or EKS sets in the environment.

/// The host in "https://host:port/path", without the brackets of an IPv6 address; nothing for other forms and for a
/// URL with a user name, which can make one host look like another.
[[nodiscard]] std::optional<std::string_view> host_of(std::string_view url) noexcept;

/// Whether it is 127.x.y.z in plain decimal form.
[[nodiscard]] bool is_loopback_ipv4(std::string_view host) noexcept;

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

// The keys of an instance's role, from EC2's instance metadata service, version 2.

/// AWS_EC2_METADATA_SERVICE_ENDPOINT if set, else "http://169.254.169.254", or the IPv6 address if
/// AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE is IPv6; without a trailing '/'.
/// Errors: value_error for an invalid address or mode.
[[nodiscard]] std::string instance_url(const environment_reader& environment);

/// One exchange with the service: fetches a token, the role's name, and its keys.
template <http_transport Transport>
class instance_talk {
public:
    instance_talk(const Transport& transport, const metadata_limits& limits, std::string base, std::string where)
        : transport_(transport), limits_(limits), base_(std::move(base)), where_(std::move(where)) {}

    [[nodiscard]] keys_answer once(http::request::clock::time_point latest);

private:
    static constexpr const char* roles = "/latest/meta-data/iam/security-credentials/";

    [[nodiscard]] static bool is_ok(const http::response& got) noexcept;
    /// Whether it is not empty, not long, printable and without blanks.
    [[nodiscard]] static bool plain(std::string_view text) noexcept;

    [[nodiscard]] http::response ask(http::method how, const std::string& path, http::request::clock::time_point latest,
                                     const http::header& with) const;
    /// The outcome of an answer without keys; `missing` if its status is 404.
    [[nodiscard]] keys_answer without(const http::response& got, keys_outcome missing, const char* why) const;

    const Transport& transport_;
    const metadata_limits& limits_;
    std::string base_;
    std::string where_;
};

/// Fetches keys from the instance metadata service, unless AWS_EC2_METADATA_DISABLED is true.
/// Errors: value_error, as instance_url().  Cost: three requests, one after the other; without such a service see
/// metadata_limits.
template <http_transport Transport>
[[nodiscard]] keys_answer keys_of_instance(const Transport& transport, const environment_reader& environment,
                                           const metadata_limits& limits = {}) {
    if (switched_on(environment, "AWS_EC2_METADATA_DISABLED")) {
        return {keys_outcome::nothing_there, {}, "instance metadata (switched off by AWS_EC2_METADATA_DISABLED)"};
    }
    const std::string url = instance_url(environment);
    detail::instance_talk talk{transport, limits, url, "instance metadata at " + url};
    return ask_repeatedly(limits, [&](http::request::clock::time_point latest) { return talk.once(latest); });
}

template <http_transport Transport>
keys_answer instance_talk<Transport>::once(http::request::clock::time_point latest) {
    const http::response token =
        ask(http::method::put, "/latest/api/token", latest, {"x-aws-ec2-metadata-token-ttl-seconds", "21600"});
    if (!is_ok(token)) {
        keys_answer got = without_keys(token, where_);
        if (token.answered() && got.outcome == keys_outcome::refused) {
            // Other clouds also answer here, in other formats; so does an instance that must not hand out keys.
            got.outcome = keys_outcome::nothing_there;
        }
        return got;
    }
    const http::header pass{"x-aws-ec2-metadata-token", std::string{as_text(token.body.view())}};
    if (!plain(pass.value)) {
        return {keys_outcome::nothing_there, {}, where_ + " (what answers there is another service)"};
    }
    const http::response list = ask(http::method::get, roles, latest, pass);
    if (!is_ok(list)) {
        return without(list, keys_outcome::nothing_there, " (the instance has no role)");
    }
    const std::string_view names = as_text(list.body.view());
    const std::string_view role = names.substr(0, names.find_first_of("\r\n"));
    if (!plain(role) || role.find_first_of("/?#%\\") != std::string_view::npos) {
        return {keys_outcome::failing, {}, where_ + " (the name of the instance's role is missing or damaged)"};
    }
    const http::response keys = ask(http::method::get, roles + std::string{role}, latest, pass);
    return is_ok(keys) ? parse_keys_answer(keys.body.view(), where_, pass.value)
                       : without(keys, keys_outcome::failing, " (the instance's role has gone)");
}

template <http_transport Transport>
bool instance_talk<Transport>::is_ok(const http::response& got) noexcept {
    constexpr int ok = 200;
    return got.answered() && got.status == ok;
}

template <http_transport Transport>
bool instance_talk<Transport>::plain(std::string_view text) noexcept {
    constexpr std::size_t most = 4096;
    return !text.empty() && text.size() <= most &&
           std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

template <http_transport Transport>
http::response instance_talk<Transport>::ask(http::method how, const std::string& path,
                                             http::request::clock::time_point latest, const http::header& with) const {
    http::request made = metadata_request(how, base_ + path, limits_, latest);
    made.headers.push_back(with);
    return perform(transport_, std::move(made));
}

template <http_transport Transport>
keys_answer instance_talk<Transport>::without(const http::response& got, keys_outcome missing, const char* why) const {
    constexpr int not_there = 404;
    constexpr int token_expired = 401;
    keys_answer made = without_keys(got, where_);
    if (got.answered() && got.status == not_there) {
        made = {missing, {}, where_ + why};
    } else if (!got.answered() || got.status == token_expired) {
        made.outcome = keys_outcome::failing;  // it has answered before
    }
    return made;
}

}  // namespace smdebug::inline v1::s3::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/credentials/impl/metadata_exchange.ipp>
#endif
