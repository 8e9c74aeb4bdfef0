// The bodies of <smdebug/s3/credentials.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/s3/credentials.hpp>

#include <algorithm>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace s3 {

SMDEBUG_INLINE bool fits_header(std::string_view text) noexcept {
    return std::none_of(text.begin(), text.end(),
                        [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == '\x7f'; });
}

SMDEBUG_INLINE void check_keys(const access_keys& keys, const std::string& from) {
    if (keys.id.empty() || keys.secret.empty()) {
        throw value_error("The keys for S3 in " + from + " lack " +
                          (keys.id.empty() ? "the access key id" : "the secret access key") + ": both are needed.");
    }
    for (const auto& [what, text] : {std::pair<const char*, std::string_view>{"access key id", keys.id},
                                     {"secret access key", keys.secret},
                                     {"session token", keys.token}}) {
        if (!fits_header(text)) {
            throw value_error(std::string{"The "} + what + " in " + from +
                              " holds a line break or another control character: it was not copied as it is.");
        }
    }
}

}  // namespace s3

SMDEBUG_INLINE static_credentials::static_credentials(s3::access_keys keys) : keys_(std::move(keys)) {
    s3::check_keys(keys_, "the given credentials");
}

}  // namespace v1
}  // namespace smdebug
