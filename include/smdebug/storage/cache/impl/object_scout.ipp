// The bodies of <smdebug/storage/cache/object_scout.hpp>.
#pragma once

#include <smdebug/core/utf8.hpp>
#include <smdebug/storage/cache/object_scout.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE std::string key_before(std::string_view key) {
    std::string before{key};
    if (before.empty()) {
        return before;
    }
    const auto last = static_cast<unsigned char>(before.back());
    if (last > 0x20 && last < 0x7F) {
        before.back() = static_cast<char>(last - 1);
        return before + '~';
    }
    bool inside_character = true;  // which goes whole, should the key be UTF-8
    while (inside_character && !before.empty()) {
        inside_character = continues_utf8_character(before.back());
        before.pop_back();
    }
    return before;
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
