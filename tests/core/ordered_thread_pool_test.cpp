#include <smdebug/core/ordered_thread_pool.hpp>

#include "support/test.hpp"

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
    const auto caller = std::this_thread::get_id();
    for (const unsigned threads : {0U, 1U, 2U, 7U}) {
        for (const int count : {0, 1, 5, 200}) {
            ordered_thread_pool<int, std::string> crew{
                threads, std::string{}, counter{count}, [&](std::size_t, int task, std::string& part) {
                    CHECK((std::this_thread::get_id() == caller) == (threads == 0));
                    slow_down(task);
                    part += std::to_string(task);
                }};
            int seen = 0;
            while (const auto one = crew.next()) {
                CHECK(one->task == seen);
                CHECK(one->part == std::to_string(seen));
                one->part.clear();
                ++seen;
            }
            CHECK(seen == count);
            CHECK(crew.is_complete());
            CHECK_FALSE(crew.next());
        }
    }
}

TEST_CASE("ordered_thread_pool: no more tasks run than there are parts, even if the first is slow") {
    std::atomic<int> begun{0};
    std::atomic<int> most_ahead{0};
    int given = 0;
    ordered_thread_pool<int, int> crew{3, 0, counter{100}, [&](std::size_t thread, int task, int&) {
                                           CHECK(thread < 3);
                                           ++begun;
                                           if (task == 0) {
                                               std::this_thread::sleep_for(std::chrono::milliseconds{50});
                                               most_ahead = begun.load();
                                           }
                                       }};
    while (crew.next()) {
        ++given;
    }
    CHECK(given == 100);
    CHECK(most_ahead <= static_cast<int>(crew.parts()));
    CHECK(most_ahead > 1);
}

TEST_CASE("ordered_thread_pool: the earliest failure is thrown after all results before it, and nothing after it") {
    for (const unsigned threads : {0U, 4U}) {
        for (int round = 0; round < 20; ++round) {
            ordered_thread_pool<int, int> crew{threads, 0, counter{50}, [](std::size_t, int task, int&) {
                                                   slow_down(task);
                                                   if (task == 20 || task == 21 || task == 30) {
                                                       throw std::runtime_error(std::to_string(task));
                                                   }
                                               }};
            int given = 0;
            const auto take_all = [&] {
                while (crew.next()) {
                    ++given;
                }
            };
            CHECK_THROWS_WITH_AS(take_all(), "20", std::runtime_error);
            CHECK(given == 20);
            CHECK_THROWS_WITH_AS(take_all(), "20", std::runtime_error);
            CHECK(given == 20);
            CHECK_FALSE(crew.is_complete());
        }
    }
}

TEST_CASE("ordered_thread_pool: what the source of tasks throws is passed on, too") {
    for (const unsigned threads : {0U, 2U}) {
        int begun = 0;
        int given = 0;
        const auto tasks = [&]() -> std::optional<int> {
            if (begun == 10) {
                throw std::logic_error("next");
            }
            return begun++;
        };
        ordered_thread_pool<int, int> crew{threads, 0, tasks, [](std::size_t, int, int&) {}};
        const auto take_all = [&] {
            while (crew.next()) {
                ++given;
            }
        };
        CHECK_THROWS_WITH_AS(take_all(), "next", std::logic_error);
        CHECK(given == 10);
    }
}

TEST_CASE("ordered_thread_pool: ended before all results were taken, it waits for what is running") {
    std::atomic<int> running{0};
    {
        ordered_thread_pool<int, int> crew{3, 0, counter{1000}, [&](std::size_t, int task, int&) {
                                               ++running;
                                               slow_down(task);
                                               --running;
                                           }};
        CHECK(crew.next()->task == 0);
    }
    CHECK(running == 0);
}

TEST_CASE("ordered_thread_pool: a stop ends it at once, also while it waits for a task") {
    for (const unsigned threads : {0U, 2U}) {
        ordered_thread_pool<int, int> crew{threads, 0, counter{1000}, [](std::size_t, int, int&) {}};
        std::stop_source source;
        int given = 0;
        while (crew.next(source.get_token())) {
            if (++given == 5) {
                source.request_stop();
            }
        }
        CHECK(given == 5);
        CHECK_FALSE(crew.is_complete());
    }
    std::stop_source later;
    ordered_thread_pool<int, int> slow{
        2, 0, counter{4}, [](std::size_t, int, int&) { std::this_thread::sleep_for(std::chrono::milliseconds{60}); }};
    std::jthread stopper{[&] {
        std::this_thread::sleep_for(std::chrono::milliseconds{10});
        later.request_stop();
    }};
    while (slow.next(later.get_token())) {
    }
    CHECK_FALSE(slow.is_complete());
}
