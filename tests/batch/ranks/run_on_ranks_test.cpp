#include "support/environment_variable.hpp"
#include "support/fake_ranks.hpp"
#include "support/rank_batch.hpp"

#include <smdebug/batch/ranks/run_on_ranks.hpp>
#include <smdebug/batch/row_spool.hpp>
#include <smdebug/batch/run_batch.hpp>
#include <smdebug/core/error.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace smd = smdebug;
using namespace smdebug_test;
using namespace std::chrono_literals;

namespace {

// Lost are only those that are told to be: time that a busy machine takes is nobody's silence.
constexpr auto never = 10min;

smd::run_result done(int rank, const smd::batch_run& run) {
    return {.run = run, .steps = static_cast<std::size_t>(rank)};
}

}  // namespace

TEST_CASE("every run is done once, whoever does it, and several do") {
    rank_batch batch{4, 500};
    const auto outcome = batch.run(short_times(never), [](int rank, const smd::batch_run& run, const auto&) {
        CHECK(run.path == "run-" + std::to_string(run.place));
        std::this_thread::sleep_for(100us);
        return done(rank, run);
    });
    CHECK(batch.each_once());
    CHECK(outcome.results == 500);
    CHECK(outcome.undone == 0);
    CHECK(outcome.lost.empty());
    CHECK_FALSE(outcome.stopped);
    CHECK(batch.notes.empty());
    CHECK(batch.failures().empty());
    std::set<std::size_t> ranks;
    for (const smd::run_result& result : batch.results) {
        ranks.insert(result.steps);
    }
    CHECK(ranks.size() > 1);
}

TEST_CASE("one rank alone, no run at all, and more ranks than runs") {
    const auto work = [](int rank, const smd::batch_run& run, const auto&) { return done(rank, run); };
    rank_batch alone{1, 50};
    CHECK(alone.run(short_times(never), work).results == 50);
    CHECK(alone.each_once());
    rank_batch nothing{3, 0};
    CHECK(nothing.run(short_times(never), work).results == 0);
    rank_batch many{6, 2};
    CHECK(many.run(short_times(never), work).results == 2);
    CHECK(many.each_once());
    CHECK(nothing.failures().empty());
    CHECK(many.failures().empty());
}

TEST_CASE("run_batch is an engine") {
    fake_ranks all{3};
    std::vector<std::uint64_t> places;
    std::uint64_t next = 0;
    const auto source = [&]() -> std::optional<smd::batch_run> {
        return next < 100 ? std::optional{smd::batch_run{.place = next++}} : std::nullopt;
    };
    const auto sink = [&](smd::run_result&& result) {
        CHECK(result.state == (result.run.place == 7 ? smd::run_state::failed : smd::run_state::ended));
        places.push_back(result.run.place);
    };
    const auto engine = [](smd::rank_work& work, const std::stop_token& stop) {
        const auto look = [](const smd::batch_run& run, const smd::run_scope&) {
            if (run.place == 7) {
                throw std::runtime_error("bad run");
            }
            return smd::run_result{.run = run};
        };
        smd::run_batch(
            {.threads = 2, .in_order = false, .stop = stop}, [&] { return work.next(); }, look,
            [&](smd::run_result&& result) { work.emit(std::move(result)); });
    };
    {
        std::vector<std::jthread> others;
        for (int rank = 1; rank < 3; ++rank) {
            others.emplace_back([&, rank] {
                static_cast<void>(smd::run_on_ranks(*all.channel(rank), short_times(never), source, sink, engine));
            });
        }
        CHECK(smd::run_on_ranks(*all.channel(0), short_times(never), source, sink, engine).results == 100);
    }
    std::ranges::sort(places);
    REQUIRE(places.size() == 100);
    CHECK(std::ranges::adjacent_find(places) == places.end());
}

TEST_CASE("no rank has more runs at a time than its threads and one") {
    std::atomic<std::uint64_t> drawn{0};
    fake_ranks all{1};
    auto options = short_times(never);
    const auto source = [&]() -> std::optional<smd::batch_run> {
        return drawn < 200 ? std::optional{smd::batch_run{.place = drawn++}} : std::nullopt;
    };
    std::atomic<int> got{0};
    const auto engine = [&](smd::rank_work& from, const std::stop_token&) {
        std::vector<smd::batch_run> held;
        for (int i = 0; i < 3; ++i) {
            held.push_back(*from.next());
            ++got;
        }
        std::jthread fourth{[&] {
            held.push_back(*from.next());
            ++got;
        }};
        std::this_thread::sleep_for(50ms);
        CHECK(got == 3);
        from.emit({.run = held[0]});
        fourth.join();
        for (std::size_t i = 1; i < held.size(); ++i) {
            from.emit({.run = held[i]});
        }
        while (auto run = from.next()) {
            from.emit({.run = *run});
        }
    };
    CHECK(smd::run_on_ranks(
              *all.channel(0), options, source, [](smd::run_result&&) {}, engine)
              .results == 200);
}

TEST_CASE("a rank that dies is noticed, and others do its runs") {
    rank_batch batch{3, 60};
    std::atomic<bool> died{false};
    const auto outcome =
        batch.run(short_times(300ms), [&](int rank, const smd::batch_run& run, const std::stop_token& stop) {
            if (rank == 2 && !died.exchange(true)) {
                batch.all.lose(2);
            }
            while (rank == 2 && died && !stop.stop_requested()) {
                std::this_thread::sleep_for(1ms);  // nobody hears of it
            }
            std::this_thread::sleep_for(1ms);
            return done(rank, run);
        });
    CHECK(died);
    CHECK(batch.each_once());
    CHECK(outcome.undone == 0);
    CHECK(outcome.lost == std::vector<int>{2});
    CHECK(batch.all.is_forgotten(2));
    CHECK(batch.noted("rank 2 on node2 is lost: nothing has been heard of it for"));
    CHECK(batch.noted("; others do its "));
}

TEST_CASE("a rank that never comes is lost, and the rest do without") {
    rank_batch batch{3, 20};
    auto options = short_times(300ms);
    options.start_limit = 300ms;
    const auto outcome =
        batch.run(options, [](int rank, const smd::batch_run& run, const auto&) { return done(rank, run); }, {1});
    CHECK(batch.each_once());
    CHECK(outcome.lost == std::vector<int>{1});
    CHECK(batch.all.is_forgotten(1));
}

TEST_CASE("a rank that was only stopped is back, and no result comes twice") {
    rank_batch batch{3, 60};
    std::atomic<bool> stopped{false};
    std::atomic<bool> goes_on{false};
    std::jthread waker;
    const auto outcome = batch.run(short_times(300ms), [&](int rank, const smd::batch_run& run, const auto&) {
        if (rank == 1 && !stopped.exchange(true)) {
            batch.all.stop(1);
            waker = std::jthread{[&] {
                std::this_thread::sleep_for(1s);
                batch.all.go_on(1);
                goes_on = true;
            }};
        }
        batch.all.stop_point(rank);
        // The others have something left to do when it is back.
        while (rank != 1 && run.place >= 30 && !goes_on) {
            std::this_thread::sleep_for(1ms);
        }
        std::this_thread::sleep_for(rank == 1 || run.place < 30 ? 1ms : 60ms);
        return done(rank, run);
    });
    CHECK(batch.each_once());
    CHECK(outcome.undone == 0);
    CHECK(outcome.lost.empty());
    CHECK(batch.noted("rank 1 on node1 is lost"));
    CHECK(batch.noted("rank 1 on node1 is back"));
    CHECK(batch.failures().empty());
}

TEST_CASE("one that comes back when all has been done need not end what it has") {
    rank_batch batch{2, 6};
    std::atomic<bool> stopped{false};
    std::jthread waker;
    std::atomic<bool> saw_stop{false};
    batch.on_result = [&](const smd::run_result& result) {
        if (result.run.place == 5) {
            std::this_thread::sleep_for(400ms);  // rank 0 waits for the sink, and the other comes back meanwhile
        }
    };
    static_cast<void>(
        batch.run(short_times(300ms), [&](int rank, const smd::batch_run& run, const std::stop_token& stop) {
            if (rank == 1) {
                if (!stopped.exchange(true)) {
                    batch.all.stop(1);
                    waker = std::jthread{[&] {
                        std::this_thread::sleep_for(450ms);
                        batch.all.go_on(1);
                    }};
                }
                batch.all.stop_point(1);
                for (int i = 0; i < 20'000 && !stop.stop_requested(); ++i) {
                    std::this_thread::sleep_for(1ms);
                }
                saw_stop = saw_stop || stop.stop_requested();
                return smd::run_result{.run = run, .state = smd::run_state::undone};
            }
            return done(rank, run);
        }));
    CHECK(batch.each_once());
    CHECK(std::ranges::none_of(batch.results, [](const auto& each) { return each.state == smd::run_state::undone; }));
}

TEST_CASE("a run that kills two ranks is given up, and rank 0 lives") {
    rank_batch batch{4, 40};
    std::mutex mutex;
    std::set<int> dead;
    std::optional<std::uint64_t> killer;  // the first that another rank than 0 begins
    std::atomic<bool> is_chosen{false};
    const auto work = [&](int rank, const smd::batch_run& run, const std::stop_token& stop) {
        while (rank == 0 && !is_chosen) {
            std::this_thread::sleep_for(1ms);
        }
        bool dies = false;
        {
            const std::lock_guard lock{mutex};
            if (rank > 0 && !killer) {
                killer = run.place;
                is_chosen = true;
            }
            if (run.place == killer) {
                dead.insert(rank);
            }
            dies = dead.contains(rank);
        }
        if (dies) {
            batch.all.lose(rank);
            while (!stop.stop_requested()) {
                std::this_thread::sleep_for(1ms);
            }
        }
        std::this_thread::sleep_for(1ms);
        return done(rank, run);
    };
    const auto outcome = batch.run(short_times(300ms), work);
    CHECK(batch.each_once());
    CHECK(dead.size() == 2);
    CHECK_FALSE(dead.contains(0));
    CHECK(outcome.undone >= 1);  // others may have been in the same hands twice
    CHECK(outcome.undone < 4);
    CHECK(outcome.lost == std::vector<int>{dead.begin(), dead.end()});
    for (const smd::run_result& result : batch.results) {
        CHECK((result.run.place != killer || result.state == smd::run_state::undone));
        if (result.state == smd::run_state::undone) {
            CHECK(result.run.path == "run-" + std::to_string(result.run.place));
            CHECK(result.error.find("given up: 2 processes were lost that had it") == 0);
        }
    }
    CHECK(batch.noted("given up, as 2 processes were lost that had it: run-" + std::to_string(*killer)));
}

TEST_CASE("the sink fails: all ranks stop, and rank 0 says why") {
    rank_batch batch{3, 1'000'000};
    std::atomic<int> stops{0};
    batch.on_result = [&](const smd::run_result&) {
        if (batch.results.size() == 20) {
            throw std::runtime_error("no space left on device");
        }
    };
    CHECK_THROWS_WITH(
        static_cast<void>(batch.run(short_times(never),
                                    [&](int rank, const smd::batch_run& run, const std::stop_token& stop) {
                                        stops += stop.stop_requested() ? 1 : 0;
                                        std::this_thread::sleep_for(100us);
                                        return done(rank, run);
                                    })),
        "no space left on device");
    CHECK(batch.results.size() == 20);
    CHECK(batch.failures().empty());
}

TEST_CASE("the sink fails with the very last result") {
    rank_batch batch{2, 10};
    batch.on_result = [&](const smd::run_result&) {
        if (batch.results.size() == 9) {
            throw std::runtime_error("full");
        }
    };
    CHECK_THROWS_WITH(static_cast<void>(batch.run(short_times(never), [](int rank, const smd::batch_run& run,
                                                                         const auto&) { return done(rank, run); })),
                      "full");
    CHECK(batch.failures().empty());
}

TEST_CASE("source and engine of rank 0 fail: the same") {
    const auto engine = [](smd::rank_work& from, const std::stop_token&) {
        while (auto run = from.next()) {
            from.emit({.run = *run});
        }
    };
    const auto sink = [](smd::run_result&&) {};
    fake_ranks all{1};
    const auto bad_source = []() -> std::optional<smd::batch_run> { throw std::runtime_error("no list"); };
    CHECK_THROWS_WITH(
        static_cast<void>(smd::run_on_ranks(*all.channel(0), short_times(never), bad_source, sink, engine)), "no list");
    const auto same_place = []() { return std::optional{smd::batch_run{.place = 3}}; };
    CHECK_THROWS_AS(static_cast<void>(smd::run_on_ranks(*all.channel(0), short_times(never), same_place, sink, engine)),
                    smd::value_error);
    rank_batch batch{3, 100};
    CHECK_THROWS_WITH(static_cast<void>(batch.run(short_times(never),
                                                  [&](int rank, const smd::batch_run& run, const auto&) {
                                                      if (rank == 0) {
                                                          throw std::runtime_error("no rules");
                                                      }
                                                      return done(rank, run);
                                                  })),
                      "no rules");
    CHECK(batch.failures().empty());
}

TEST_CASE("another rank's engine fails: the others do its runs, and it waits for the end in peace") {
    rank_batch batch{3, 100};
    const auto outcome = batch.run(short_times(800ms), [&](int rank, const smd::batch_run& run, const auto&) {
        if (rank == 2) {
            throw std::runtime_error("no rules here");
        }
        std::this_thread::sleep_for(20ms);
        return done(rank, run);
    });
    CHECK(batch.each_once());
    CHECK(outcome.undone == 0);
    CHECK(outcome.lost.empty());
    CHECK(batch.noted("rank 2 on node2 is lost: it has broken: no rules here"));
    CHECK(batch.failures().empty());
}

TEST_CASE("Ctrl-C: what was handed out is undone, or has its result") {
    rank_batch batch{3, 1'000'000};
    batch.on_result = [&](const smd::run_result&) {
        if (batch.results.size() == 20) {
            batch.stops[0].request_stop();
        }
    };
    const auto outcome =
        batch.run(short_times(never), [](int rank, const smd::batch_run& run, const std::stop_token& stop) {
            std::this_thread::sleep_for(1ms);
            smd::run_result result = done(rank, run);
            if (stop.stop_requested() && rank != 1) {
                result.state = smd::run_state::undone;
                result.error = "stopped";
            }
            return result;
        });
    CHECK(outcome.stopped);
    CHECK(outcome.results == batch.results.size());
    CHECK(outcome.undone > 0);
    CHECK(outcome.lost.empty());
    for (const auto& [place, count] : batch.counts()) {
        CHECK(count == 1);
    }
    // What the source gave, and no more: from 0 on without a gap.
    CHECK(batch.counts().rbegin()->first == batch.counts().size() - 1);
    for (const smd::run_result& result : batch.results) {
        CHECK((result.state == smd::run_state::undone) == !result.error.empty());
    }
    CHECK(batch.failures().empty());
}

TEST_CASE("one that does not stop when it is told to is left behind") {
    rank_batch batch{3, 1'000'000};
    auto options = short_times(never);
    options.stop_limit = 300ms;
    std::atomic<bool> held{false};  // rank 2 has a run, and does not let go of it
    batch.on_result = [&](const smd::run_result&) {
        if (batch.results.size() >= 20 && held) {
            batch.stops[0].request_stop();
        }
    };
    const auto outcome = batch.run(options, [&](int rank, const smd::batch_run& run, const auto&) {
        std::this_thread::sleep_for(1ms);
        held = held || rank == 2;
        while (rank == 2 && !batch.all.is_forgotten(2)) {
            std::this_thread::sleep_for(1ms);
        }
        return done(rank, run);
    });
    CHECK(outcome.lost == std::vector<int>{2});
    CHECK(batch.noted("rank 2 on node2 is lost: it was told to stop, and does not"));
    for (const auto& [place, count] : batch.counts()) {
        CHECK(count == 1);
    }
}

TEST_CASE("rank 0's own engine does not stop: all has been written, then all are aborted") {
    fake_ranks all{1};
    auto options = short_times(never);
    options.stop_limit = 100ms;
    std::stop_source stop;
    std::vector<smd::run_result> results;
    std::uint64_t next = 0;
    std::atomic<bool> may_end{false};
    const auto source = [&] { return std::optional{smd::batch_run{.place = next++}}; };
    const auto sink = [&](smd::run_result&& result) { results.push_back(std::move(result)); };
    const auto engine = [&](smd::rank_work& from, const std::stop_token&) {
        static_cast<void>(from.next());
        stop.request_stop();
        may_end.wait(false);
    };
    const std::jthread ender{[&] {
        std::this_thread::sleep_for(1s);
        may_end = true;
        may_end.notify_all();
    }};
    CHECK_THROWS_WITH_AS(
        static_cast<void>(smd::run_on_ranks(*all.channel(0), options, source, sink, engine, stop.get_token())),
        doctest::Contains("rank 0 does not end, though it was told to stop"), ranks_aborted);
    REQUIRE_FALSE(results.empty());
    CHECK(results[0].state == smd::run_state::undone);
}

TEST_CASE("a rank that is stopped by itself gives back what it has") {
    rank_batch batch{3, 200};
    const auto outcome =
        batch.run(short_times(never), [&](int rank, const smd::batch_run& run, const std::stop_token& stop) {
            if (rank == 1) {
                batch.stops[1].request_stop();
                while (!stop.stop_requested()) {
                    std::this_thread::sleep_for(1ms);
                }
                return smd::run_result{.run = run, .state = smd::run_state::undone, .error = "stopped"};
            }
            std::this_thread::sleep_for(1ms);
            return done(rank, run);
        });
    CHECK(batch.each_once());
    CHECK(outcome.undone == 0);
    CHECK(outcome.lost.empty());
    CHECK(batch.noted("rank 1 on node1 has been stopped; others do what it had"));
}

TEST_CASE("rank 0 is silent: the others end, and say why") {
    rank_batch batch{3, 1'000'000};
    std::atomic<bool> stopped{false};
    std::jthread waker;
    const auto work = [&](int rank, const smd::batch_run& run, const auto&) {
        if (rank == 1 && !stopped.exchange(true)) {
            batch.all.stop(0);
            waker = std::jthread{[&] {
                while (batch.failures().size() < 2) {
                    std::this_thread::sleep_for(1ms);
                }
                batch.stops[0].request_stop();
                batch.all.go_on(0);
            }};
        }
        return done(rank, run);
    };
    static_cast<void>(batch.run(short_times(300ms), work));
    const auto failures = batch.failures();
    CHECK(failures.at(1).find("rank 1 on node1 ends: nothing has been heard of rank 0 for") == 0);
    CHECK(failures.at(2).find("rank 2 on node2 ends: nothing has been heard of rank 0 for") == 0);
}

TEST_CASE("late messages are no loss") {
    rank_batch batch{3, 60};
    batch.all.delay(0, 30ms);
    batch.all.delay(2, 50ms);
    const auto outcome =
        batch.run(short_times(never), [](int rank, const smd::batch_run& run, const auto&) { return done(rank, run); });
    CHECK(batch.each_once());
    CHECK(outcome.lost.empty());
}

TEST_CASE("rank 0's list and results may take their time: nobody is lost meanwhile") {
    rank_batch batch{3, 4};
    batch.on_result = [](const smd::run_result&) { std::this_thread::sleep_for(700ms); };
    const auto outcome =
        batch.run(short_times(600ms), [](int rank, const smd::batch_run& run, const auto&) { return done(rank, run); });
    CHECK(batch.each_once());
    CHECK(outcome.lost.empty());
    CHECK(batch.failures().empty());
}

TEST_CASE("rows of reductions come with their results, from whatever rank") {
    rank_batch batch{3, 30};
    std::map<std::uint64_t, std::uint64_t> rows;
    std::uint64_t of_others = 0;  // of an archive
    batch.on_result = [&](const smd::run_result& result) {
        REQUIRE(result.reductions);
        result.reductions->for_each([&](const smd::reduction_row& row) {
            rows[result.run.place] += row.name == result.run.path && row.step == static_cast<int>(result.run.place);
        });
        for (const smd::run_result& other : result.others) {
            REQUIRE(other.reductions);
            other.reductions->for_each(
                [&](const smd::reduction_row& row) { of_others += row.name == other.run.path ? 1U : 0U; });
        }
    };
    const auto outcome = batch.run(short_times(never), [](int rank, const smd::batch_run& run, const auto&) {
        smd::run_result result = done(rank, run);
        result.reductions = std::make_shared<smd::row_spool>(10'000);
        const std::uint64_t count = run.place == 0 ? 0 : run.place == 1 ? 20'000 : run.place;
        for (std::uint64_t i = 0; i < count; ++i) {
            result.reductions->add({.step = static_cast<int>(run.place), .name = run.path});
        }
        for (const char* const path : {"a.tar!/1", "a.tar!/2"}) {
            auto of_other = std::make_shared<smd::row_spool>();
            of_other->add({.name = path});
            result.others.push_back({.run = {.path = path}, .reductions = of_other});
        }
        std::this_thread::sleep_for(1ms);
        return result;
    });
    CHECK(batch.each_once());
    CHECK(of_others == 60);
    CHECK(outcome.results == 30);
    CHECK(rows[0] == 0);
    CHECK(rows[1] == 20'000);
    for (std::uint64_t place = 2; place < 30; ++place) {
        CHECK(rows[place] == place);
    }
    CHECK(batch.failures().empty());
}

namespace {

// A batch whose run 5 is in 40 parts of a step, whose rows each are its steps.
smd::run_result large_or_not(int rank, const smd::batch_run& run) {
    smd::run_result result = done(rank, run);
    const bool is_large = run.path == "run-5";
    if (is_large && !run.steps && !run.whole) {
        result.run.version = "v";
        for (int step = 0; step < 40; ++step) {
            result.parts.push_back({.begin = step, .end = step + 1});
        }
        return result;
    }
    CHECK((!run.steps || run.version == "v"));
    result.reductions = std::make_shared<smd::row_spool>(100);
    const auto all = run.steps ? *run.steps : smd::step_range{.begin = 0, .end = is_large ? 40 : 1};
    for (auto step = *all.begin; step < *all.end; ++step) {
        result.reductions->add({.step = step, .name = run.path});
    }
    return result;
}

// What every batch of them must come to.
struct large_among_small {
    explicit large_among_small(rank_batch& batch) {
        batch.on_result = [this](const smd::run_result& result) {
            CHECK(result.parts.empty());
            CHECK(result.error.empty());
            smd::step_number next = 0;
            result.reductions->for_each([&](const smd::reduction_row& row) {
                CHECK(row.step == next++);
                CHECK(row.name == result.run.path);
            });
            (result.run.place == 5 ? large : small) += static_cast<int>(next);
        };
    }
    int large = 0;
    int small = 0;
};

}  // namespace

TEST_CASE("a large run is done in parts, by several ranks, and is one result in the end") {
    rank_batch batch{3, 50};
    const large_among_small all{batch};
    std::mutex mutex;
    std::set<int> ranks;
    const auto outcome = batch.run(short_times(never), [&](int rank, const smd::batch_run& run, const auto&) {
        // No rank has all parts at once: these wait for another one's.
        for (int turn = 0; run.steps && turn < 60'000; ++turn) {
            {
                const std::lock_guard lock{mutex};
                ranks.insert(rank);
                if (ranks.size() > 1) {
                    break;
                }
            }
            std::this_thread::sleep_for(1ms);
        }
        return large_or_not(rank, run);
    });
    CHECK(batch.each_once());
    CHECK(outcome.results == 50);
    CHECK(all.large == 40);
    CHECK(all.small == 49);
    CHECK(ranks.size() > 1);
    CHECK(batch.failures().empty());
}

TEST_CASE("a large run of which a part fails is done whole") {
    rank_batch batch{3, 20};
    const large_among_small all{batch};
    std::atomic<int> whole{0};
    const auto outcome = batch.run(short_times(never), [&](int rank, const smd::batch_run& run, const auto&) {
        whole += run.whole ? 1 : 0;
        if (run.steps && run.steps->begin == 20) {
            return smd::run_result{.run = run, .state = smd::run_state::timed_out, .error = "slow"};
        }
        return large_or_not(rank, run);
    });
    CHECK(batch.each_once());
    CHECK(outcome.results == 20);
    CHECK(whole == 1);
    CHECK(all.large == 40);
    CHECK(all.small == 19);
}

TEST_CASE("a rank is lost with a part of a large run: others do it") {
    rank_batch batch{3, 20};
    const large_among_small all{batch};
    std::atomic<bool> died{false};
    const auto outcome =
        batch.run(short_times(300ms), [&](int rank, const smd::batch_run& run, const std::stop_token& stop) {
            if (rank == 2 && run.steps && !died.exchange(true)) {
                batch.all.lose(2);
            }
            // No rank has all parts at once, so this one gets some while the others wait with theirs.
            while (!stop.stop_requested() && (rank == 2 ? died.load() : run.steps && !died)) {
                std::this_thread::sleep_for(1ms);
            }
            return large_or_not(rank, run);
        });
    CHECK(died);
    CHECK(batch.each_once());
    CHECK(outcome.undone == 0);
    CHECK(all.large == 40);
}

TEST_CASE("a part that ranks are lost with is given up, and with it the run; a stop leaves it undone once, too") {
    for (const bool stops : {false, true}) {
        CAPTURE(stops);
        rank_batch batch{3, 20};
        const auto outcome =
            batch.run(short_times(300ms), [&](int rank, const smd::batch_run& run, const std::stop_token& stop) {
                if (run.steps && run.steps->begin == 20) {
                    if (stops) {
                        batch.stops[0].request_stop();
                    } else if (rank > 0) {
                        batch.all.lose(rank);
                    }
                    while (!stop.stop_requested() && (stops || rank > 0)) {
                        std::this_thread::sleep_for(1ms);
                    }
                    if (stops) {
                        return smd::run_result{.run = run, .state = smd::run_state::undone, .error = "stopped"};
                    }
                }
                return large_or_not(rank, run);
            });
        for (const auto& [place, count] : batch.counts()) {
            CHECK(count == 1);
        }
        int undone = 0;
        for (const smd::run_result& result : batch.results) {
            if (result.run.path == "run-5" && result.state == smd::run_state::undone) {
                CHECK(result.run.place == 5);
                CHECK(!result.error.empty());
                ++undone;
            }
        }
        CHECK(batch.counts().at(5) == 1);
        CHECK((undone == 1 || batch.results.size() == 20));
        CHECK(outcome.results == batch.results.size());
    }
}

TEST_CASE("what launchers say of the number of processes") {
    const environment_variable no_open_mpi{"OMPI_COMM_WORLD_SIZE", {}};
    const environment_variable no_pmi{"PMI_SIZE", {}};
    const environment_variable no_slurm{"SLURM_STEP_NUM_TASKS", {}};
    CHECK(smd::launched_processes() == 1);
    {
        const environment_variable slurm{"SLURM_STEP_NUM_TASKS", "8"};
        CHECK(smd::launched_processes() == 8);
        const environment_variable open_mpi{"OMPI_COMM_WORLD_SIZE", "4"};
        CHECK(smd::launched_processes() == 4);
    }
    const environment_variable nonsense{"PMI_SIZE", "x"};
    CHECK(smd::launched_processes() == 1);
}
