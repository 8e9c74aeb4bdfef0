#include <smdebug/batch/run_batch.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace std::chrono_literals;

namespace {

/// Runs "0", "1", ... up to a number.
class numbered_runs {
public:
    explicit numbered_runs(std::uint64_t count) : count_(count) {}
    std::optional<batch_run> operator()() {
        return next_ < count_ ? std::optional{batch_run{.place = next_, .path = std::to_string(next_++)}}
                              : std::nullopt;
    }

private:
    std::uint64_t count_;
    std::uint64_t next_ = 0;
};

/// A batch of so many runs; returns the results, in order.
std::vector<run_result> results_of(const batch_options& how, std::uint64_t runs, const run_work& work) {
    std::vector<run_result> all;
    CHECK(run_batch(how, numbered_runs{runs}, work, [&](run_result&& result) { all.push_back(std::move(result)); }));
    return all;
}

void wait_until(const auto& condition) {
    const auto end = std::chrono::steady_clock::now() + 60s;
    while (!condition() && std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(1ms);
    }
}

}  // namespace

TEST_CASE("run_batch: each run once, results in the order of the runs, whatever the threads") {
    for (const unsigned threads : {1U, 2U, 7U}) {
        std::atomic<int> calls{0};
        const auto all =
            results_of({.threads = threads, .most_waiting = 3}, 200, [&](const batch_run& run, const auto&) {
                ++calls;
                if (run.place % 50 == 0) {
                    std::this_thread::sleep_for(2ms);
                }
                return run_result{.steps = run.place};
            });
        REQUIRE(all.size() == 200);
        CHECK(calls == 200);
        for (std::size_t i = 0; i < all.size(); ++i) {
            CHECK(all[i].run.place == i);
            CHECK(all[i].steps == i);
            CHECK(all[i].seconds >= 0);
        }
    }
}

TEST_CASE("run_batch: out of order a result does not wait for an earlier run") {
    std::atomic<bool> second_is_out{false};
    std::vector<std::uint64_t> order;
    const auto work = [&](const batch_run& run, const run_scope&) {
        if (run.place == 0) {
            wait_until([&] { return second_is_out.load(); });
        }
        return run_result{};
    };
    CHECK(run_batch({.threads = 2, .in_order = false}, numbered_runs{2}, work, [&](run_result&& result) {
        order.push_back(result.run.place);
        second_is_out = true;
    }));
    CHECK(order == std::vector<std::uint64_t>{1, 0});
}

TEST_CASE("run_batch: a run that breaks, whatever it throws, is a result, and the others go on") {
    const auto all = results_of({.threads = 3}, 5, [](const batch_run& run, const run_scope&) -> run_result {
        switch (run.place) {
            case 0:
                throw std::runtime_error("it is broken");
            case 1:
                throw std::bad_alloc();
            case 2:
                throw 42;
            default:
                return {};
        }
    });
    REQUIRE(all.size() == 5);
    CHECK(all[0].state == run_state::failed);
    CHECK(all[0].error == "it is broken");
    CHECK(all[0].run.path == "0");
    CHECK(all[1].state == run_state::no_memory);
    CHECK(all[1].error == "not enough memory");
    CHECK(all[2].state == run_state::failed);
    CHECK(all[2].error == "an exception of an unknown type");
    CHECK(all[3].state == run_state::ended);
}

TEST_CASE("run_batch: a run is requested to stop at its time limit, and its result says so; limits are per run") {
    const auto all =
        results_of({.threads = 2, .run_timeout = 20ms}, 4, [](const batch_run& run, const run_scope& scope) {
            if (run.place == 1) {
                wait_until([&] { return scope.stop.stop_requested(); });
            }
            return run_result{.steps = 7};
        });
    REQUIRE(all.size() == 4);
    CHECK(all[1].state == run_state::timed_out);
    CHECK(all[1].error == "it took longer than the 0.020 s that one run may have");
    CHECK(all[1].steps == 7);  // its results until then
    CHECK(all[0].state == run_state::ended);
    CHECK(all[3].state == run_state::ended);
}

TEST_CASE("run_batch: the longest time limit that there is is none") {
    const auto all = results_of({.threads = 2, .run_timeout = std::chrono::milliseconds::max()}, 4,
                                [](const batch_run&, const run_scope&) {
                                    std::this_thread::sleep_for(5ms);
                                    return run_result{};
                                });
    CHECK(std::ranges::all_of(all, [](const run_result& each) { return each.state == run_state::ended; }));
}

TEST_CASE("run_batch: a stop ends the batch; running runs are undone, others are not begun") {
    std::stop_source stop;
    std::atomic<int> begun{0};
    std::vector<run_result> all;
    const auto work = [&](const batch_run& run, const run_scope& scope) {
        ++begun;
        if (run.place >= 2) {
            stop.request_stop();
            wait_until([&] { return scope.stop.stop_requested(); });
        }
        return run_result{};
    };
    CHECK_FALSE(run_batch({.threads = 2, .stop = stop.get_token()}, numbered_runs{1000}, work,
                          [&](run_result&& result) { all.push_back(std::move(result)); }));
    CHECK(begun < 10);
    CHECK(static_cast<int>(all.size()) == begun);
    CHECK(std::any_of(all.begin(), all.end(), [](const auto& each) { return each.state == run_state::undone; }));
    for (const run_result& each : all) {
        CHECK((each.error == "the batch was stopped") == (each.state == run_state::undone));
    }
}

TEST_CASE("run_batch: what the source and the sink throw ends the batch and comes out") {
    const auto work = [](const batch_run&, const run_scope&) { return run_result{}; };
    std::atomic<int> taken{0};
    CHECK_THROWS_WITH_AS(run_batch({.threads = 3}, numbered_runs{100000}, work,
                                   [&](run_result&&) {
                                       if (++taken == 5) {
                                           throw std::runtime_error("disk full");
                                       }
                                   }),
                         "disk full", std::runtime_error);
    CHECK(taken == 5);  // no later result is passed on
    int asked = 0;
    const auto broken = [&]() -> std::optional<batch_run> {
        if (++asked == 4) {
            throw std::runtime_error("no list");
        }
        return batch_run{};
    };
    CHECK_THROWS_WITH_AS(run_batch({.threads = 3}, broken, work, [](run_result&&) {}), "no list", std::runtime_error);
}

TEST_CASE("run_batch: threads without a run are lent to those that have one, and never are more than there are") {
    std::atomic<int> most_lent{0};
    const auto work = [&](const batch_run& run, const run_scope& scope) {
        std::vector<thread_permit> lent;
        if (run.place == 1) {  // the last run: the other threads become idle, sooner or later
            wait_until([&] {
                if (thread_permit one = scope.threads->try_acquire()) {
                    lent.push_back(std::move(one));
                }
                return lent.size() == 3;
            });
            CHECK_FALSE(scope.threads->try_acquire());
        }
        most_lent = std::max(most_lent.load(), static_cast<int>(lent.size()));
        return run_result{};
    };
    static_cast<void>(results_of({.threads = 4}, 2, work));
    CHECK(most_lent == 3);
    static_cast<void>(results_of({.threads = 1}, 3, [&](const batch_run&, const run_scope& scope) {
        CHECK_FALSE(scope.threads->try_acquire());
        return run_result{};
    }));
}

TEST_CASE("run_batch: each run gets its memory limit, if there is one") {
    const auto memory_of = [](const batch_options& how) {
        std::optional<std::uint64_t> told;
        static_cast<void>(results_of(how, 1, [&](const batch_run&, const run_scope& scope) {
            told = scope.memory;
            return run_result{};
        }));
        return told;
    };
    CHECK(memory_of({.memory = 4096}) == std::optional<std::uint64_t>{4096});
    CHECK_FALSE(memory_of({}));
}

TEST_CASE("run_batch: a place that is not a run is a result with its reason, and is not processed") {
    std::vector<run_result> all;
    bool given = false;
    CHECK(run_batch(
        {.threads = 1},
        [&]() -> std::optional<batch_run> {
            return std::exchange(given, true) ? std::nullopt
                                              : std::optional{batch_run{.path = "x*", .error = "it matches nothing"}};
        },
        [](const batch_run&, const run_scope&) -> run_result { throw std::runtime_error("worked"); },
        [&](run_result&& result) { all.push_back(std::move(result)); }));
    REQUIRE(all.size() == 1);
    CHECK(all[0].state == run_state::failed);
    CHECK(all[0].error == "it matches nothing");
    CHECK(all[0].run.path == "x*");
}

TEST_CASE("run_batch: if an archive takes too long, the results of its completed runs stay") {
    const auto all = results_of({.threads = 1, .run_timeout = 20ms}, 1, [](const batch_run&, const run_scope& scope) {
        wait_until([&] { return scope.stop.stop_requested(); });
        run_result result{.run = {.path = "a.tar!/0"}};
        result.others.push_back({.run = {.path = "a.tar!/1"}});
        result.others.push_back({.run = {.path = "a.tar!/2"}, .state = run_state::undone});
        return result;
    });
    REQUIRE(all.size() == 1);
    CHECK(all[0].run.path == "a.tar!/0");
    CHECK(all[0].state == run_state::ended);
    REQUIRE(all[0].others.size() == 2);
    CHECK(all[0].others[0].state == run_state::timed_out);  // the current run
    CHECK(all[0].others[1].state == run_state::timed_out);
    CHECK(all[0].others[1].error == all[0].others[0].error);
}

TEST_CASE("run_batch: runs that end while others' times are waited for") {
    const auto all = results_of({.threads = 4, .run_timeout = 1h}, 5000,
                                [](const batch_run&, const run_scope&) { return run_result{}; });
    CHECK(all.size() == 5000);
    for (const run_result& each : all) {
        CHECK(each.state == run_state::ended);
    }
}
