#include <program/ranks.hpp>

#include "program/fake_ranks.hpp"

#include <smdebug/batch/run_result.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;
using namespace smdebug::cli::detail;

namespace {

/// Gives runs with the places 0 to `count`, `at_once` at a time; between two answers it has none for a moment.
run_giver::source counting(std::uint64_t count, std::uint64_t at_once) {
    return [count, at_once, next = std::uint64_t{0}, pause = false]() mutable -> std::optional<std::vector<batch_run>> {
        pause = !pause;
        if (pause && next < count) {
            return std::nullopt;
        }
        std::vector<batch_run> some;
        for (; next < count && some.size() < at_once; ++next) {
            some.push_back({.place = next, .path = "run " + std::to_string(next)});
        }
        return some;
    };
}

}  // namespace

TEST_CASE("ranks: runs as a message come back, whatever is in their names") {
    const std::vector<batch_run> runs{{.place = 7, .path = "a:1\n", .version = "v", .error = "", .is_beside = true},
                                      {.place = ~std::uint64_t{0}, .path = "", .version = "", .error = "3:no run"}};
    const auto back = runs_of(text_of(runs));
    REQUIRE(back.size() == 2);
    for (std::size_t i = 0; i < 2; ++i) {
        CHECK(back[i].place == runs[i].place);
        CHECK(back[i].path == runs[i].path);
        CHECK(back[i].version == runs[i].version);
        CHECK(back[i].error == runs[i].error);
        CHECK(back[i].is_beside == runs[i].is_beside);
    }
    CHECK(text_of(std::vector<batch_run>{}).empty());
    CHECK(runs_of("").empty());
    CHECK(runs_of("12").size() <= 1);  // what is cut ends
}

TEST_CASE("ranks: parts of a message come back; a message that is cut gives what it has") {
    std::string message;
    append_part(message, "a:1");
    append_part(message, "");
    std::string_view rest = message;
    CHECK(take_part(rest) == "a:1");
    CHECK(take_part(rest).empty());
    CHECK(rest.empty());
    CHECK(take_part(rest).empty());
    rest = "9:cut";
    CHECK(take_part(rest) == "cut");
    CHECK(rest.empty());
    CHECK(number_in("12") == 12);
    CHECK(number_in("x") == 0);
}

TEST_CASE("ranks: rank 0 says something before the first run, and fetches what the others have made, one by one") {
    fake_ranks ranks{4};
    const std::string large(200'000, 'x');
    ranks.run([&](rank_channel& channel) {
        if (channel.rank() == 0) {
            run_giver giver{channel};
            giver.tell("");
            giver.give(counting(10, 1), [](std::size_t) {}, {});
            CHECK(giver.is_whole());
            CHECK(giver.fetch(2) == "2" + large + "+.");
            CHECK(giver.fetch(1) == "1" + large + "+.");
            CHECK_FALSE(giver.fetch(3));
            return;
        }
        run_taker taker{channel};
        CHECK(taker.told({}) == "");
        while (taker.next({})) {
        }
        const auto make = [&](const auto& write) {
            write(std::to_string(channel.rank()));
            write(large);
            if (channel.rank() == 3) {
                throw std::runtime_error("it fails");
            }
            write("+");
            write(".");
        };
        if (channel.rank() == 3) {
            CHECK_THROWS_WITH(taker.end(rank_end::whole, make), "it fails");
        } else {
            taker.end(rank_end::whole, make);
        }
    });
    CHECK(ranks.left() == 0);
}

TEST_CASE("ranks: nothing is said by a rank 0 that gives up, or after a stop") {
    for (const bool stops : {false, true}) {
        fake_ranks ranks{3};
        ranks.run([&](rank_channel& channel) {
            if (channel.rank() == 0) {
                run_giver giver{channel};
                if (stops) {
                    giver.tell("too late");
                }
                return;
            }
            run_taker taker{channel};
            std::stop_source stop;
            if (stops) {
                stop.request_stop();
            }
            CHECK_FALSE(taker.told(stop.get_token()));
            CHECK_FALSE(taker.next(stop.get_token()));
            taker.end(stops ? rank_end::stopped : rank_end::whole);
        });
        CHECK(ranks.left() == 0);
    }
}

TEST_CASE("ranks: each run goes to one rank, all are done, and no message is left") {
    fake_ranks ranks{4};
    std::mutex guard;
    std::set<std::uint64_t> done;
    std::size_t told = 0;
    ranks.run([&](rank_channel& channel) {
        if (channel.rank() == 0) {
            run_giver giver{channel};
            giver.give(counting(1000, 3), [&](std::size_t count) { told += count; }, {});
            CHECK(giver.is_whole());
            CHECK_FALSE(giver.has_failed());
            return;
        }
        run_taker taker{channel};
        while (const auto run = taker.next({})) {
            const std::lock_guard lock{guard};
            CHECK(done.insert(run->place).second);
            CHECK(run->path == "run " + std::to_string(run->place));
        }
        CHECK_FALSE(taker.next({}));
        taker.end(rank_end::whole);
    });
    CHECK(done.size() == 1000);
    CHECK(told == 1000);
    CHECK(ranks.left() == 0);
}

TEST_CASE("ranks: one that is stopped while it waits ends; the others go on, and the scan is not whole") {
    fake_ranks ranks{3};
    std::stop_source stop;
    std::atomic<std::size_t> done{0};
    ranks.run([&](rank_channel& channel) {
        if (channel.rank() == 0) {
            run_giver giver{channel};
            std::uint64_t next = 0;
            giver.give(
                [&]() -> std::optional<std::vector<batch_run>> {
                    if (next == 0) {
                        stop.request_stop();  // both wait; rank 1 gets a stop request
                    }
                    return next == 5 ? std::vector<batch_run>{} : std::vector<batch_run>{{.place = next++}};
                },
                [](std::size_t) {}, {});
            CHECK_FALSE(giver.is_whole());
            CHECK_FALSE(giver.has_failed());
            return;
        }
        run_taker taker{channel};
        const std::stop_token mine = channel.rank() == 1 ? stop.get_token() : std::stop_token{};
        while (const auto run = taker.next(mine)) {
            done += channel.rank() == 2 ? 1U : 0U;
        }
        taker.end(channel.rank() == 1 ? rank_end::stopped : rank_end::whole);
    });
    CHECK(done >= 4);
    CHECK(ranks.left() == 0);
}

TEST_CASE("ranks: when one fails, or rank 0 stops or gives up, no more runs are handed out") {
    for (const char* const what : {"fails", "stop", "gives up"}) {
        CAPTURE(what);
        const bool fails = what == std::string{"fails"};
        fake_ranks ranks{3};
        ranks.run([&](rank_channel& channel) {
            if (channel.rank() == 0) {
                run_giver giver{channel};
                std::stop_source stop;
                if (what == std::string{"stop"}) {
                    stop.request_stop();
                }
                if (what != std::string{"gives up"}) {
                    giver.give(
                        [next = std::uint64_t{0}]() mutable { return std::vector<batch_run>{{.place = next++}}; },
                        [](std::size_t) {}, stop.get_token());
                    CHECK(giver.has_failed() == fails);
                    CHECK(giver.is_whole() != fails);
                }
                return;
            }
            run_taker taker{channel};
            while (taker.next({})) {
                if (fails && channel.rank() == 1) {
                    break;
                }
            }
            taker.end(fails && channel.rank() == 1 ? rank_end::failed : rank_end::whole);
        });
        CHECK(ranks.left() == 0);
    }
}

TEST_CASE("ranks: the number of processes comes from the launcher's variables") {
    CHECK(launched_processes() == 1);  // the tests are started by none
}
