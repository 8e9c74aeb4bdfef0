// The bodies of <smdebug/s3/call/http_date.hpp>.
#pragma once

#include <smdebug/core/system_time.hpp>
#include <smdebug/s3/call/http_date.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <system_error>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

SMDEBUG_INLINE std::optional<std::chrono::system_clock::time_point> parse_http_date(std::string_view text) {
    constexpr std::size_t length = 29;
    constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    if (text.size() != length || text.substr(3, 2) != ", " || !text.ends_with(" GMT") || text[7] != ' ' ||
        text[11] != ' ' || text[16] != ' ' || text[19] != ':' || text[22] != ':') {
        return std::nullopt;
    }
    bool is_good = true;
    const auto number = [&](std::size_t at, std::size_t count) {
        unsigned value = 0;
        const char* const end = text.data() + at + count;
        const auto [stop, code] = std::from_chars(text.data() + at, end, value);
        is_good = is_good && code == std::errc{} && stop == end;
        return value;
    };
    const auto month = std::find(months.begin(), months.end(), text.substr(8, 3));
    const unsigned day = number(5, 2);
    const unsigned year = number(12, 4);
    const unsigned hour = number(17, 2);
    const unsigned minute = number(20, 2);
    const unsigned second = number(23, 2);
    const std::chrono::year_month_day date{std::chrono::year{static_cast<int>(year)},
                                           std::chrono::month{static_cast<unsigned>(month - months.begin()) + 1},
                                           std::chrono::day{day}};
    if (!is_good || !date.ok() || hour > 23 || minute > 59 || second > 60) {
        return std::nullopt;
    }
    return nearest_system_time(std::chrono::sys_days{date}.time_since_epoch() + std::chrono::hours{hour} +
                               std::chrono::minutes{minute} + std::chrono::seconds{second});
}

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug
