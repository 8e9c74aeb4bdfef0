// Whoever gives the keys that requests to S3 are signed with, as a policy; and the two that need not look for them.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/s3/credentials/keys.hpp>

#include <chrono>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {

/// keys(now): what to sign with at that time, or nothing, which is anonymous access.
template <class C>
concept key_giver = requires(const C& credentials, std::chrono::system_clock::time_point now) {
    { credentials.keys(now) } -> std::same_as<std::optional<s3::access_keys>>;
};

/// renew(): forgets the keys, because the server said that they have expired.
template <class C>
concept key_renewer = requires(const C& credentials) {
    { credentials.renew() } -> std::same_as<void>;
};

/// Gives the keys that requests are signed with.  A type C models `credentials_provider` when:
///  1. keys(now) gives keys that are good at `now`, as far as is known, and is cheap as long as they are: it is called
///     for each request;
///  2. where none can be had it throws: access_denied, which says where it looked; unavailable, when a service that
///     gives keys does not answer (trying again later may help); unsupported and value_error for settings that it
///     cannot follow;
///  3. renew() makes the next keys() ask afresh.  Whoever signs calls it when the server calls keys expired that
///     keys() still gives;
///  4. copies share what they hold; const calls may run at once on many threads.
/// keys() may wait for an answer over a transport: it is not for the transport's own threads.
template <class C>
concept credentials_provider = std::copyable<C> && key_giver<C> && key_renewer<C>;

namespace s3 {

/// Whether text can be the value of a header: without line breaks or other control characters.
[[nodiscard]] bool fits_header(std::string_view text) noexcept;

/// Throws value_error for keys that can never be right.  `from` says where they are from: "AWS_ACCESS_KEY_ID and
/// AWS_SECRET_ACCESS_KEY".
void check_keys(const access_keys& keys, const std::string& from);

}  // namespace s3

/// Keys that the caller has.  Used as they are, also past their `expires`: the server will say so.
class static_credentials {
public:
    /// Errors: value_error for keys without id or secret, or with control characters in them.
    explicit static_credentials(s3::access_keys keys);

    [[nodiscard]] std::optional<s3::access_keys> keys(std::chrono::system_clock::time_point /*now*/) const {
        return keys_;
    }
    void renew() const noexcept {}

private:
    s3::access_keys keys_;
};

/// No keys: for buckets that everybody may read.
struct anonymous_credentials {
    [[nodiscard]] std::optional<s3::access_keys> keys(std::chrono::system_clock::time_point /*now*/) const {
        return std::nullopt;
    }
    void renew() const noexcept {}
};

static_assert(credentials_provider<static_credentials>);
static_assert(credentials_provider<anonymous_credentials>);

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/impl/credentials.ipp>
#endif
