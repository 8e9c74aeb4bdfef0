#include <program/source_ahead.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace std::chrono_literals;

namespace {

run_source counting_to(std::uint64_t count, std::atomic<std::uint64_t>& asked) {
    return [next = std::uint64_t{0}, count, &asked]() mutable -> std::optional<batch_run> {
        ++asked;
        return next < count ? std::optional{batch_run{.place = next++}} : std::nullopt;
    };
}

}  // namespace

TEST_CASE("source_ahead: every run in order, and how many there are") {
    std::atomic<std::uint64_t> asked{0};
    std::atomic<std::size_t> listed{0};
    detail::source_ahead ahead{counting_to(1000, asked), 10, [&](std::size_t count) { listed = count; }};
    for (std::uint64_t i = 0; i < 1000; ++i) {
        const auto run = ahead.next();
        REQUIRE(run);
        CHECK(run->place == i);
        CHECK(asked <= i + 12);  // those that may wait, this one and the one that is looked for
    }
    CHECK_FALSE(ahead.next());
    CHECK_FALSE(ahead.next());
    CHECK(listed == 1000);
}

TEST_CASE("source_ahead: preferred runs come first, and batches get smaller toward the end") {
    std::atomic<std::uint64_t> asked{0};
    std::atomic<bool> listed{false};
    detail::source_ahead ahead{counting_to(1000, asked), 10'000, [&](std::size_t) { listed = true; },
                               [](const batch_run& run, std::size_t) { return run.place % 500 == 499; }};
    while (!listed) {
        std::this_thread::yield();
    }
    CHECK(ahead.next()->place == 499);
    auto some = ahead.try_some(4);
    REQUIRE(some);
    REQUIRE(some->size() == 1);  // one that goes first alone
    CHECK(some->front().place == 999);
    std::vector<std::uint64_t> places;
    std::size_t most = 64;
    while (!(some = ahead.try_some(4))->empty()) {
        CHECK(some->size() <= most);
        most = some->size();
        for (const batch_run& each : *some) {
            places.push_back(each.place);
        }
    }
    CHECK(most == 1);
    CHECK(places.size() == 998);
    CHECK(std::is_sorted(places.begin(), places.end()));
    CHECK_FALSE(ahead.next());
}

TEST_CASE("source_ahead: nothing at the moment is not the end") {
    std::atomic<bool> may_go{false};
    detail::source_ahead ahead{[&]() -> std::optional<batch_run> {
                                   while (!may_go) {
                                       std::this_thread::yield();
                                   }
                                   return std::nullopt;
                               },
                               10};
    CHECK_FALSE(ahead.try_some(2));
    may_go = true;
    CHECK_FALSE(ahead.next());
    CHECK(ahead.try_some(2)->empty());
}

TEST_CASE("source_ahead: an exception of the source comes after the runs that it gave") {
    const auto broken = [next = std::uint64_t{0}]() mutable -> std::optional<batch_run> {
        if (next == 3) {
            throw std::runtime_error("no list");
        }
        return batch_run{.place = next++};
    };
    detail::source_ahead ahead{broken, 100};
    for (std::uint64_t i = 0; i < 3; ++i) {
        CHECK(ahead.next().value().place == i);
    }
    CHECK_THROWS_WITH_AS(static_cast<void>(ahead.next()), "no list", std::runtime_error);
}

TEST_CASE("source_ahead: can be destroyed though its runs were not taken, and a stop ends the waiting") {
    std::atomic<std::uint64_t> asked{0};
    { detail::source_ahead ahead{counting_to(1000, asked), 2}; }
    CHECK(asked <= 4);
    std::stop_source stop;
    std::atomic<bool> may_end{false};
    const auto slow = [&]() -> std::optional<batch_run> {
        while (!may_end) {
            std::this_thread::sleep_for(1ms);
        }
        return std::nullopt;
    };
    detail::source_ahead ahead{slow, 2};
    stop.request_stop();
    CHECK_FALSE(ahead.next(stop.get_token()));
    may_end = true;
}
