// What every channel promises, of the fake that the other tests use; mpi_channel_test has the real one.
#include "support/fake_ranks.hpp"

#include <smdebug/batch/ranks/channel.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <optional>
#include <string>
#include <thread>

using namespace smdebug_test;
using namespace std::chrono_literals;

TEST_CASE("messages come in order, each once, with any bytes") {
    fake_ranks all{3};
    const auto zero = all.channel(0);
    const auto two = all.channel(2);
    CHECK(two->rank() == 2);
    CHECK(two->size() == 3);
    for (char letter = 'a'; letter <= 'z'; ++letter) {
        two->send(0, std::string{letter, '\0', '\xff'});
    }
    for (char letter = 'a'; letter <= 'z'; ++letter) {
        const auto packet = zero->receive(1min);
        REQUIRE(packet);
        CHECK(packet->from == 2);
        CHECK(packet->bytes == std::string{letter, '\0', '\xff'});
    }
    CHECK_FALSE(zero->receive(0ms));
    CHECK(two->all_sent());
}

TEST_CASE("who waits for a message is woken, also by a call before") {
    fake_ranks all{1};
    const auto zero = all.channel(0);
    zero->wake();
    CHECK_FALSE(zero->receive(1h));
    const std::jthread other{[&] { zero->wake(); }};
    CHECK_FALSE(zero->receive(1h));
}

TEST_CASE("ranks that are lost, late and stopped") {
    fake_ranks all{3};
    const auto zero = all.channel(0);
    const auto one = all.channel(1);
    all.lose(2);
    all.channel(2)->send(0, "x");
    one->send(2, "x");
    CHECK_FALSE(zero->receive(1ms));
    all.delay(0, 5ms);
    one->send(0, "late");
    CHECK_FALSE(zero->receive(0ms));
    CHECK(zero->receive(1min)->bytes == "late");
    all.stop(1);
    zero->send(1, "y");
    std::optional<smdebug::rank_channel::packet> packet;
    {
        const std::jthread stopped{[&] { packet = one->receive(0ms); }};
        std::this_thread::sleep_for(5ms);
        all.go_on(1);
    }
    REQUIRE(packet);
    CHECK(packet->bytes == "y");
    CHECK_FALSE(all.is_forgotten(1));
    zero->forget(1);
    CHECK(all.is_forgotten(1));
}

TEST_CASE("one ends alone, or for all") {
    fake_ranks all{2};
    const auto zero = all.channel(0);
    const auto one = all.channel(1);
    CHECK_THROWS_WITH_AS(one->quit(3, "alone"), "alone", ranks_aborted);
    CHECK_FALSE(zero->receive(0ms));
    CHECK_THROWS_AS(one->abort(3, "why"), ranks_aborted);
    CHECK_THROWS_WITH_AS(static_cast<void>(zero->receive(1h)), "why", ranks_aborted);
}
