#include <smdebug/storage/announcer.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::detail;

namespace {

bool told(change_signal& signal) { return signal.wait_until(change_signal::clock::now()); }

}  // namespace

TEST_CASE("announcer: wakes each signal for its own prefixes, once for all changes") {
    announcer source;
    source.announce("before any signal");
    const auto index = source.watch(std::vector<std::string>{"index/"});
    const auto both = source.watch(std::vector<std::string>{"index/", "end"});
    const auto none = source.watch({});
    CHECK_FALSE(told(*index));
    source.announce("index/a");
    source.announce("index/b");
    CHECK(told(*index));
    CHECK_FALSE(told(*index));
    source.announce("end");
    CHECK_FALSE(told(*index));
    CHECK(told(*both));
    CHECK_FALSE(told(*both));
    CHECK_FALSE(told(*none));
}

TEST_CASE("announcer: a signal reports the changed keys in order, unless there are too many") {
    announcer source;
    const auto signal = source.watch(std::vector<std::string>{"index/"});
    source.announce("index/b");
    source.announce("events/x");
    source.announce("index/a");
    source.announce("index/b");
    REQUIRE(told(*signal));
    CHECK(signal->changed_keys() == std::vector<std::string>{"index/b", "index/a", "index/b"});
    source.announce("index/c");
    REQUIRE(told(*signal));
    CHECK(signal->changed_keys() == std::vector<std::string>{"index/c"});
    for (std::size_t more = 0; more < 2; ++more) {
        for (std::size_t i = 0; i < announcer::most_keys + more; ++i) {
            source.announce("index/d");
        }
        REQUIRE(told(*signal));
        CHECK(signal->changed_keys().has_value() == (more == 0));
    }
    source.announce("index/e");
    REQUIRE(told(*signal));
    CHECK(signal->changed_keys() == std::vector<std::string>{"index/e"});
}

TEST_CASE("announcer: a signal without prefixes announces nothing, and sleeps until the given time") {
    const std::unique_ptr<change_signal> signal = announcer{}.watch({});
    const auto until = change_signal::clock::now() + std::chrono::milliseconds{5};
    CHECK_FALSE(signal->wait_until(until));
    CHECK(change_signal::clock::now() >= until);
    CHECK_FALSE(signal->wait_until(change_signal::clock::time_point::min()));
}

TEST_CASE("announcer: interrupt ends the current wait, or else the next one, and no more") {
    const std::unique_ptr<change_signal> signal = announcer{}.watch({});
    signal->interrupt();
    signal->interrupt();
    CHECK_FALSE(signal->wait_until(change_signal::clock::time_point::max()));
    for (int round = 0; round < 5; ++round) {
        const std::jthread other{[&] {
            std::this_thread::sleep_for(std::chrono::milliseconds{round});
            signal->interrupt();
        }};
        CHECK_FALSE(signal->wait_until(change_signal::clock::time_point::max()));
    }
    const auto until = change_signal::clock::now() + std::chrono::milliseconds{5};
    CHECK_FALSE(signal->wait_until(until));
    CHECK(change_signal::clock::now() >= until);
}

TEST_CASE("announcer: signals are made and destroyed, and may outlive the announcer") {
    auto source = std::make_unique<announcer>();
    auto first = source->watch(std::vector<std::string>{"a"});
    const auto second = source->watch(std::vector<std::string>{"a"});
    first.reset();
    source->announce("a");
    CHECK(told(*second));
    first = source->watch(std::vector<std::string>{"a"});
    CHECK_FALSE(told(*first));
    source.reset();
    CHECK_FALSE(told(*first));
    first->interrupt();
    CHECK_FALSE(first->wait_until(change_signal::clock::time_point::max()));
}

TEST_CASE("announcer: announces, watches and waits at once on many threads") {
    announcer source;
    const auto last = source.watch(std::vector<std::string>{"end"});
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 3; ++thread) {
        threads.emplace_back([&] {
            for (int i = 0; i < 200; ++i) {
                const auto signal = source.watch(std::vector<std::string>{"x"});
                source.announce("x");
                static_cast<void>(told(*signal));
                signal->interrupt();
            }
        });
    }
    threads.clear();
    source.announce("end");
    CHECK(last->wait_until(change_signal::clock::time_point::max()));
}
