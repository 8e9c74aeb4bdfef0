// The bodies of <smdebug/s3/credentials/keys.hpp>.
#pragma once

#include <smdebug/s3/credentials/keys.hpp>

#include <array>
#include <cstddef>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace s3 {

SMDEBUG_INLINE void hide_keys(std::string& text, const access_keys& keys, detail::letter_case how) {
    const std::array all{std::string_view{keys.token}, std::string_view{keys.secret}, std::string_view{keys.id}};
    for (const std::string_view hidden : all) {
        for (std::size_t at = hidden.empty() ? std::string::npos : text.find(hidden); at != std::string::npos;
             at = text.find(hidden, at + 3)) {
            text.replace(at, hidden.size(), "...");
        }
    }
    detail::hide_pieces(text, all, how);
}

}  // namespace s3
}  // namespace v1
}  // namespace smdebug
