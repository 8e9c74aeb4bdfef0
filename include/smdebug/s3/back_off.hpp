// How long to wait before asking again: longer each time, and never all at once.
// Used by: s3/call_window.hpp.
#pragma once

#include <smdebug/s3/options.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <string_view>
#include <system_error>

namespace smdebug {
inline namespace v1 {
namespace s3 {

/// A server's Retry-After in seconds; nothing where it is something else, such as a date.
[[nodiscard]] inline std::optional<std::chrono::seconds> parse_retry_after(std::string_view value) noexcept {
    std::int64_t seconds = 0;
    const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), seconds);
    const bool is_number = code == std::errc{} && end == value.data() + value.size() && seconds >= 0;
    constexpr std::int64_t longest = std::int64_t{366} * 24 * 3600;
    return is_number ? std::optional{std::chrono::seconds{std::min(seconds, longest)}} : std::nullopt;
}

/// Pauses by chance between nothing and a bound that doubles ("full jitter"): clients that failed together do not come
/// back together.  One thread at a time.
class back_off {
public:
    explicit back_off(const retry_options& how, std::uint64_t seed = std::random_device{}())
        : how_(how), random_(seed) {}

    /// The pause after the attempt of that number, from 1 on; `at_least` is the server's word.
    [[nodiscard]] std::chrono::milliseconds pause(unsigned attempt,
                                                  std::optional<std::chrono::seconds> at_least = std::nullopt) {
        using std::chrono::milliseconds;
        const auto longest = std::max(how_.longest_pause, milliseconds{0});
        auto bound = std::clamp(how_.first_pause, milliseconds{0}, longest);
        for (unsigned i = 1; i < attempt && bound < longest; ++i) {
            bound = bound < longest / 2 ? 2 * bound + milliseconds{1} : longest;
        }
        std::uniform_int_distribution<milliseconds::rep> up_to{0, bound.count()};
        // What the server asks for, and chance on top, as all were told the same.
        return (at_least ? milliseconds{*at_least} : milliseconds{0}) + milliseconds{up_to(random_)};
    }

private:
    retry_options how_;
    std::minstd_rand random_;
};

}  // namespace s3
}  // namespace v1
}  // namespace smdebug
