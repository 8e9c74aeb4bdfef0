// The bodies of <smdebug/s3/call/back_off.hpp>.
#pragma once

#include <smdebug/s3/call/back_off.hpp>

#include <algorithm>
#include <charconv>
#include <system_error>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

SMDEBUG_INLINE std::optional<std::chrono::seconds> parse_retry_after(std::string_view value) noexcept {
    std::int64_t seconds = 0;
    const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), seconds);
    const bool is_number = code == std::errc{} && end == value.data() + value.size() && seconds >= 0;
    constexpr std::int64_t longest = std::int64_t{366} * 24 * 3600;
    return is_number ? std::optional{std::chrono::seconds{std::min(seconds, longest)}} : std::nullopt;
}

SMDEBUG_INLINE std::chrono::milliseconds back_off::pause(unsigned attempt,
                                                         std::optional<std::chrono::seconds> at_least) {
    using std::chrono::milliseconds;
    const auto longest = std::max(how_.longest_pause, milliseconds{0});
    auto bound = std::clamp(how_.first_pause, milliseconds{0}, longest);
    for (unsigned i = 1; i < attempt && bound < longest; ++i) {
        bound = bound < longest / 2 ? 2 * bound + milliseconds{1} : longest;
    }
    std::uniform_int_distribution<milliseconds::rep> up_to{0, bound.count()};
    // The server asks the same pause of all clients: a random addition keeps them apart.
    return (at_least ? milliseconds{*at_least} : milliseconds{0}) + milliseconds{up_to(random_)};
}

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug
