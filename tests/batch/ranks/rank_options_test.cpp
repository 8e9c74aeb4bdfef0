#include <smdebug/batch/ranks/rank_options.hpp>

#include <doctest/doctest.h>

namespace smd = smdebug;

TEST_CASE("some heartbeats may be late before a rank is lost") {
    const smd::rank_options options;
    CHECK(options.lost_after >= 10 * options.heartbeat);
    CHECK(options.start_limit >= options.lost_after);
    CHECK(options.losses == 2);
}
