// The time that goes into events, as a policy: so that output can be reproduced to the byte.
#pragma once

#include <chrono>
#include <concepts>

namespace smdebug {
inline namespace v1 {

/// Tells the time: seconds since 1970, as events hold them.
template <class C>
concept wall_clock = std::movable<C> && requires(C& clock) {
    { clock.now() } -> std::same_as<std::chrono::duration<double>>;
};

/// The system's clock.
struct system_wall_clock {
    [[nodiscard]] std::chrono::duration<double> now() const noexcept {
        return std::chrono::system_clock::now().time_since_epoch();
    }
};

static_assert(wall_clock<system_wall_clock>);

}  // namespace v1
}  // namespace smdebug
