#include <smdebug/storage/concepts.hpp>

#include "support/test.hpp"

using namespace smdebug;

TEST_CASE("sleeping_signal: announces nothing, and sleeps until the given time") {
    const std::unique_ptr<change_signal> signal = std::make_unique<smdebug::detail::sleeping_signal>();
    const auto until = change_signal::clock::now() + std::chrono::milliseconds{5};
    CHECK_FALSE(signal->wait_until(until));
    CHECK(change_signal::clock::now() >= until);
    CHECK_FALSE(signal->wait_until(change_signal::clock::time_point::min()));
    CHECK_FALSE(signal->changed_keys().has_value());
}

TEST_CASE("sleeping_signal: interrupt ends the current wait, or else the next one, and no more") {
    smdebug::detail::sleeping_signal signal;
    signal.interrupt();
    signal.interrupt();
    CHECK_FALSE(signal.wait_until(change_signal::clock::time_point::max()));
    for (int round = 0; round < 5; ++round) {
        const std::jthread other{[&] {
            std::this_thread::sleep_for(std::chrono::milliseconds{round});
            signal.interrupt();
        }};
        CHECK_FALSE(signal.wait_until(change_signal::clock::time_point::max()));
    }
    const auto until = change_signal::clock::now() + std::chrono::milliseconds{5};
    CHECK_FALSE(signal.wait_until(until));
    CHECK(change_signal::clock::now() >= until);
}
