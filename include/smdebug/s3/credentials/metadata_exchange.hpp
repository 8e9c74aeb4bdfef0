// Requests to metadata services that provide keys: they are local, so a service that does not answer soon is absent.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/json_document.hpp>
#include <smdebug/core/system_time.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/http/transport.hpp>
#include <smdebug/s3/credentials.hpp>
#include <smdebug/s3/credentials/profile.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

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

inline std::optional<std::chrono::system_clock::time_point> parse_iso_time(std::string_view text) noexcept {
    using std::chrono::seconds;
    bool good = true;
    const auto is_next = [&](std::string_view any_of) {
        const bool there = !text.empty() && any_of.find(text.front()) != std::string_view::npos;
        text.remove_prefix(there ? 1 : 0);
        return there;
    };
    const auto number = [&](std::string_view after, std::size_t digits, unsigned largest) {
        good = good && (after.empty() || is_next(after)) && text.size() >= digits;
        unsigned value = 0;
        const char* const end = text.data() + (good ? digits : 0);
        good = good && std::from_chars(text.data(), end, value).ptr == end && value <= largest;
        text.remove_prefix(good ? digits : 0);
        return good ? value : 0U;
    };
    const int year = static_cast<int>(number("", 4, 9999));
    const std::chrono::month month{number("-", 2, 12)};
    const std::chrono::year_month_day date{std::chrono::year{year}, month, std::chrono::day{number("-", 2, 31)}};
    const std::chrono::hours hour{number("Tt ", 2, 23)};
    const std::chrono::minutes minute{number(":", 2, 59)};
    const seconds second{number(":", 2, 60)};  // 60 is a leap second
    std::int64_t fraction = 0;
    if (is_next(".,")) {
        const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
        std::string nanoseconds{text.substr(0, std::min<std::size_t>(digits, 9))};
        nanoseconds.resize(9, '0');
        std::from_chars(nanoseconds.data(), nanoseconds.data() + nanoseconds.size(), fraction);
        good = good && digits > 0;
        text.remove_prefix(digits);
    }
    seconds east{0};
    if (!is_next("Zz")) {
        const bool plus = is_next("+");
        east = std::chrono::hours{number(plus ? "" : "-", 2, 23)};
        if (!text.empty()) {
            static_cast<void>(is_next(":"));
            east += std::chrono::minutes{number("", 2, 59)};
        }
        east = plus ? east : -east;
    }
    if (!good || !text.empty() || !date.ok()) {
        return std::nullopt;
    }
    const seconds since_1970 = std::chrono::sys_days{date}.time_since_epoch() + hour + minute + second - east;
    return nearest_system_time(since_1970, std::chrono::nanoseconds{fraction});
}

inline keys_answer parse_keys_answer(byte_view body, const std::string& where, std::string_view sent) {
    smdebug::detail::json::document reader;
    const auto root = reader.parse(body);
    const auto text = [&](const char* name) -> std::optional<std::string> {
        const auto field = root ? (*root)[name] : std::nullopt;
        const auto value = field ? field->string() : std::nullopt;
        return value ? std::optional<std::string>{*value} : std::nullopt;
    };
    const auto without = [&](const std::string& why) {
        return keys_answer{keys_outcome::failing, {}, where + " (" + why + ")"};
    };
    if (!root || !root->is_object()) {
        return without("its answer is not a JSON object");
    }
    access_keys found{.id = text("AccessKeyId").value_or(""),
                      .secret = text("SecretAccessKey").value_or(""),
                      .token = text("Token").value_or("")};
    for (const char* name : {"Code", "code"}) {
        auto code = text(name);
        if (code && *code != "Success") {
            hide_keys(*code, found, letter_case::as_it_is);
            hide_keys(*code, {.token = std::string{sent}}, letter_case::as_it_is);
            const std::string word = plain_word(*code, "._-");
            return without("its answer is an error: " + (word.empty() || word.size() > 64 ? "?" : word));
        }
    }
    if (found.id.empty() || found.secret.empty() || !fits_header(found.id) || !fits_header(found.token)) {
        return without("its answer lacks AccessKeyId or SecretAccessKey, or they are damaged");
    }
    if (const auto expiration = (*root)["Expiration"]) {
        found.expires = parse_iso_time(expiration->string().value_or(""));
        if (!found.expires) {
            return without("the Expiration in its answer is not a time");
        }
    }
    return {keys_outcome::found, std::move(found), where};
}

inline http::request metadata_request(http::method how, std::string url, const metadata_limits& limits,
                                      http::request::clock::time_point latest) {
    constexpr std::uint64_t longest_answer = std::uint64_t{64} << 10U;
    return {.method = how,
            .url = std::move(url),
            .most = longest_answer,
            .connect_within = limits.connect_within,
            .stalled_after = limits.answer_within,
            .deadline = std::min(latest, http::request::clock::now() + limits.answer_within)};
}

inline bool is_ok(const http::response& got) noexcept { return got.answered() && got.status == 200; }

inline keys_answer without_keys(const http::response& got, const std::string& where) {
    if (!got.answered()) {
        const bool for_good = got.outcome == http::outcome::refused;
        return {for_good ? keys_outcome::refused : keys_outcome::unreachable,
                {},
                where + " (no answer: " + got.failure + ")"};
    }
    const bool passing = got.status == 408 || got.status == 429 || got.status >= 500;
    return {passing ? keys_outcome::failing : keys_outcome::refused,
            {},
            where + " (it answers with status " + std::to_string(got.status) + ")"};
}

inline keys_answer ask_repeatedly(const metadata_limits& limits,
                                  function_ref<keys_answer(http::request::clock::time_point)> once) {
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

/// Whether it is 127.x.y.z in plain decimal form.
inline bool is_loopback_ipv4(std::string_view host) {
    std::string plain = "127";
    std::string_view rest = host.substr(std::min<std::size_t>(4, host.size()));
    for (int part = 1; part < 4; ++part) {
        std::uint8_t value = 0;
        const char* const end = std::from_chars(rest.data(), rest.data() + rest.size(), value).ptr;
        plain.append(".").append(std::to_string(value));
        rest.remove_prefix(std::min(static_cast<std::size_t>(end - rest.data()) + 1, rest.size()));
    }
    return host == plain;
}

inline bool may_give_keys(std::string_view url) {
    const http::detail::url_parts parts = http::detail::parts_of(url);
    const auto odd = [](char c) { return c <= ' ' || c >= '\x7f' || c == '\\'; };  // includes bytes beyond ASCII
    const bool is_ipv6 = parts.host.starts_with('[') && parts.host.ends_with(']') && parts.host.size() > 2;
    const bool is_plain = !parts.host.empty() && parts.host.find_first_of("[]") == std::string_view::npos;
    // A user's name can make one host look like another.
    if (!parts.user.empty() || std::any_of(url.begin(), url.end(), odd) || (!is_ipv6 && !is_plain) ||
        parts.port.find_first_not_of("0123456789") != std::string_view::npos) {
        return false;
    }
    const std::string scheme = smdebug::detail::in_small_letters(parts.scheme);
    constexpr std::array<std::string_view, 5> known{"localhost", "[::1]", "169.254.170.2", "169.254.170.23",
                                                    "[fd00:ec2::23]"};
    const std::string host = smdebug::detail::in_small_letters(parts.host);
    const bool is_near = std::find(known.begin(), known.end(), host) != known.end() || is_loopback_ipv4(host);
    return scheme == "https" || (scheme == "http" && is_near);
}

inline std::optional<std::string> container_url(const environment_reader& environment) {
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

inline std::optional<std::string> container_token(const environment_reader& environment) {
    constexpr const char* file_name = "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE";
    constexpr const char* token_name = "AWS_CONTAINER_AUTHORIZATION_TOKEN";
    const char* from = token_name;
    auto token = variable(environment, token_name);
    if (const auto path = variable(environment, file_name)) {
        from = file_name;
        try {
            token = text_of_file(*path, std::uint64_t{64} << 10U);
        } catch (const error& thrown) {
            throw value_error(
                std::string{file_name} + " names a file that cannot be read: " + std::string{thrown.message()},
                {.where = *path});
        }
    }
    if (token && !fits_header(*token)) {
        throw value_error(std::string{"The token of "} + from +
                          " contains a line break or another control character, which cannot be sent.");
    }
    return token;
}

inline keys_answer keys_of_container(const http_transport& transport, const environment_reader& environment,
                                     const metadata_limits& limits) {
    const auto url = container_url(environment);
    if (!url) {
        return {keys_outcome::nothing_there,
                {},
                "the container (AWS_CONTAINER_CREDENTIALS_RELATIVE_URI and _FULL_URI are not set)"};
    }
    const std::string where = "the container's endpoint at " + std::string{http::detail::parts_of(*url).host};
    const auto token = container_token(environment);
    keys_answer got = ask_repeatedly(limits, [&](http::request::clock::time_point latest) {
        http::request ask = metadata_request(http::method::get, *url, limits, latest);
        ask.headers.push_back({"accept", "application/json"});
        if (token) {
            ask.headers.push_back({"authorization", *token});
        }
        const http::response answer = perform(transport, std::move(ask));
        return is_ok(answer) ? parse_keys_answer(answer.body.view(), where, token.value_or(""))
                             : without_keys(answer, where);
    });
    if (got.outcome == keys_outcome::unreachable) {
        got.outcome = keys_outcome::failing;
    }
    return got;
}

inline std::string instance_url(const environment_reader& environment) {
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
    const std::string mode = smdebug::detail::in_small_letters(variable(environment, mode_name).value_or("ipv4"));
    if (mode != "ipv4" && mode != "ipv6") {
        throw value_error(std::string{mode_name} + " must be IPv4 or IPv6");
    }
    return mode == "ipv4" ? "http://169.254.169.254" : "http://[fd00:ec2::254]";
}

/// One exchange with the service: fetches a token, the role's name, and its keys.
inline keys_answer ask_instance(const http_transport& transport, const metadata_limits& limits, const std::string& base,
                                http::request::clock::time_point latest) {
    constexpr const char* roles = "/latest/meta-data/iam/security-credentials/";
    const std::string where = "instance metadata at " + base;
    const auto ask = [&](http::method how, const std::string& path, const http::header& with) {
        http::request made = metadata_request(how, base + path, limits, latest);
        made.headers.push_back(with);
        return perform(transport, std::move(made));
    };
    const auto is_plain = [](std::string_view text) {
        constexpr std::size_t most = 4096;
        return !text.empty() && text.size() <= most &&
               std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
    };
    // The outcome of an answer without keys; `missing` if its status is 404.
    const auto without = [&](const http::response& got, keys_outcome missing, const char* why) {
        keys_answer made = without_keys(got, where);
        if (got.answered() && got.status == 404) {
            made = {missing, {}, where + why};
        } else if (!got.answered() || got.status == 401) {
            made.outcome = keys_outcome::failing;  // it has answered before, or the token has expired
        }
        return made;
    };
    const http::response token =
        ask(http::method::put, "/latest/api/token", {"x-aws-ec2-metadata-token-ttl-seconds", "21600"});
    if (!is_ok(token)) {
        keys_answer got = without_keys(token, where);
        if (token.answered() && got.outcome == keys_outcome::refused) {
            // Other clouds also answer here, in other formats; so does an instance that must not hand out keys.
            got.outcome = keys_outcome::nothing_there;
        }
        return got;
    }
    const http::header pass{"x-aws-ec2-metadata-token", std::string{as_text(token.body.view())}};
    if (!is_plain(pass.value)) {
        return {keys_outcome::nothing_there, {}, where + " (what answers there is another service)"};
    }
    const http::response list = ask(http::method::get, roles, pass);
    if (!is_ok(list)) {
        return without(list, keys_outcome::nothing_there, " (the instance has no role)");
    }
    const std::string_view names = as_text(list.body.view());
    const std::string_view role = names.substr(0, names.find_first_of("\r\n"));
    if (!is_plain(role) || role.find_first_of("/?#%\\") != std::string_view::npos) {
        return {keys_outcome::failing, {}, where + " (the name of the instance's role is missing or damaged)"};
    }
    const http::response keys = ask(http::method::get, roles + std::string{role}, pass);
    return is_ok(keys) ? parse_keys_answer(keys.body.view(), where, pass.value)
                       : without(keys, keys_outcome::failing, " (the instance's role has gone)");
}

inline keys_answer keys_of_instance(const http_transport& transport, const environment_reader& environment,
                                    const metadata_limits& limits) {
    if (switched_on(environment, "AWS_EC2_METADATA_DISABLED")) {
        return {keys_outcome::nothing_there, {}, "instance metadata (switched off by AWS_EC2_METADATA_DISABLED)"};
    }
    const std::string url = instance_url(environment);
    return ask_repeatedly(
        limits, [&](http::request::clock::time_point latest) { return ask_instance(transport, limits, url, latest); });
}

}  // namespace smdebug::inline v1::s3::detail
