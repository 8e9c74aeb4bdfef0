// The bodies of <smdebug/archive/write/tar_head.hpp>.
#pragma once

#include <smdebug/archive/write/tar_head.hpp>

#include <algorithm>
#include <cstddef>

namespace smdebug {
inline namespace v1 {
namespace archive {
namespace detail {
namespace tar {

inline constexpr std::size_t name_bytes = 100;
inline constexpr std::uint64_t octal_end = std::uint64_t{1} << 33U;  // of eleven digits

/// Octal digits with a NUL behind them, as wide as the field; of what does not fit, zeros.
inline void put_octal(std::string& head, std::size_t begin, std::size_t length, std::uint64_t value) {
    for (std::size_t i = begin + length - 1; i-- > begin; value >>= 3U) {
        head[i] = static_cast<char>('0' + (value & 7U));
    }
}

[[nodiscard]] inline std::string plain_head(std::string_view name, char kind, std::uint64_t size,
                                            std::uint64_t seconds) {
    std::string head(512, '\0');
    name.copy(head.data(), name_bytes);
    put_octal(head, 100, 8, 0644U);
    put_octal(head, 108, 8, 0);
    put_octal(head, 116, 8, 0);
    put_octal(head, 124, 12, size < octal_end ? size : 0);
    put_octal(head, 136, 12, seconds < octal_end ? seconds : 0);
    head[156] = kind;
    std::string_view{"ustar\00000", 8}.copy(head.data() + 257, 8);
    head.replace(148, 8, 8, ' ');
    std::uint64_t sum = 0;
    for (const char one : head) {
        sum += static_cast<unsigned char>(one);
    }
    put_octal(head, 148, 7, sum);
    head[154] = '\0';
    return head;
}

/// "LENGTH KEY=VALUE\n", where the length counts itself.
inline void append_keyword(std::string& text, std::string_view key, std::string_view value) {
    const std::size_t rest = key.size() + value.size() + 3;
    std::size_t length = rest + 1;
    while (std::to_string(length).size() + rest != length) {
        length = std::to_string(length).size() + rest;
    }
    text.append(std::to_string(length)).append(" ").append(key).append("=").append(value).append("\n");
}

}  // namespace tar

SMDEBUG_INLINE std::string tar_head(std::string_view name, std::uint64_t size, std::uint64_t seconds) {
    std::string text;
    if (name.size() > tar::name_bytes) {
        tar::append_keyword(text, "path", name);
    }
    if (size >= tar::octal_end) {
        tar::append_keyword(text, "size", std::to_string(size));
    }
    std::string heads;
    if (!text.empty()) {
        heads = tar::plain_head("PaxHeaders/next", 'x', text.size(), seconds);
        text.resize(text.size() + tar_padding(text.size()));
        heads += text;
    }
    return heads + tar::plain_head(name, '0', size, seconds);
}

}  // namespace detail
}  // namespace archive
}  // namespace v1
}  // namespace smdebug
