#include <smdebug/trial/wait.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <stop_token>
#include <thread>

using namespace smdebug;
using namespace std::chrono_literals;

TEST_CASE("waiter: without time it is over at the first pause") {
    waiter pauses{10ms, 0ms};
    CHECK(pauses.pause() == wait_outcome::timed_out);
    CHECK(pauses.pause() == wait_outcome::timed_out);
}

TEST_CASE("waiter: looks again until its time is over") {
    waiter pauses{1ms, 20ms};
    int looks = 0;
    while (pauses.pause() == wait_outcome::look_again) {
        ++looks;
    }
    CHECK(looks >= 1);
    CHECK(looks <= 21);
}

TEST_CASE("waiter: a timeout beyond the clock is none at all") {
    waiter pauses{1ms, std::chrono::milliseconds::max()};
    CHECK(pauses.pause() == wait_outcome::look_again);
}

TEST_CASE("waiter: a stop request ends a long pause at once, from either token") {
    std::stop_source source;
    source.request_stop();
    waiter first{1h, std::nullopt, source.get_token()};
    CHECK(first.pause() == wait_outcome::stopped);
    waiter second{1h, std::nullopt, {}, source.get_token()};
    CHECK(second.pause() == wait_outcome::stopped);

    std::stop_source later;
    waiter pauses{1h, std::nullopt, later.get_token()};
    const std::jthread stopper{[&] {
        std::this_thread::sleep_for(20ms);
        later.request_stop();
    }};
    CHECK(pauses.pause() == wait_outcome::stopped);  // or this test runs into its timeout
}

TEST_CASE("waiter: intervals and timeouts that make no sense neither spin nor overflow") {
    waiter backwards{-5ms, std::chrono::milliseconds::min()};
    CHECK(backwards.pause() == wait_outcome::timed_out);
    waiter endless{std::chrono::milliseconds::max(), 5ms};
    while (endless.pause() == wait_outcome::look_again) {
    }
    CHECK(endless.pause() == wait_outcome::timed_out);
}
