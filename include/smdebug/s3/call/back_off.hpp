// How long to wait before asking again: longer each time, and never all at once.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/s3/options.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

/// A server's Retry-After in seconds; nothing where it is something else, such as a date.
[[nodiscard]] std::optional<std::chrono::seconds> parse_retry_after(std::string_view value) noexcept;

/// Pauses by chance between nothing and a bound that doubles ("full jitter"): clients that failed together do not come
/// back together.  One thread at a time.
class back_off {
public:
    explicit back_off(const retry_options& how, std::uint64_t seed = std::random_device{}())
        : how_(how), random_(seed) {}

    /// The pause after the attempt of that number, from 1 on; `at_least` is the server's word.
    [[nodiscard]] std::chrono::milliseconds pause(unsigned attempt,
                                                  std::optional<std::chrono::seconds> at_least = std::nullopt);

private:
    retry_options how_;
    std::minstd_rand random_;
};

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/call/impl/back_off.ipp>
#endif
