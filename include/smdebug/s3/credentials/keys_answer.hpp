// The result of searching one source for keys, and the JSON in which metadata services return them.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/s3/credentials.hpp>
#include <smdebug/s3/credentials/keys.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug::inline v1::s3::detail {

/// Consumes pieces from the front of a text; after the first mismatch it fails and consumes nothing more.
class time_pieces {
public:
    explicit time_pieces(std::string_view text) noexcept : left_(text) {}

    [[nodiscard]] bool whole() const noexcept { return good_ && left_.empty(); }
    [[nodiscard]] bool skip(std::string_view any_of) noexcept;
    void expect(std::string_view any_of) noexcept { good_ = skip(any_of) && good_; }
    /// Exactly that many digits, up to a largest value.
    [[nodiscard]] int number(std::size_t digits, int largest) noexcept;
    /// The digits of the fraction, at least one; truncated to nanoseconds.
    [[nodiscard]] std::chrono::nanoseconds fraction() noexcept;

private:
    [[nodiscard]] std::optional<int> digit() noexcept;

    std::string_view left_;
    bool good_ = true;
};

/// A time with its zone: "2026-11-21T10:00:00Z", optionally with a fraction of a second after '.' or ',', and with
/// "+01:00", "+0100" or "+01" instead of the 'Z'.  Exact to the system clock's resolution; clamped to its range.
/// Nothing for anything else, including a time without a zone.
[[nodiscard]] std::optional<std::chrono::system_clock::time_point> parse_iso_time(std::string_view text) noexcept;

enum class keys_outcome : std::uint8_t {
    found,
    nothing_there,  ///< the source is not configured or has no keys: another one may have some
    unreachable,    ///< no answer
    failing,        ///< an answer without keys for now: trying again may help
    refused,        ///< an answer that denies keys for good
};

/// The result of searching one source.
struct keys_answer {
    keys_outcome outcome = keys_outcome::nothing_there;
    std::optional<access_keys> keys = {};  ///< if found
    std::string seen = {};                 ///< the source and its state, for messages: never a secret
};

/// A word from a service, such as an error code, made safe to show.
[[nodiscard]] std::string shown_word(std::string_view text);

/// Reads {"AccessKeyId", "SecretAccessKey", "Token", "Expiration", "Code"}, the answer of container endpoints and
/// instances.  `where` names the service, for messages; `sent` is the secret sent to it, which must not appear there.
/// `Expiration`, `Code` and `Token` may be missing: keys without an expiration do not expire.
[[nodiscard]] keys_answer parse_keys_answer(byte_view body, const std::string& where, std::string_view sent = {});

}  // namespace smdebug::inline v1::s3::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/credentials/impl/keys_answer.ipp>
#endif
