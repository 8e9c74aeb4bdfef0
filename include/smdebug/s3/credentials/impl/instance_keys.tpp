// The bodies of <smdebug/s3/credentials/instance_keys.hpp> that are templates.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/s3/credentials/instance_keys.hpp>

#include <algorithm>
#include <cstddef>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

template <http_transport Transport>
keys_answer instance_talk<Transport>::once(http::request::clock::time_point latest) {
    const http::response token =
        ask(http::method::put, "/latest/api/token", latest, {"x-aws-ec2-metadata-token-ttl-seconds", "21600"});
    if (!is_ok(token)) {
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
        made.outcome = keys_outcome::failing;  // it did answer before
    }
    return made;
}

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug
