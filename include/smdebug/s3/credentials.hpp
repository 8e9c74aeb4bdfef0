// The concept of a provider of keys that sign requests to S3, and the two providers that need not search for any.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/s3/credentials/keys.hpp>

#include <algorithm>
#include <chrono>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace smdebug::inline v1 {

/// keys(now): the keys to sign with at that time, or nothing for anonymous access.
template <class Credentials>
concept key_giver = requires(const Credentials& credentials, std::chrono::system_clock::time_point now) {
    { credentials.keys(now) } -> std::same_as<std::optional<s3::access_keys>>;
};

/// renew(): drops the keys, because the server said that they have expired.
template <class Credentials>
concept key_renewer = requires(const Credentials& credentials) {
    { credentials.renew() } -> std::same_as<void>;
};

/// Provides the keys that sign requests.  A type C models `credentials_provider` when:
///  1. keys(now) returns keys that are valid at `now`, as far as is known, and is cheap while they are: it is called
///     for each request;
///  2. if it finds no keys it throws: access_denied, which lists the places searched; unavailable, when a service that
///     provides keys does not answer (trying again later may help); unsupported and value_error for settings that it
///     cannot follow;
///  3. renew() makes the next keys() fetch new ones.  The signing code calls it when the server rejects as expired the
///     keys that keys() still returns;
///  4. copies share their state; const calls may run concurrently on many threads.
/// keys() may wait for an answer over a transport: it must not be called on the transport's own threads.
template <class Credentials>
concept credentials_provider = std::copyable<Credentials> && key_giver<Credentials> && key_renewer<Credentials>;

namespace s3 {

/// Whether text may be a header's value: it has no line breaks or other control characters.
[[nodiscard]] inline bool fits_header(std::string_view text) noexcept {
    return std::none_of(text.begin(), text.end(),
                        [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == '\x7f'; });
}

/// Throws value_error for keys that can never be valid.  `from` names their source: "AWS_ACCESS_KEY_ID and
/// AWS_SECRET_ACCESS_KEY".
inline void check_keys(const access_keys& keys, const std::string& from) {
    if (keys.id.empty() || keys.secret.empty()) {
        throw value_error("The keys for S3 in " + from + " lack " +
                          (keys.id.empty() ? "the access key id" : "the secret access key") + ": both are needed.");
    }
    for (const auto& [what, text] : {std::pair<const char*, std::string_view>{"access key id", keys.id},
                                     {"secret access key", keys.secret},
                                     {"session token", keys.token}}) {
        if (!fits_header(text)) {
            throw value_error(std::string{"The "} + what + " in " + from +
                              " contains a line break or another control character: it was not copied correctly.");
        }
    }
}

}  // namespace s3

/// Keys given by the caller.  Used unchanged, even past their `expires`: the server will reject them.
class static_credentials {
public:
    /// Errors: value_error for keys without id or secret, or with control characters in them.
    explicit static_credentials(s3::access_keys keys) : keys_(std::move(keys)) {
        s3::check_keys(keys_, "the given credentials");
    }

    [[nodiscard]] std::optional<s3::access_keys> keys(std::chrono::system_clock::time_point /*now*/) const {
        return keys_;
    }
    void renew() const noexcept {}

private:
    s3::access_keys keys_;
};

/// No keys: for public buckets.
struct anonymous_credentials {
    [[nodiscard]] std::optional<s3::access_keys> keys(std::chrono::system_clock::time_point /*now*/) const {
        return std::nullopt;
    }
    void renew() const noexcept {}
};

static_assert(credentials_provider<static_credentials>);
static_assert(credentials_provider<anonymous_credentials>);

}  // namespace smdebug::inline v1
