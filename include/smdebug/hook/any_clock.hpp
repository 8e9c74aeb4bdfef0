// A clock whose type is chosen at run time: one indirect call for each time that is told.
#pragma once

#include <smdebug/hook/wall_clock.hpp>
#include <smdebug/storage/any_storage.hpp>

#include <chrono>
#include <concepts>
#include <memory>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Holds any clock; models wall_clock.  Moved, not copied, as a clock need not be copyable.
class any_clock {
public:
    template <class Clock>
        requires(!std::same_as<Clock, any_clock> && wall_clock<Clock>)
    explicit any_clock(Clock clock) : held_(std::make_unique<model<Clock>>(std::move(clock))) {}

    [[nodiscard]] std::chrono::duration<double> now() { return held_->now(); }

private:
    struct interface : erased {
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

static_assert(wall_clock<any_clock>);

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
