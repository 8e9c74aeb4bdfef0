#include <smdebug/batch/ranks/rank_work.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace smd = smdebug;

namespace {

void wait_for(const std::atomic<int>& count, int least) {
    for (int now = count.load(); now < least; now = count.load()) {
        count.wait(now);
    }
}

struct counted {
    void operator()() const {
        ++*count;
        count->notify_all();
    }
    std::atomic<int>* count;
};

}  // namespace

TEST_CASE("an engine gets runs as they come, and its results are taken") {
    std::atomic<int> woken{0};
    smd::rank_work work{counted{&woken}};
    const auto engine = [](smd::rank_work& from, const std::stop_token&) {
        while (auto run = from.next()) {
            from.emit({.run = *std::move(run), .steps = 7});
        }
    };
    work.start(engine);
    work.give({.place = 1, .path = "a"});
    wait_for(woken, 1);
    const auto first = work.take();
    REQUIRE(first.size() == 1);
    CHECK(first[0].run.path == "a");
    CHECK(first[0].steps == 7);
    CHECK_FALSE(work.has_ended());
    work.give({.place = 2});
    work.give({.place = 3});
    work.close();
    wait_for(woken, 4);
    CHECK(work.has_ended());
    CHECK_FALSE(work.failure());
    CHECK(work.take().size() == 2);  // what it had is done
    CHECK(work.take().empty());
}

TEST_CASE("a stopped engine gets no run, be one there or not") {
    std::atomic<int> woken{0};
    smd::rank_work work{counted{&woken}};
    std::atomic<int> waiting{0};
    const auto engine = [&](smd::rank_work& from, const std::stop_token& stop) {
        counted{&waiting}();
        while (from.next()) {
        }
        CHECK(stop.stop_requested());
    };
    work.start(engine);
    wait_for(waiting, 1);
    work.stop();
    wait_for(woken, 1);
    CHECK(work.has_ended());
    work.give({});
    CHECK_FALSE(work.next());
}

TEST_CASE("what an engine throws is kept") {
    std::atomic<int> woken{0};
    smd::rank_work work{counted{&woken}};
    const auto engine = [](smd::rank_work&, const std::stop_token&) { throw std::runtime_error("broken"); };
    work.start(engine);
    wait_for(woken, 1);
    REQUIRE(work.failure());
    CHECK_THROWS_WITH(std::rethrow_exception(work.failure()), "broken");
}

TEST_CASE("an engine of many threads, and an end without one word") {
    std::atomic<int> woken{0};
    const auto engine = [](smd::rank_work& from, const std::stop_token&) {
        std::vector<std::jthread> threads(4);
        for (std::jthread& each : threads) {
            each = std::jthread{[&] {
                while (auto run = from.next()) {
                    from.emit({.run = *std::move(run)});
                }
            }};
        }
    };
    smd::rank_work work{counted{&woken}};
    work.start(engine);
    for (std::uint64_t i = 0; i < 100; ++i) {
        work.give({.place = i});
    }
    wait_for(woken, 100);
    CHECK(work.take().size() == 100);
}
