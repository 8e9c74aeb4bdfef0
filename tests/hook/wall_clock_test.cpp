#include <smdebug/hook/any_clock.hpp>

#include <doctest/doctest.h>

#include <chrono>

namespace smd = smdebug;

namespace {

struct stopped_clock {
    double at = 0;
    [[nodiscard]] std::chrono::duration<double> now() const { return std::chrono::duration<double>{at}; }
};
struct counts_ticks {
    [[nodiscard]] long now() const { return 0; }
};
struct tells_no_time {};

static_assert(smd::wall_clock<stopped_clock>);
static_assert(!smd::wall_clock<counts_ticks>);
static_assert(!smd::wall_clock<tells_no_time>);
static_assert(!smd::wall_clock<const stopped_clock>);

}  // namespace

TEST_CASE("system_wall_clock: returns the seconds since 1970") {
    const auto seconds = [] {
        return std::chrono::duration<double>{std::chrono::system_clock::now().time_since_epoch()}.count();
    };
    const double before = seconds();
    const double told = smd::system_wall_clock{}.now().count();
    CHECK(told >= before);
    CHECK(told <= seconds());
}
