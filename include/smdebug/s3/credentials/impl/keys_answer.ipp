// The bodies of <smdebug/s3/credentials/keys_answer.hpp>.
#pragma once

#include <smdebug/core/json_document.hpp>
#include <smdebug/core/system_time.hpp>
#include <smdebug/s3/credentials/keys.hpp>
#include <smdebug/s3/credentials/keys_answer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace smdebug::inline v1::s3::detail {

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

SMDEBUG_INLINE std::string shown_word(std::string_view text) {
    constexpr std::size_t most = 64;
    const auto fit = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
               c == '_';
    };
    const bool whole = !text.empty() && text.size() <= most && std::all_of(text.begin(), text.end(), fit);
    return whole ? std::string{text} : "?";
}

SMDEBUG_INLINE keys_answer parse_keys_answer(byte_view body, const std::string& where, std::string_view sent) {
    smdebug::detail::json::document reader;
    const auto root = reader.parse(body);
    const auto text = [&](const char* name) -> std::optional<std::string> {
        const auto field = root ? (*root)[name] : std::nullopt;
        const auto value = field ? field->string() : std::nullopt;
        return value ? std::optional<std::string>{*value} : std::nullopt;
    };
    const auto without = [&](const std::string& why) {
        return keys_answer{keys_outcome::failing, {}, where + " (" + why + ")"};
    };
    if (!root || !root->is_object()) {
        return without("its answer is not a JSON object");
    }
    access_keys found{.id = text("AccessKeyId").value_or(""),
                      .secret = text("SecretAccessKey").value_or(""),
                      .token = text("Token").value_or("")};
    for (const char* name : {"Code", "code"}) {
        auto code = text(name);
        if (code && *code != "Success") {
            hide_keys(*code, found, letter_case::as_it_is);
            hide_keys(*code, {.token = std::string{sent}}, letter_case::as_it_is);
            return without("its answer is an error: " + detail::shown_word(*code));
        }
    }
    if (found.id.empty() || found.secret.empty() || !fits_header(found.id) || !fits_header(found.token)) {
        return without("its answer lacks AccessKeyId or SecretAccessKey, or they are damaged");
    }
    if (const auto expiration = (*root)["Expiration"]) {
        found.expires = parse_iso_time(expiration->string().value_or(""));
        if (!found.expires) {
            return without("the Expiration in its answer is not a time");
        }
    }
    return {keys_outcome::found, std::move(found), where};
}

}  // namespace smdebug::inline v1::s3::detail
