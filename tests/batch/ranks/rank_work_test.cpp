#include <smdebug/batch/ranks/rank_work.hpp>
#include <smdebug/batch/row_spool.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

namespace smd = smdebug;

namespace {

void wait_for(const std::atomic<int>& count, int least) {
    for (int now = count.load(); now < least; now = count.load()) {
        count.wait(now);
    }
}

std::vector<smd::run_result> all_of(smd::rank_work& work) {
    std::vector<smd::run_result> all;
    while (auto next = work.take()) {
        all.push_back(std::get<smd::run_result>(*std::move(next)));
    }
    return all;
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
    const auto first = all_of(work);
    REQUIRE(first.size() == 1);
    CHECK(first[0].run.path == "a");
    CHECK(first[0].steps == 7);
    CHECK_FALSE(work.has_ended());
    work.give({.place = 2});
    work.give({.place = 3});
    work.close();
    wait_for(woken, 3);  // for the two at once, and for the end
    while (!work.has_ended()) {
        std::this_thread::yield();
    }
    CHECK(woken == 3);
    CHECK_FALSE(work.failure());
    CHECK(all_of(work).size() == 2);  // what it had is done
    CHECK_FALSE(work.take());
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
    for (std::size_t results = 0; results < 100; results += all_of(work).size()) {
        std::this_thread::yield();
    }
    CHECK_FALSE(work.take());
}

TEST_CASE("runs that are not begun can be taken back, but for the next one") {
    std::atomic<int> woken{0};
    smd::rank_work work{counted{&woken}};
    CHECK(work.take_back().empty());
    for (std::uint64_t place = 3; place < 8; ++place) {
        work.give({.place = place});
    }
    CHECK(work.take_back() == std::vector<std::uint64_t>{4, 5, 6, 7});
    CHECK(work.take_back().empty());
    work.give({.place = 9});
    work.close();
    CHECK(work.next()->place == 3);
    CHECK(work.next()->place == 9);
    CHECK_FALSE(work.next());
}

TEST_CASE("rows come in pieces before their result, and whoever has more of them waits") {
    std::atomic<int> woken{0};
    std::atomic<bool> is_through{false};
    const auto engine = [&](smd::rank_work& from, const std::stop_token&) {
        auto rows = std::make_shared<smd::row_spool>(100'000);
        for (int step = 0; step < 1'500; ++step) {
            rows->add({.step = step, .name = std::string(10'000, 'w')});
        }
        from.emit({.run = {.place = 3}, .reductions = rows});
        is_through = true;
    };
    std::uint64_t rows = 0;
    {
        smd::rank_work work{counted{&woken}, true};
        work.start(engine);
        wait_for(woken, 1);
        std::this_thread::sleep_for(std::chrono::milliseconds{50});
        CHECK_FALSE(is_through);
        CHECK(woken == 1);
        smd::row_spool back;
        bool has_result = false;
        while (!has_result) {
            auto next = work.take();
            if (!next) {
                std::this_thread::yield();
            } else if (const auto* piece = std::get_if<smd::rank_work::rows>(&*next)) {
                CHECK(piece->place == 3);
                back.add_bytes(piece->bytes);
            } else {
                const auto& result = std::get<smd::run_result>(*next);
                CHECK(result.run.place == 3);
                REQUIRE(result.reductions);
                CHECK(result.reductions->size() == 0);
                has_result = true;
            }
        }
        CHECK(back.size() == 1'500);
        back.for_each([&](const smd::reduction_row& row) { rows += row.step == static_cast<int>(rows) ? 1 : 0; });
        CHECK(rows == 1'500);
    }
    // Where nobody takes them any more, it does not wait for ever.
    smd::rank_work work{counted{&woken}, true};
    work.start(engine);
}
