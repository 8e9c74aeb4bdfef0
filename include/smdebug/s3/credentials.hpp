// The keys that sign requests to S3, the interface of a provider of them, and the two providers that need not search
// for any.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/s3/options.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace smdebug::inline v1 {
namespace s3 {
namespace detail {

/// Whether 'a' may stand for 'A', as in host names.
enum class letter_case : std::uint8_t { any, as_it_is };

/// Replaces all parts of secrets in a text by "...": any five consecutive characters of one, also if they are escaped
/// (up to three times), or separated by other characters than letters and digits.  Cost: some tens of microseconds
/// for a message of 300 characters.
void hide_pieces(std::string& text, std::span<const std::string_view> secrets, letter_case how = letter_case::any);

[[nodiscard]] constexpr bool is_alphanumeric(char c) noexcept {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/// `text`, a word of a server, if it is short and has only letters, digits and these other characters; else empty.
[[nodiscard]] std::string plain_word(std::string_view text, std::string_view others);

}  // namespace detail

/// Replaces all parts of the keys in a text by "...", down to pieces of five characters, see hide_pieces(): servers
/// echo requests in their answers, cut and escaped.  Call it with the whole text, before it is shortened.
void hide_keys(std::string& text, const access_keys& keys, detail::letter_case how = detail::letter_case::any);

/// Whether text may be a header's value: it has no line breaks or other control characters.
[[nodiscard]] inline bool fits_header(std::string_view text) noexcept {
    return std::none_of(text.begin(), text.end(),
                        [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == '\x7f'; });
}

/// Throws value_error for keys that can never be valid.  `from` names their source: "AWS_ACCESS_KEY_ID and
/// AWS_SECRET_ACCESS_KEY".
void check_keys(const access_keys& keys, const std::string& from);

}  // namespace s3

/// Provides the keys that sign requests.  Derive from it to take them from elsewhere.  Threads: const calls may run
/// concurrently on many.  keys() may wait for an answer over a transport: it must not be called on the transport's own
/// threads.
class credentials_provider {
public:
    virtual ~credentials_provider() = default;

    /// The keys to sign with at that time, as far as is known valid then; nothing for anonymous access.
    /// Cheap while they are valid: it is called for each request.
    /// Errors: access_denied, which lists the places searched; unavailable, when a service that provides keys does not
    /// answer (trying again later may help); unsupported and value_error for settings that it cannot follow.
    [[nodiscard]] virtual std::optional<s3::access_keys> keys(std::chrono::system_clock::time_point now) const = 0;

    /// Makes the next keys() fetch new ones: the server has rejected as expired those that keys() still returns.
    virtual void renew() const = 0;

protected:
    credentials_provider() = default;
    credentials_provider(const credentials_provider&) = default;
    credentials_provider& operator=(const credentials_provider&) = default;
};

/// Keys given by the caller.  Used unchanged, even past their `expires`: the server will reject them.
class static_credentials final : public credentials_provider {
public:
    /// Errors: value_error for keys without id or secret, or with control characters in them.
    explicit static_credentials(s3::access_keys keys) : keys_(std::move(keys)) {
        s3::check_keys(keys_, "the given credentials");
    }

    [[nodiscard]] std::optional<s3::access_keys> keys(std::chrono::system_clock::time_point /*now*/) const override {
        return keys_;
    }
    void renew() const override {}

private:
    s3::access_keys keys_;
};

/// No keys: for public buckets.
class anonymous_credentials final : public credentials_provider {
public:
    [[nodiscard]] std::optional<s3::access_keys> keys(std::chrono::system_clock::time_point /*now*/) const override {
        return std::nullopt;
    }
    void renew() const override {}
};

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/impl/credentials.ipp>
#endif
