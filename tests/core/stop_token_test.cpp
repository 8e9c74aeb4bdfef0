#include <smdebug/core/stop_token.hpp>

#include "support/test.hpp"

TEST_CASE("stop_token: a thread sees the stop request, and is joined") {
    bool seen = false;
    {
        const std::jthread waiting{[&seen](const std::stop_token& stop) {
            while (!stop.stop_requested()) {
                std::this_thread::yield();
            }
            seen = true;
        }};
    }
    CHECK(seen);
}
