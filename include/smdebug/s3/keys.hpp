// The keys that requests to S3 are signed with.
// Used by: s3, users who bring their own credentials.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

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

/// Puts "..." in the place of whatever a text holds of the keys: servers put into their answers what they were sent.
inline void hide_keys(std::string& text, const access_keys& keys) {
    for (const std::string_view hidden :
         {std::string_view{keys.token}, std::string_view{keys.secret}, std::string_view{keys.id}}) {
        for (std::size_t at = hidden.empty() ? std::string::npos : text.find(hidden); at != std::string::npos;
             at = text.find(hidden, at + 3)) {
            text.replace(at, hidden.size(), "...");
        }
    }
}

}  // namespace s3
}  // namespace v1
}  // namespace smdebug
