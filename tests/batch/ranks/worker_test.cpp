#include "support/fake_ranks.hpp"
#include "support/rank_batch.hpp"

#include <smdebug/batch/ranks/messages.hpp>
#include <smdebug/batch/ranks/worker.hpp>

#include <doctest/doctest.h>

#include <chrono>
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

// The next message but heartbeats.
rank_message heard(smd::rank_channel& zero) {
    for (;;) {
        const auto packet = zero.receive(1min);
        REQUIRE(packet);
        rank_message message = message_from_bytes(packet->bytes);
        if (!std::holds_alternative<rank_alive>(message)) {
            return message;
        }
    }
}

void do_all(smd::rank_work& work, const std::stop_token&) {
    while (auto run = work.next()) {
        work.emit({.run = *run});
    }
}

// A worker, rank 1, whose rank 0 is the test.
struct office {
    explicit office(std::chrono::milliseconds lost_after)
        : options(short_times(lost_after)), zero(all.channel(0)), one(all.channel(1)) {}

    void start(std::stop_token stop = {}) {
        thread = std::jthread{[this, stop = std::move(stop)] {
            try {
                worker{*one, options, engine, stop}.run();
            } catch (const ranks_aborted& thrown) {
                why = thrown.what();
            }
        }};
    }

    smd::rank_options options;
    fake_ranks all{2};
    std::unique_ptr<smd::rank_channel> zero;
    std::unique_ptr<smd::rank_channel> one;
    void (*engine)(smd::rank_work&, const std::stop_token&) = do_all;
    std::string why;  // it has quit
    std::jthread thread;
};

}  // namespace

TEST_CASE("a worker says who it is, does its runs, and goes when rank 0 says so") {
    office with{10min};
    with.start();
    const auto ready = std::get<rank_ready>(heard(*with.zero));
    CHECK(ready.slots == with.options.threads + 1);
    CHECK(ready.machine == "node1");
    with.zero->send(1, message_bytes(smd::batch_run{.place = 3, .path = "p"}));
    CHECK(std::get<smd::run_result>(heard(*with.zero)).run.path == "p");
    with.zero->send(1, message_bytes(no_more_runs{}));
    CHECK(std::get<rank_ended>(heard(*with.zero)).failure.empty());
    CHECK_FALSE(with.all.is_forgotten(0));
    with.zero->send(1, message_bytes(all_done{}));
    with.thread.join();
    CHECK(with.why.empty());
}

TEST_CASE("a worker gives back what it has not begun") {
    office with{10min};
    with.engine = [](smd::rank_work& work, const std::stop_token& stop) {
        work.emit({.run = *work.next()});
        while (!stop.stop_requested()) {
            std::this_thread::sleep_for(1ms);
        }
    };
    with.start();
    static_cast<void>(heard(*with.zero));
    with.zero->send(1, message_bytes(smd::batch_run{.place = 1}));
    CHECK(std::get<smd::run_result>(heard(*with.zero)).run.place == 1);
    for (std::uint64_t place = 2; place < 6; ++place) {
        with.zero->send(1, message_bytes(smd::batch_run{.place = place}));
    }
    with.zero->send(1, message_bytes(give_back_runs{}));
    CHECK(std::get<runs_back>(heard(*with.zero)).places == std::vector<std::uint64_t>{3, 4, 5});
    with.zero->send(1, message_bytes(stop_runs{}));
    CHECK(std::holds_alternative<rank_ended>(heard(*with.zero)));
    with.zero->send(1, message_bytes(all_done{}));
}

TEST_CASE("heartbeats come while the engine is busy, and after its end") {
    office with{10min};
    with.start();
    static_cast<void>(heard(*with.zero));
    with.zero->send(1, message_bytes(no_more_runs{}));
    static_cast<void>(heard(*with.zero));
    for (int i = 0; i < 3; ++i) {
        const auto packet = with.zero->receive(1min);
        REQUIRE(packet);
        CHECK(std::holds_alternative<rank_alive>(message_from_bytes(packet->bytes)));
    }
    with.zero->send(1, message_bytes(all_done{}));
}

TEST_CASE("a worker learns that another is lost: MPI must not wait for it") {
    office with{10min};
    with.start();
    static_cast<void>(heard(*with.zero));
    with.zero->send(1, message_bytes(all_done{.lost = 1}));
    with.thread.join();
    CHECK(with.all.is_forgotten(1));
}

TEST_CASE("one that is told to stop by somebody else says so first") {
    office with{10min};
    std::stop_source stop;
    with.start(stop.get_token());
    static_cast<void>(heard(*with.zero));
    stop.request_stop();
    CHECK(std::holds_alternative<rank_leaves>(heard(*with.zero)));
    CHECK(std::holds_alternative<rank_ended>(heard(*with.zero)));
    with.zero->send(1, message_bytes(all_done{}));
}

TEST_CASE("a worker that does not hear rank 0, or does not understand it, quits") {
    office silent{200ms};
    silent.options.start_limit = 200ms;
    silent.start();
    silent.thread.join();
    CHECK(silent.why.find("rank 1 on node1 ends: nothing has been heard of rank 0 for") == 0);
    office strange{10min};
    strange.start();
    strange.zero->send(1, "nonsense");
    strange.thread.join();
    CHECK(strange.why.find("rank 1 does not understand rank 0: ") == 0);
}
