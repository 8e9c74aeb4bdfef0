// The bodies of <smdebug/http/message.hpp>.
#pragma once

#include <smdebug/http/message.hpp>

#include <algorithm>

namespace smdebug {
inline namespace v1 {
namespace http {

SMDEBUG_INLINE std::optional<std::string_view> response::find_header(std::string_view name) const noexcept {
    const auto found =
        std::find_if(headers.begin(), headers.end(), [&](const header& line) { return line.name == name; });
    return found == headers.end() ? std::nullopt : std::optional<std::string_view>{found->value};
}

}  // namespace http
}  // namespace v1
}  // namespace smdebug
