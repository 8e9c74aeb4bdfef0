// What rank 0 says to others, word by word; run_on_ranks_test has whole batches.
#include "support/fake_ranks.hpp"
#include "support/rank_batch.hpp"

#include <smdebug/batch/ranks/coordinator.hpp>
#include <smdebug/batch/ranks/messages.hpp>
#include <smdebug/core/error.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <variant>
#include <vector>

namespace smd = smdebug;
using namespace smd::detail;
using namespace smdebug_test;
using namespace std::chrono_literals;

namespace {

// A rank 0 that does nothing itself until it is the end; the other rank is the test.
struct office {
    explicit office(std::uint64_t count) : runs(count) {
        thread = std::jthread{[this] {
            const auto source = [&]() -> std::optional<smd::batch_run> {
                return next < runs ? std::optional{smd::batch_run{.place = next++}} : std::nullopt;
            };
            const auto sink = [&](smd::run_result&& result) { results.push_back(std::move(result)); };
            const auto engine = [](smd::rank_work& work, const std::stop_token& ending) {
                while (auto run = work.next()) {
                    while (!ending.stop_requested()) {
                        std::this_thread::sleep_for(1ms);
                    }
                }
            };
            try {
                outcome = coordinator{*zero, options, source, sink, engine, stop.get_token()}.run();
            } catch (const std::exception& thrown) {
                why = thrown.what();
            }
        }};
    }
    ~office() {
        stop.request_stop();
        one->send(0, message_bytes(rank_ended{}));
    }
    template <class Message>
    void say(const Message& what) {
        one->send(0, message_bytes(what));
    }
    // Rank 0 has done what all said so far means: it has received what was said after it.
    void wait() {
        say(rank_alive{});
        while (!all.has_all(0)) {
            std::this_thread::sleep_for(1ms);
        }
    }
    // The next message but heartbeats.
    rank_message hear() {
        const auto end = std::chrono::steady_clock::now() + 1min;
        for (;;) {
            const auto packet = one->receive(1min);
            REQUIRE(packet);
            REQUIRE(std::chrono::steady_clock::now() < end);
            rank_message message = message_from_bytes(packet->bytes);
            if (!std::holds_alternative<rank_alive>(message)) {
                return message;
            }
        }
    }

    std::uint64_t runs;
    std::uint64_t next = 0;
    smd::rank_options options = short_times(10min);
    fake_ranks all{2};
    std::unique_ptr<smd::rank_channel> zero = all.channel(0);
    std::unique_ptr<smd::rank_channel> one = all.channel(1);
    std::stop_source stop;
    std::vector<smd::run_result> results;
    smd::ranks_outcome outcome;
    std::string why;
    std::jthread thread;
};

}  // namespace

TEST_CASE("a rank that is ready gets runs up to its slots, and one for each result") {
    office with{1'000};
    with.say(rank_ready{.slots = 2, .machine = "there"});
    const auto first = std::get<smd::batch_run>(with.hear());
    const auto second = std::get<smd::batch_run>(with.hear());
    CHECK(first.place != second.place);
    with.say(smd::run_result{.run = second});
    const auto third = std::get<smd::batch_run>(with.hear());
    CHECK(third.place > second.place);
    with.stop.request_stop();
    CHECK(std::holds_alternative<stop_runs>(with.hear()));
    with.say(smd::run_result{.run = first});
    with.say(rank_ended{});
    CHECK(std::holds_alternative<all_done>(with.hear()));
    with.thread.join();
    CHECK(with.outcome.stopped);
    // The two that were done, and what rank 0, this rank and the list had.
    CHECK(with.outcome.results == with.results.size());
    CHECK(with.outcome.undone == with.results.size() - 2);
    std::set<std::uint64_t> undone;
    for (const smd::run_result& result : with.results) {
        if (result.state == smd::run_state::undone) {
            CHECK(result.error == "stopped before it was done");
            undone.insert(result.run.place);
        }
    }
    CHECK(undone.size() == with.outcome.undone);
    CHECK(undone.contains(third.place));
    CHECK_FALSE(undone.contains(first.place));
}

TEST_CASE(
    "a quick rank has more runs than slots; once it stalls it is asked for them, and others, or it later, do them") {
    office with{100'000};
    with.say(rank_ready{.slots = 2});
    std::set<std::uint64_t> has;
    int done = 0;
    bool is_asked = false;
    while (!is_asked || has.size() <= 2) {
        const rank_message what = with.hear();
        is_asked = std::holds_alternative<give_back_runs>(what);
        if (const auto* const run = std::get_if<smd::batch_run>(&what)) {
            has.insert(run->place);
            if (++done < 2'000) {
                with.say(smd::run_result{.run = {.place = *has.begin()}});
                has.erase(has.begin());
            }
        } else {
            REQUIRE(is_asked);
        }
    }
    const std::vector<std::uint64_t> back{std::next(has.begin(), 2), has.end()};
    with.say(runs_back{.places = back});
    has.erase(std::next(has.begin(), 2), has.end());
    with.say(smd::run_result{.run = {.place = *has.begin()}});
    CHECK(std::get<smd::batch_run>(with.hear()).place == back.front());
}

TEST_CASE("rank 0 keeps to itself while nobody is ready, and says that it lives") {
    office with{1'000};
    for (int i = 0; i < 3; ++i) {
        const auto packet = with.one->receive(1min);
        REQUIRE(packet);
        CHECK(std::holds_alternative<rank_alive>(message_from_bytes(packet->bytes)));
    }
    with.say(rank_ready{.slots = 1});
    CHECK(std::holds_alternative<smd::batch_run>(with.hear()));
}

TEST_CASE("bytes that are no message stop the batch: the programs differ") {
    office with{1'000};
    with.say(rank_ready{.slots = 1});
    CHECK(std::holds_alternative<smd::batch_run>(with.hear()));
    with.one->send(0, "nonsense");
    CHECK(std::holds_alternative<stop_runs>(with.hear()));
    with.say(rank_ended{});
    CHECK(std::holds_alternative<all_done>(with.hear()));
    with.thread.join();
    CHECK(with.why.find("different versions of the program") != std::string::npos);
}

TEST_CASE("what a rank that leaves has not done is no result; what it has is") {
    office with{1'000};  // rank 0 may have some before this one is ready
    with.say(rank_ready{.slots = 2});
    const auto first = std::get<smd::batch_run>(with.hear());
    with.say(rank_leaves{});
    with.say(smd::run_result{.run = first, .state = smd::run_state::undone, .error = "by a signal"});
    with.say(rank_ended{});
    with.wait();
    with.stop.request_stop();
    with.thread.join();
    for (const smd::run_result& result : with.results) {
        CHECK(result.error == "stopped before it was done");
    }
    CHECK_FALSE(with.results.empty());
}
