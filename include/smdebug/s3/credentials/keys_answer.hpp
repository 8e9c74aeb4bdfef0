// What comes of looking for keys in one place, and the JSON in which metadata services hand them out.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/s3/credentials.hpp>
#include <smdebug/s3/credentials/iso_time.hpp>
#include <smdebug/s3/credentials/keys.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

enum class keys_outcome : std::uint8_t {
    found,
    nothing_there,  ///< the place is not set up, or has none: another one may have
    unreachable,    ///< nobody answers
    failing,        ///< there is an answer, but no keys in it now: trying again may help
    refused,        ///< there is an answer, and it is that there will be none
};

/// What came of looking in one place.
struct keys_answer {
    keys_outcome outcome = keys_outcome::nothing_there;
    std::optional<access_keys> keys = {};  ///< where found
    std::string seen = {};                 ///< where it was looked, and what was seen, for messages: never a secret
};

/// A word of a service, such as an error's code, as far as it is fit to be shown.
[[nodiscard]] std::string shown_word(std::string_view text);

/// Reads {"AccessKeyId", "SecretAccessKey", "Token", "Expiration", "Code"} as container endpoints and instances answer.
/// `where` names the service, for messages; `sent` is what it was asked with and must not repeat there.  Only
/// `Expiration` may be missing, and `Code` and `Token`: keys without a time of expiry do not expire.
[[nodiscard]] keys_answer parse_keys_answer(byte_view body, const std::string& where, std::string_view sent = {});

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/credentials/impl/keys_answer.ipp>
#endif
