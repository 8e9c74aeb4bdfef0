// The bodies of <smdebug/report/data_writer.hpp>.
#pragma once

#include <smdebug/report/data_writer.hpp>

#include <algorithm>
#include <bit>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace report {
namespace detail {

SMDEBUG_INLINE void data_writer::whole(std::uint64_t value) {
    while (value >= 0x80) {
        byte(static_cast<std::uint8_t>(value | 0x80));
        value >>= 7U;
    }
    byte(static_cast<std::uint8_t>(value));
}

SMDEBUG_INLINE void data_writer::number(float value) {
    auto bits = std::bit_cast<std::uint32_t>(value);
    for (int i = 0; i < 4; ++i, bits >>= 8U) {
        byte(static_cast<std::uint8_t>(bits));
    }
}

SMDEBUG_INLINE void data_writer::presence(const std::vector<bool>& there) {
    std::vector<std::size_t> runs{0};
    bool now = false;
    for (const bool each : there) {
        if (each != now) {
            runs.push_back(0);
            now = each;
        }
        ++runs.back();
    }
    whole(runs.size());
    for (const std::size_t run : runs) {
        whole(run);
    }
}

SMDEBUG_INLINE void data_writer::column(const tensor_series& of, std::size_t column, bool follows_another) {
    const auto bits = [&](std::size_t row, std::size_t in) { return std::bit_cast<std::uint32_t>(of.rows[row][in]); };
    std::optional<std::uint32_t> first;
    bool constant = true;
    bool as_before = follows_another && column > 0;
    for (std::size_t i = 0; i < of.rows.size(); ++i) {
        if (of.there[i]) {
            first = first.value_or(bits(i, column));
            constant = constant && *first == bits(i, column);
            as_before = as_before && bits(i, column) == bits(i, column - 1);
        }
    }
    if (constant) {
        byte(0);
        number(std::bit_cast<float>(first.value_or(0)));
    } else if (as_before) {
        byte(2);
    } else {
        byte(1);
        for (std::size_t i = 0; i < of.rows.size(); ++i) {
            if (of.there[i]) {
                number(of.rows[i][column]);
            }
        }
    }
}

SMDEBUG_INLINE std::string base64(byte_view bytes) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::size_t size = std::min<std::size_t>(3, bytes.size() - i);
        std::uint32_t three = 0;
        for (std::size_t j = 0; j < 3; ++j) {
            three = (three << 8U) | (j < size ? std::to_integer<std::uint32_t>(bytes[i + j]) : 0U);
        }
        for (std::size_t j = 0; j < 4; ++j) {
            text += j <= size ? digits[(three >> (18U - 6U * j)) & 63U] : '=';
        }
    }
    return text;
}

}  // namespace detail
}  // namespace report
}  // namespace v1
}  // namespace smdebug
