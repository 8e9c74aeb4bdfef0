#include <smdebug/batch/ranks/side_threads.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <semaphore>
#include <stdexcept>
#include <thread>
#include <vector>

namespace smd = smdebug;
using namespace smd::detail;

TEST_CASE("a feeder asks for a few runs more than are taken, and no more") {
    std::atomic<std::uint64_t> asked{0};
    const auto source = [&]() -> std::optional<smd::batch_run> {
        if (asked == 10) {
            return std::nullopt;
        }
        return smd::batch_run{.place = asked++};
    };
    std::atomic<int> woken{0};
    run_feeder feeder{source, 3, [&] { ++woken; }};
    for (std::uint64_t place = 0; place < 10; ++place) {
        std::optional<smd::batch_run> run;
        while (!run) {
            run = feeder.take();
            std::this_thread::yield();
        }
        CHECK(run->place == place);
        CHECK(asked <= place + 4);
    }
    while (!feeder.has_ended()) {
        std::this_thread::yield();
    }
    CHECK(woken > 0);
    CHECK(feeder.size() == 0);
    CHECK(feeder.has_all());
    CHECK(feeder.is_empty());
    CHECK_FALSE(feeder.failure());
    CHECK_FALSE(feeder.take());
}

TEST_CASE("a feeder that is stopped asks no more; what the source throws is kept") {
    std::binary_semaphore may_go{0};
    const auto source = [&]() -> std::optional<smd::batch_run> {
        may_go.acquire();
        throw std::runtime_error("no list");
    };
    {
        run_feeder feeder{source, 3, [] {}};
        CHECK_FALSE(feeder.has_ended());
        may_go.release();
        while (!feeder.has_ended()) {
            std::this_thread::yield();
        }
        CHECK_FALSE(feeder.has_all());
        CHECK_THROWS_WITH(std::rethrow_exception(feeder.failure()), "no list");
    }
    const auto endless = []() -> std::optional<smd::batch_run> { return smd::batch_run{}; };
    run_feeder feeder{endless, 3, [] {}};
    feeder.stop();
    while (!feeder.has_ended()) {
        std::this_thread::yield();
    }
    CHECK_FALSE(feeder.has_all());
}

TEST_CASE("a writer gives everything to the sink, in order, and at its end") {
    std::vector<std::uint64_t> written;
    {
        const auto sink = [&](smd::run_result&& result) { written.push_back(result.run.place); };
        result_writer writer{sink, [] {}};
        for (std::uint64_t place = 0; place < 1000; ++place) {
            writer.push({.run = {.place = place}});
        }
    }
    REQUIRE(written.size() == 1000);
    CHECK(written.back() == 999);
}

TEST_CASE("results wait for a slow sink; once it has failed it is not called again") {
    std::counting_semaphore<> may_write{0};
    int calls = 0;
    const auto sink = [&](smd::run_result&&) {
        may_write.acquire();
        if (++calls == 2) {
            throw std::runtime_error("disk full");
        }
    };
    std::atomic<int> woken{0};
    result_writer writer{sink,
                         [&] {
                             ++woken;
                             woken.notify_all();
                         },
                         4};
    for (int i = 0; i < 5; ++i) {
        writer.push({});
    }
    CHECK(writer.waiting() == 5);
    may_write.release();
    woken.wait(0);
    CHECK(writer.waiting() == 4);
    CHECK_FALSE(writer.failure());
    may_write.release();
    woken.wait(1);
    CHECK(writer.waiting() == 0);
    CHECK_THROWS_WITH(std::rethrow_exception(writer.failure()), "disk full");
    writer.push({});
    CHECK(writer.waiting() == 0);
    CHECK(calls == 2);
}
