// The clock of a hook, which stamps its records: the system's, or a test's.
#pragma once

#include <smdebug/core/abstract.hpp>

#include <chrono>
#include <concepts>
#include <memory>
#include <utility>

namespace smdebug::inline v1 {

/// A source of wall-clock time, in seconds since 1970, as in events.
template <class WallClock>
concept wall_clock = std::movable<WallClock> && requires(WallClock& clock) {
    { clock.now() } -> std::same_as<std::chrono::duration<double>>;
};

/// The system's clock.
struct system_wall_clock {
    [[nodiscard]] std::chrono::duration<double> now() const noexcept {
        return std::chrono::system_clock::now().time_since_epoch();
    }
};

namespace detail {

/// Holds a clock of a type chosen at run time; models wall_clock.  Moved, not copied, as a clock need not be copyable.
/// Cost: one indirect call a reading.
class any_clock {
public:
    template <class Clock>
        requires(!std::same_as<Clock, any_clock> && wall_clock<Clock>)
    explicit any_clock(Clock clock) : held_(std::make_unique<model<Clock>>(std::move(clock))) {}

    [[nodiscard]] std::chrono::duration<double> now() { return held_->now(); }

private:
    struct interface : abstract {
        [[nodiscard]] virtual std::chrono::duration<double> now() = 0;
    };
    template <wall_clock Clock>
    struct model final : interface {
        explicit model(Clock given) : clock(std::move(given)) {}
        [[nodiscard]] std::chrono::duration<double> now() override { return clock.now(); }
        Clock clock;
    };

    std::unique_ptr<interface> held_;
};

}  // namespace detail
}  // namespace smdebug::inline v1
