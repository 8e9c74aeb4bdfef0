// The bodies of <smdebug/exporting/write/member_name.hpp>.
#pragma once

#include <smdebug/core/utf8.hpp>
#include <smdebug/exporting/write/member_name.hpp>

#include <algorithm>
#include <cstddef>

namespace smdebug {
inline namespace v1 {
namespace detail {

inline void append_escaped(std::string& out, std::string_view bytes) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    for (const char each : bytes) {
        const auto code = static_cast<unsigned char>(each);
        out += '%';
        out += digits[code >> 4U];
        out += digits[code & 15U];
    }
}

// A part between slashes.
inline void append_name_part(std::string& out, std::string_view part) {
    if (part == "." || part == "..") {
        append_escaped(out, part);
        return;
    }
    while (!part.empty()) {
        const auto [code, found] = first_utf8_character(part);
        const std::size_t length = std::max<std::size_t>(found, 1);
        const bool plain =
            found > 0 && code >= 0x20 && code != 0x7f && (code < 0x80 || code > 0x9f) && code != '%' && code != '\\';
        plain ? static_cast<void>(out.append(part.substr(0, length))) : append_escaped(out, part.substr(0, length));
        part.remove_prefix(length);
    }
}

SMDEBUG_INLINE std::string member_name(std::string_view name) {
    if (name.empty()) {
        return "%";
    }
    std::string out;
    for (std::size_t begin = 0; begin <= name.size();) {
        const std::size_t slash = std::min(name.find('/', begin), name.size());
        append_name_part(out, name.substr(begin, slash - begin));
        if (slash < name.size()) {
            const bool joins = slash > begin && slash + 1 < name.size() && name[slash + 1] != '/';
            joins ? static_cast<void>(out += '/') : append_escaped(out, "/");
        }
        begin = slash + 1;
    }
    constexpr std::string_view extension = ".npy";
    if (name.ends_with(extension)) {
        out.resize(out.size() - extension.size());
        append_escaped(out, ".");
        out += extension.substr(1);
    }
    if (out.size() > 2 && out[1] == ':' && out[2] == '/') {
        out = out.substr(0, 1) + "%3A" + out.substr(2);
    }
    return out;
}

SMDEBUG_INLINE std::string file_name_part(std::string_view text) {
    std::string out;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t slash = std::min(text.find('/', begin), text.size());
        append_name_part(out, text.substr(begin, slash - begin));
        if (slash < text.size()) {
            append_escaped(out, "/");
        }
        begin = slash + 1;
    }
    return out;
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
