// The keys that requests to S3 are signed with.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/s3/credentials/key_pieces.hpp>

#include <chrono>
#include <optional>
#include <string>

namespace smdebug {
inline namespace v1 {
namespace s3 {

/// Who asks.  No keys at all, as in an empty optional, is anonymous access.
/// Nothing here can be printed, by purpose: not even the id belongs into a message or a log.
struct access_keys {
    std::string id = {};
    std::string secret = {};
    std::string token = {};  ///< of temporary keys: goes out with each request.  Empty: there is none
    /// When they cease to be good, as far as it is known.
    std::optional<std::chrono::system_clock::time_point> expires = {};
    friend bool operator==(const access_keys&, const access_keys&) = default;
};

/// Puts "..." in the place of whatever a text holds of the keys, also of pieces of five characters and more, see
/// hide_pieces(): servers put into their answers what they were sent, cut and escaped.  To be called with the whole
/// text, before it is shortened.
void hide_keys(std::string& text, const access_keys& keys, detail::letter_case how = detail::letter_case::any);

}  // namespace s3
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/credentials/impl/keys.ipp>
#endif
