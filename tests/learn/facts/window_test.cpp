#include <smdebug/learn/facts/series.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::detail::learn;

TEST_CASE("learned windows: where they begin") {
    std::vector<step_number> begins;
    for (step_number step = 0; step <= 64; ++step) {
        if (window_from(step)) {
            begins.push_back(step);
        }
    }
    CHECK(begins ==
          std::vector<step_number>{0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64});
    CHECK_FALSE(window_from(-1).has_value());
    CHECK_FALSE(window_from(385).has_value());
    CHECK(first_step_of(window_of(400)) == 384);
    CHECK(last_step_of(window_of(400)) == 447);
    CHECK(window_of(999'999) < 80);
}

TEST_CASE("learned windows: each step is in one, by the text of the specification") {
    for (step_number step = 0; step < 5000; ++step) {
        step_number begin = step;
        if (step >= 4) {
            step_number octave = 1;  // 2^(e - 2)
            while (octave * 8 <= step) {
                octave *= 2;
            }
            begin = step - step % octave;
        }
        const window_number window = window_of(step);
        CHECK(first_step_of(window) == begin);
        CHECK(last_step_of(window) >= step);
        CHECK(window_of(last_step_of(window)) == window);
        CHECK(window_of(last_step_of(window) + 1) == window + 1);
        CHECK(window_from(begin) == window);
    }
    const step_number far = step_number{1} << 62;
    CHECK(first_step_of(window_of(far)) == far);
    CHECK(window_of(far + 1) == window_of(far));
    CHECK(last_step_of(last_window) == std::numeric_limits<step_number>::max());
}
