#include <smdebug/core/ordered_thread_pool.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

using namespace smdebug;
using namespace smdebug::detail;

namespace {

/// Returns 0 .. count - 1.
struct counter {
    int count = 0;
    int next = 0;
    std::optional<int> operator()() { return next < count ? std::optional{next++} : std::nullopt; }
};

void slow_down(int task) { std::this_thread::sleep_for(std::chrono::microseconds{task * 7919 % 300}); }

}  // namespace

TEST_CASE("ordered_thread_pool: results come in the order of the tasks, each part filled by one task") {
    for (const unsigned threads : {0U, 1U, 2U, 7U}) {
        ordered_thread_pool<int, std::string> crew{threads, std::string{}};
        for (const int count : {0, 1, 5, 200}) {
            std::vector<std::string> results;
            const bool complete = crew.run(
                counter{count},
                [](std::size_t, int task, std::string& part) {
                    slow_down(task);
                    part += std::to_string(task);
                },
                [&](int task, std::string& part) {
                    CHECK(part == std::to_string(task));
                    results.push_back(part);
                    part.clear();
                });
            CHECK(complete);
            REQUIRE(results.size() == static_cast<std::size_t>(count));
            for (int i = 0; i < count; ++i) {
                CHECK(results[static_cast<std::size_t>(i)] == std::to_string(i));
            }
        }
    }
}

TEST_CASE("ordered_thread_pool: no more tasks run than there are parts, even if the first is slow") {
    ordered_thread_pool<int, int> crew{3, 0};
    std::atomic<int> begun{0};
    std::atomic<int> most_ahead{0};
    int emitted = 0;
    crew.run(
        counter{100},
        [&](std::size_t thread, int task, int&) {
            CHECK(thread < 3);
            ++begun;
            if (task == 0) {
                std::this_thread::sleep_for(std::chrono::milliseconds{50});
                most_ahead = begun.load();
            }
        },
        [&](int, int&) { ++emitted; });
    CHECK(emitted == 100);
    CHECK(most_ahead <= static_cast<int>(crew.parts()));
    CHECK(most_ahead > 1);
}

TEST_CASE("ordered_thread_pool: the earliest failure is thrown after all results before it, and the pool is reusable") {
    ordered_thread_pool<int, int> crew{4, 0};
    for (int round = 0; round < 20; ++round) {
        int emitted = 0;
        const auto run = [&] {
            crew.run(
                counter{50},
                [](std::size_t, int task, int&) {
                    slow_down(task);
                    if (task == 20 || task == 21 || task == 30) {
                        throw std::runtime_error(std::to_string(task));
                    }
                },
                [&](int, int&) { ++emitted; });
        };
        CHECK_THROWS_WITH_AS(run(), "20", std::runtime_error);
        CHECK(emitted == 20);
    }
}

TEST_CASE("ordered_thread_pool: exceptions of next and emit are passed on, too") {
    ordered_thread_pool<int, int> crew{2, 0};
    int given = 0;
    int emitted = 0;
    const auto next = [&]() -> std::optional<int> {
        if (given == 10) {
            throw std::logic_error("next");
        }
        return given++;
    };
    CHECK_THROWS_WITH_AS(crew.run(
                             next, [](std::size_t, int, int&) {}, [&](int, int&) { ++emitted; }),
                         "next", std::logic_error);
    CHECK(emitted == 10);
    CHECK_THROWS_WITH_AS(
        crew.run(
            counter{1000}, [](std::size_t, int, int&) {}, [](int, int&) { throw std::logic_error("emit"); }),
        "emit", std::logic_error);
}

TEST_CASE("ordered_thread_pool: a stop ends it at once, also while it waits for a task") {
    ordered_thread_pool<int, int> crew{2, 0};
    std::stop_source source;
    int emitted = 0;
    CHECK_FALSE(crew.run(
        counter{1000}, [](std::size_t, int, int&) {},
        [&](int, int&) {
            if (++emitted == 5) {
                source.request_stop();
            }
        },
        source.get_token()));
    CHECK(emitted == 5);
    std::stop_source last;
    CHECK(crew.run(
        counter{3}, [](std::size_t, int, int&) {}, [&](int task, int&) { task == 2 && last.request_stop(); },
        last.get_token()));  // all was done when it was asked to stop
    std::stop_source later;
    std::jthread stopper{[&] {
        std::this_thread::sleep_for(std::chrono::milliseconds{10});
        later.request_stop();
    }};
    CHECK_FALSE(crew.run(
        counter{4}, [](std::size_t, int, int&) { std::this_thread::sleep_for(std::chrono::milliseconds{60}); },
        [](int, int&) {}, later.get_token()));
}

TEST_CASE("ordered_thread_pool: parts left half filled by an earlier run are empty in the next") {
    ordered_thread_pool<int, std::string> crew{2, std::string{}};
    const auto work = [](std::size_t, int task, std::string& part) { part += std::to_string(task); };
    CHECK_THROWS(crew.run(counter{20}, work, [](int, std::string&) { throw std::logic_error("emit"); }));
    CHECK(crew.run(counter{20}, work, [](int task, std::string& part) {
        CHECK(part == std::to_string(task));
        part.clear();
    }));
}
