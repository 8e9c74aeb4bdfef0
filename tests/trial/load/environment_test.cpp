#include <smdebug/trial/load/opening.hpp>

#include "support/environment_variable.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>

using namespace smdebug;
using namespace std::chrono_literals;

TEST_CASE("environment: the option wins, then the variable, then the default") {
    CHECK(smdebug::detail::settled_options{trial_options{}}.incomplete_step_wait_window == 1000);
    CHECK(smdebug::detail::settled_options{trial_options{}}.missing_event_file_retry_limit == 10);
    const smdebug_test::environment_variable window{"SMDEBUG_INCOMPLETE_STEP_WAIT_WINDOW", "4"};
    const smdebug_test::environment_variable limit{"SMDEBUG_MISSING_EVENT_FILE_RETRY_LIMIT", "0"};
    CHECK(smdebug::detail::settled_options{trial_options{}}.incomplete_step_wait_window == 4);
    CHECK(smdebug::detail::settled_options{trial_options{}}.missing_event_file_retry_limit == 0);
    CHECK(
        smdebug::detail::settled_options{trial_options{.incomplete_step_wait_window = 7}}.incomplete_step_wait_window ==
        7);
}

TEST_CASE("environment: text that is not a number, or too small a number, is a value_error that names the variable") {
    for (const char* text : {"1", "0", "-5", "", "abc", "4x", " 4", "99999999999999"}) {
        CAPTURE(text);
        const smdebug_test::environment_variable window{"SMDEBUG_INCOMPLETE_STEP_WAIT_WINDOW", text};
        const value_error thrown =
            smdebug_test::caught<value_error>([&] { const smdebug::detail::settled_options settled{trial_options{}}; });
        CHECK(std::string{thrown.what()}.find("SMDEBUG_INCOMPLETE_STEP_WAIT_WINDOW") != std::string::npos);
    }
    CHECK_THROWS_AS(smdebug::detail::settled_options{trial_options{.incomplete_step_wait_window = 1}}, value_error);
}

TEST_CASE("environment: the delay after the job's end counts in seconds, and may have a fraction") {
    const auto delay = [](trial_options given = {}) {
        return smdebug::detail::settled_options{given}.training_end_delay_refresh;
    };
    CHECK(delay() == 0ms);
    {
        const smdebug_test::environment_variable one{"SMDEBUG_TRAINING_END_DELAY_REFRESH", "1"};
        CHECK(delay() == 1s);
        CHECK(delay({.training_end_delay_refresh = 30ms}) == 30ms);
    }
    {
        const smdebug_test::environment_variable part{"SMDEBUG_TRAINING_END_DELAY_REFRESH", "0.25"};
        CHECK(delay() == 250ms);
    }
    for (const char* text : {"-1", "", "soon", "1s", " 1", "nan", "inf", "1e300"}) {
        CAPTURE(text);
        const smdebug_test::environment_variable bad{"SMDEBUG_TRAINING_END_DELAY_REFRESH", text};
        CHECK_THROWS_AS(delay(), value_error);
        CHECK(delay({.training_end_delay_refresh = 0ms}) == 0ms);
    }
    CHECK_THROWS_AS(delay({.training_end_delay_refresh = -1ms}), value_error);
}

TEST_CASE("environment: an invalid range is rejected") {
    CHECK_THROWS_AS((smdebug::detail::settled_options{trial_options{.range = {5, 5}}}), value_error);
    CHECK_THROWS_AS((smdebug::detail::settled_options{trial_options{.range = {6, 2}}}), value_error);
    CHECK_THROWS_AS((smdebug::detail::settled_options{trial_options{.range = {-1, 3}}}), value_error);
    CHECK_NOTHROW((smdebug::detail::settled_options{trial_options{.range = {{}, 3}}}));
}
