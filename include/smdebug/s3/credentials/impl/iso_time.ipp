// The bodies of <smdebug/s3/credentials/iso_time.hpp>.
#pragma once

#include <smdebug/core/system_time.hpp>
#include <smdebug/s3/credentials/iso_time.hpp>

#include <cstdint>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

SMDEBUG_INLINE bool time_pieces::skip(std::string_view any_of) noexcept {
    const bool there = !left_.empty() && any_of.find(left_.front()) != std::string_view::npos;
    left_.remove_prefix(there ? 1 : 0);
    return there;
}

SMDEBUG_INLINE int time_pieces::number(std::size_t digits, int largest) noexcept {
    int value = 0;
    for (std::size_t i = 0; i < digits; ++i) {
        value = value * 10 + digit().value_or(0);
    }
    good_ = good_ && value <= largest;
    return value;
}

SMDEBUG_INLINE std::chrono::nanoseconds time_pieces::fraction() noexcept {
    std::int64_t value = 0;
    std::int64_t unit = 100'000'000;
    do {
        value += unit * digit().value_or(0);
        unit /= 10;
    } while (good_ && !left_.empty() && left_.front() >= '0' && left_.front() <= '9');
    return std::chrono::nanoseconds{value};
}

SMDEBUG_INLINE std::optional<int> time_pieces::digit() noexcept {
    if (left_.empty() || left_.front() < '0' || left_.front() > '9') {
        good_ = false;
        return std::nullopt;
    }
    const int value = left_.front() - '0';
    left_.remove_prefix(1);
    return value;
}

SMDEBUG_INLINE std::optional<std::chrono::system_clock::time_point> parse_iso_time(std::string_view text) noexcept {
    using std::chrono::seconds;
    detail::time_pieces pieces{text};
    const int year = pieces.number(4, 9999);
    pieces.expect("-");
    const int month = pieces.number(2, 12);
    pieces.expect("-");
    const int day = pieces.number(2, 31);
    pieces.expect("Tt ");
    const int hour = pieces.number(2, 23);
    pieces.expect(":");
    const int minute = pieces.number(2, 59);
    pieces.expect(":");
    const int second = pieces.number(2, 60);  // 60: a leap second
    const auto fraction = pieces.skip(".,") ? pieces.fraction() : std::chrono::nanoseconds{0};
    seconds east{0};
    if (!pieces.skip("Zz")) {
        const bool plus = pieces.skip("+");
        if (!plus) {
            pieces.expect("-");
        }
        east = std::chrono::hours{pieces.number(2, 23)};
        if (!pieces.whole()) {
            static_cast<void>(pieces.skip(":"));
            east += std::chrono::minutes{pieces.number(2, 59)};
        }
        east = plus ? east : -east;
    }
    const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
                                           std::chrono::day{static_cast<unsigned>(day)}};
    if (!pieces.whole() || !date.ok()) {
        return std::nullopt;
    }
    const seconds since_1970 = std::chrono::sys_days{date}.time_since_epoch() + std::chrono::hours{hour} +
                               std::chrono::minutes{minute} + seconds{second} - east;
    return nearest_system_time(since_1970, fraction);
}

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug
