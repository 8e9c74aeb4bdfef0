// The bodies of <smdebug/report/data_writer.hpp>.
#pragma once

#include <smdebug/report/data_writer.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
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

SMDEBUG_INLINE bool fits_float(double value) noexcept {
    const double size = std::abs(value);
    return !std::isfinite(value) || size == 0 ||
           (size >= double{std::numeric_limits<float>::min()} && size <= double{std::numeric_limits<float>::max()});
}

SMDEBUG_INLINE void data_writer::number(double value) {
    constexpr std::uint32_t absent = 0x7FC0'0001;
    auto bits = is_absent(value) ? absent : std::bit_cast<std::uint32_t>(static_cast<float>(value));
    for (int i = 0; i < 4; ++i, bits >>= 8U) {
        byte(static_cast<std::uint8_t>(bits));
    }
}

SMDEBUG_INLINE void data_writer::wide_number(double value) {
    auto bits = std::bit_cast<std::uint64_t>(value);
    for (int i = 0; i < 8; ++i, bits >>= 8U) {
        byte(static_cast<std::uint8_t>(bits));
    }
}

SMDEBUG_INLINE void data_writer::numbers(std::span<const double> values) {
    const bool wide = !std::all_of(values.begin(), values.end(), fits_float);
    byte(wide ? 1 : 0);
    for (const double each : values) {
        wide ? wide_number(each) : number(each);
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
    const auto bits = [&](std::size_t row, std::size_t in) { return std::bit_cast<std::uint64_t>(of.rows[row][in]); };
    std::optional<std::uint64_t> first;
    bool constant = true;
    bool wide = false;
    bool as_before = follows_another && column > 0;
    for (std::size_t i = 0; i < of.rows.size(); ++i) {
        if (of.there[i]) {
            first = first.value_or(bits(i, column));
            constant = constant && *first == bits(i, column);
            as_before = as_before && bits(i, column) == bits(i, column - 1);
            wide = wide || !fits_float(of.rows[i][column]);
        }
    }
    const auto put = [&](double value) { wide ? wide_number(value) : number(value); };
    if (constant) {
        byte(wide ? 3 : 0);
        put(std::bit_cast<double>(first.value_or(0)));
    } else if (as_before) {
        byte(2);
    } else {
        byte(wide ? 4 : 1);
        for (std::size_t i = 0; i < of.rows.size(); ++i) {
            if (of.there[i]) {
                put(of.rows[i][column]);
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
