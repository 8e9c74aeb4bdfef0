#include <smdebug/batch/source_ahead.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

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

TEST_CASE("source_ahead: what a source throws comes behind the runs that it gave") {
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

TEST_CASE("source_ahead: ends though nobody takes its runs, and a stop ends the waiting") {
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
