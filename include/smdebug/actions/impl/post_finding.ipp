// The bodies of <smdebug/actions/post_finding.hpp>.
#pragma once

#include <smdebug/actions/post_finding.hpp>

#include <charconv>
#include <system_error>
#include <thread>

namespace smdebug {
inline namespace v1 {
namespace actions {
namespace detail {

SMDEBUG_INLINE bool may_help_to_repeat(const http::response& response) noexcept {
    if (response.answered()) {
        return response.status == 429 || response.status >= 500;
    }
    return response.outcome == http::outcome::unreachable || response.outcome == http::outcome::interrupted ||
           response.outcome == http::outcome::stalled;
}

SMDEBUG_INLINE std::chrono::milliseconds wanted_pause(const http::response& response) noexcept {
    const std::string_view text = response.answered() ? response.find_header("retry-after").value_or("") : "";
    std::uint32_t seconds = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    return std::chrono::seconds{code == std::errc{} && end == text.data() + text.size() ? seconds : 0U};
}

SMDEBUG_INLINE bool pause_until(post_clock::time_point then, const std::stop_token& stop) {
    constexpr std::chrono::milliseconds slice{20};
    while (!stop.stop_requested()) {
        const auto left = then - post_clock::now();
        if (left <= left.zero()) {
            return true;
        }
        std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(left, slice));
    }
    return false;
}

}  // namespace detail
}  // namespace actions
}  // namespace v1
}  // namespace smdebug
