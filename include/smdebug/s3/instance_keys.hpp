// The keys of a machine's role, from EC2's instance metadata service, version 2.
// Used by: s3/default_credentials.hpp.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/http/concepts.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/s3/environment.hpp>
#include <smdebug/s3/keys_answer.hpp>
#include <smdebug/s3/metadata_exchange.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace s3 {

/// "http://169.254.169.254", or what AWS_EC2_METADATA_SERVICE_ENDPOINT says, or the IPv6 address when
/// AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE is IPv6; without a '/' at the end.
/// Errors: value_error for what is no address, or no mode.
[[nodiscard]] inline std::string instance_url(const environment_reader& environment) {
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

namespace detail {

/// One conversation: a token, the role's name, its keys.
template <http_transport Transport>
class instance_talk {
public:
    instance_talk(const Transport& transport, const metadata_limits& limits, std::string base, std::string where)
        : transport_(transport), limits_(limits), base_(std::move(base)), where_(std::move(where)) {}

    [[nodiscard]] keys_answer once(http::request::clock::time_point latest) {
        const http::response token =
            ask(http::method::put, "/latest/api/token", latest, {"x-aws-ec2-metadata-token-ttl-seconds", "21600"});
        if (!given(token)) {
            keys_answer got = without_keys(token, where_);
            if (token.answered() && got.outcome == keys_outcome::refused) {
                // Other clouds answer here, too, in their own way; so does an instance that is not to give keys.
                got.outcome = keys_outcome::nothing_there;
            }
            return got;
        }
        const http::header pass{"x-aws-ec2-metadata-token", std::string{as_text(token.body.view())}};
        if (!plain(pass.value)) {
            return {keys_outcome::nothing_there, {}, where_ + " (what answers there is another service)"};
        }
        const http::response list = ask(http::method::get, roles, latest, pass);
        if (!given(list)) {
            return without(list, keys_outcome::nothing_there, " (the instance has no role)");
        }
        const std::string_view names = as_text(list.body.view());
        const std::string_view role = names.substr(0, names.find_first_of("\r\n"));
        if (!plain(role) || role.find_first_of("/?#%\\") != std::string_view::npos) {
            return {keys_outcome::failing, {}, where_ + " (the name of the instance's role is missing or damaged)"};
        }
        const http::response keys = ask(http::method::get, roles + std::string{role}, latest, pass);
        return given(keys) ? parse_keys_answer(keys.body.view(), where_, pass.value)
                           : without(keys, keys_outcome::failing, " (the instance's role has gone)");
    }

private:
    static constexpr const char* roles = "/latest/meta-data/iam/security-credentials/";

    [[nodiscard]] static bool given(const http::response& got) noexcept {
        constexpr int ok = 200;
        return got.answered() && got.status == ok;
    }
    /// Not empty, not long, printable and without blanks.
    [[nodiscard]] static bool plain(std::string_view text) noexcept {
        constexpr std::size_t most = 4096;
        return !text.empty() && text.size() <= most &&
               std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
    }

    [[nodiscard]] http::response ask(http::method how, const std::string& path, http::request::clock::time_point latest,
                                     const http::header& with) const {
        http::request made = metadata_request(how, base_ + path, limits_, latest);
        made.headers.push_back(with);
        return perform(transport_, std::move(made));
    }
    /// What an answer without keys means; `missing` when it is 404.
    [[nodiscard]] keys_answer without(const http::response& got, keys_outcome missing, const char* why) const {
        constexpr int not_there = 404;
        constexpr int token_expired = 401;
        keys_answer made = without_keys(got, where_);
        if (got.answered() && got.status == not_there) {
            made = {missing, {}, where_ + why};
        } else if (!got.answered() || got.status == token_expired) {
            made.outcome = keys_outcome::failing;  // it did answer before
        }
        return made;
    }

    const Transport& transport_;
    const metadata_limits& limits_;
    std::string base_;
    std::string where_;
};

}  // namespace detail

/// Asks the instance metadata service, unless AWS_EC2_METADATA_DISABLED is true.
/// Errors: value_error, as instance_url().  Cost: three requests, one after the other; see metadata_limits for what it
/// costs where there is no such service.
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

}  // namespace s3
}  // namespace v1
}  // namespace smdebug
