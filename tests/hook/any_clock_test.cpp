#include <smdebug/hook/any_clock.hpp>

#include "support/test.hpp"

using namespace smdebug;
using smdebug::detail::any_clock;

namespace {

// Goes on with each look at it, and cannot be copied.
struct counting_clock {
    std::unique_ptr<double> at = std::make_unique<double>(0);
    [[nodiscard]] std::chrono::duration<double> now() { return std::chrono::duration<double>{++*at}; }
};

static_assert(wall_clock<any_clock> && wall_clock<counting_clock> && !std::copyable<counting_clock>);

}  // namespace

TEST_CASE("any_clock: returns the time of the clock it holds, also after a move") {
    any_clock clock{counting_clock{}};
    CHECK(clock.now().count() == 1);
    any_clock moved{std::move(clock)};
    CHECK(moved.now().count() == 2);
    moved = any_clock{counting_clock{}};
    CHECK(moved.now().count() == 1);
}

TEST_CASE("any_clock: holds the system's clock") {
    const double before = system_wall_clock{}.now().count();
    CHECK(any_clock{system_wall_clock{}}.now().count() >= before);
}

namespace {

struct stopped_clock {
    double at = 0;
    [[nodiscard]] std::chrono::duration<double> now() const { return std::chrono::duration<double>{at}; }
};
struct counts_ticks {
    [[nodiscard]] long now() const { return 0; }
};
struct tells_no_time {};

static_assert(wall_clock<stopped_clock>);
static_assert(!wall_clock<counts_ticks>);
static_assert(!wall_clock<tells_no_time>);
static_assert(!wall_clock<const stopped_clock>);

}  // namespace

TEST_CASE("system_wall_clock: returns the seconds since 1970") {
    const auto seconds = [] {
        return std::chrono::duration<double>{std::chrono::system_clock::now().time_since_epoch()}.count();
    };
    const double before = seconds();
    const double told = system_wall_clock{}.now().count();
    CHECK(told >= before);
    CHECK(told <= seconds());
}
