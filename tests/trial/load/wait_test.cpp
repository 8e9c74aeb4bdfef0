#include <smdebug/trial/load/wait.hpp>

#include <smdebug/core/error.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::detail;
using namespace std::chrono_literals;

TEST_CASE("waiter: a timeout of zero ends the wait at the first pause") {
    waiter pauses{10ms, 0ms};
    CHECK(pauses.pause() == wait_outcome::timed_out);
    CHECK(pauses.pause() == wait_outcome::timed_out);
}

TEST_CASE("waiter: looks again until its time is over") {
    waiter pauses{1ms, 20ms};
    int looks = 0;
    while (pauses.pause() == wait_outcome::look_again) {
        ++looks;
    }
    CHECK(looks >= 1);
    CHECK(looks <= 21);
}

TEST_CASE("waiter: a timeout beyond the clock's range counts as none") {
    waiter pauses{1ms, std::chrono::milliseconds::max()};
    CHECK(pauses.pause() == wait_outcome::look_again);
}

TEST_CASE("waiter: a stop request ends a long pause at once, from either token") {
    std::stop_source source;
    source.request_stop();
    waiter first{1h, std::nullopt, source.get_token()};
    CHECK(first.pause() == wait_outcome::stopped);
    waiter second{1h, std::nullopt, {}, source.get_token()};
    CHECK(second.pause() == wait_outcome::stopped);

    std::stop_source later;
    waiter pauses{1h, std::nullopt, later.get_token()};
    const std::jthread stopper{[&] {
        std::this_thread::sleep_for(20ms);
        later.request_stop();
    }};
    CHECK(pauses.pause() == wait_outcome::stopped);  // or this test runs into its timeout
}

TEST_CASE("waiter: invalid intervals and timeouts neither spin nor overflow") {
    waiter backwards{-5ms, std::chrono::milliseconds::min()};
    CHECK(backwards.pause() == wait_outcome::timed_out);
    waiter endless{std::chrono::milliseconds::max(), 5ms};
    while (endless.pause() == wait_outcome::look_again) {
    }
    CHECK(endless.pause() == wait_outcome::timed_out);
}

namespace {

// A scripted signal: each wait takes the next announcement, or lasts until its end.
struct played_signal final : change_signal {
    struct announcement {
        std::optional<std::vector<std::string>> keys;
    };
    struct tape {
        std::vector<announcement> to_come;
        std::optional<std::vector<std::string>> for_ever;  // announced at every call
        int made = 0;
        int waits = 0;
    };
    explicit played_signal(std::shared_ptr<tape> plays) : plays_(std::move(plays)) { ++plays_->made; }
    [[nodiscard]] bool wait_until(clock::time_point) override {
        ++plays_->waits;
        if (plays_->for_ever) {
            told_ = *plays_->for_ever;
            return true;
        }
        if (plays_->to_come.empty()) {
            return false;
        }
        told_ = plays_->to_come.front().keys;
        plays_->to_come.erase(plays_->to_come.begin());
        return true;
    }
    [[nodiscard]] std::optional<std::vector<std::string>> changed_keys() override { return told_; }
    void interrupt() noexcept override {}

private:
    std::shared_ptr<tape> plays_;
    std::optional<std::vector<std::string>> told_;
};

using key_list = std::vector<std::string>;

struct player {
    std::shared_ptr<played_signal::tape> tape = std::make_shared<played_signal::tape>();
    feed_pool pool;
    [[nodiscard]] signal_source source() const {
        return [plays = tape] { return std::make_unique<played_signal>(plays); };
    }
};

}  // namespace

TEST_CASE("waiter: looks at everything before and after the watch begins, then at announced keys") {
    player play;
    waiter pauses{1h, std::nullopt, {}, {}, play.source(), &play.pool};
    CHECK(pauses.begin_look() == nullptr);
    CHECK(play.tape->made == 0);  // existing data need no signal
    CHECK(pauses.pause() == wait_outcome::look_again);
    CHECK(play.tape->made == 1);
    CHECK(play.tape->waits == 0);
    CHECK(pauses.begin_look() == nullptr);
    pauses.end_look();
    play.tape->to_come = {{key_list{"a", "b"}}, {std::nullopt}, {key_list{"c"}}};
    CHECK(pauses.pause() == wait_outcome::look_again);
    REQUIRE(pauses.begin_look() != nullptr);
    CHECK(*pauses.begin_look() == key_list{"a", "b"});
    CHECK(pauses.pause() == wait_outcome::look_again);
    CHECK(pauses.begin_look() == nullptr);  // unknown: look at everything
    CHECK(pauses.pause() == wait_outcome::look_again);
    CHECK(*pauses.begin_look() == key_list{"c"});
}

TEST_CASE("waiter: the next wait continues where the last one ended, and misses nothing in between") {
    player play;
    {
        waiter pauses{1h, std::nullopt, {}, {}, play.source(), &play.pool};
        CHECK(pauses.begin_look() == nullptr);
        CHECK(pauses.pause() == wait_outcome::look_again);
        CHECK(pauses.begin_look() == nullptr);
        pauses.end_look();
    }
    play.tape->to_come = {{key_list{"between"}}};
    {
        waiter pauses{1h, std::nullopt, {}, {}, play.source(), &play.pool};
        REQUIRE(pauses.begin_look() != nullptr);
        CHECK(*pauses.begin_look() == key_list{"between"});
        pauses.end_look();
    }
    waiter pauses{1h, std::nullopt, {}, {}, play.source(), &play.pool};
    REQUIRE(pauses.begin_look() != nullptr);
    CHECK(pauses.begin_look()->empty());  // nothing has changed
    CHECK(play.tape->made == 1);
}

TEST_CASE("waiter: announced keys whose look failed are there for the next wait") {
    player play;
    {
        waiter pauses{1h, std::nullopt, {}, {}, play.source(), &play.pool};
        static_cast<void>(pauses.begin_look());
        CHECK(pauses.pause() == wait_outcome::look_again);
        static_cast<void>(pauses.begin_look());
        pauses.end_look();
        play.tape->to_come = {{key_list{"first"}}};
        CHECK(pauses.pause() == wait_outcome::look_again);
        // The look fails: the wait ends with an exception.
    }
    play.tape->to_come = {{key_list{"second"}}};
    waiter pauses{1h, std::nullopt, {}, {}, play.source(), &play.pool};
    REQUIRE(pauses.begin_look() != nullptr);
    CHECK(*pauses.begin_look() == key_list{"first", "second"});
    CHECK(play.tape->made == 1);
}

TEST_CASE("waiter: a failed first look is repeated by the next wait") {
    player play;
    {
        waiter pauses{1h, std::nullopt, {}, {}, play.source(), &play.pool};
        static_cast<void>(pauses.begin_look());
        CHECK(pauses.pause() == wait_outcome::look_again);
    }
    waiter pauses{1h, std::nullopt, {}, {}, play.source(), &play.pool};
    CHECK(pauses.begin_look() == nullptr);
}

TEST_CASE("waiter: after a signal fails the next look is at everything") {
    struct broken : change_signal {
        [[nodiscard]] bool wait_until(clock::time_point) override { throw unavailable("no"); }
        void interrupt() noexcept override {}
    };
    change_feed feed{[] { return std::make_unique<broken>(); }};
    feed.end_look(1h);
    CHECK(feed.unseen() != nullptr);
    CHECK_THROWS_AS(feed.listen(waiter::clock::now()), unavailable);
    CHECK(feed.unseen() == nullptr);
}

TEST_CASE("waiter: looks at everything each interval, however much is announced") {
    player play;
    play.tape->for_ever = key_list{"again"};
    waiter pauses{1ms, std::nullopt, {}, {}, play.source(), &play.pool};
    int everything = 0;
    const auto until = waiter::clock::now() + 500ms;
    while (waiter::clock::now() < until) {
        everything += pauses.begin_look() == nullptr ? 1 : 0;
        pauses.end_look();
        CHECK(pauses.pause() == wait_outcome::look_again);
    }
    CHECK(everything > 3);
}

TEST_CASE("waiter: rests no longer than until the deadline, and looks again on an announcement") {
    player play;
    play.tape->for_ever = {};
    waiter pauses{1h, 30ms, {}, {}, play.source(), &play.pool};
    static_cast<void>(pauses.begin_look());
    CHECK(pauses.pause() == wait_outcome::look_again);
    static_cast<void>(pauses.begin_look());
    std::this_thread::sleep_for(20ms);  // a long look is followed by a long rest
    const auto begun = waiter::clock::now();
    while (pauses.pause() != wait_outcome::timed_out) {
        REQUIRE(waiter::clock::now() - begun < 60s);
    }
    waiter hurried{24h, std::nullopt};
    CHECK(hurried.pause(waiter::clock::now() + 5ms) == wait_outcome::look_again);  // or this test times out
}

TEST_CASE("waiter: converts a number of intervals to a timeout, without overflow") {
    CHECK(waiter::intervals(10ms, 5) == 50ms);
    CHECK(waiter::intervals(0ms, 5) == 5ms);
    CHECK(waiter::intervals(10ms, 0) == 0ms);
    CHECK(waiter::intervals(std::chrono::milliseconds::max(), 1000) > 24h * 365);
}

TEST_CASE("waiter: a feed that was not used for an interval is not relied on") {
    player play;
    {
        waiter pauses{1ms, std::nullopt, {}, {}, play.source(), &play.pool};
        static_cast<void>(pauses.begin_look());
        CHECK(pauses.pause() == wait_outcome::look_again);
        pauses.end_look();
    }
    std::this_thread::sleep_for(200ms);
    waiter pauses{1ms, std::nullopt, {}, {}, play.source(), &play.pool};
    CHECK(pauses.begin_look() == nullptr);
    pauses.end_look();
}

TEST_CASE("waiter: concurrent waits have separate signals") {
    player play;
    waiter first{1h, std::nullopt, {}, {}, play.source(), &play.pool};
    waiter second{1h, std::nullopt, {}, {}, play.source(), &play.pool};
    static_cast<void>(first.begin_look());
    static_cast<void>(second.begin_look());
    CHECK(first.pause() == wait_outcome::look_again);
    CHECK(second.pause() == wait_outcome::look_again);
    CHECK(play.tape->made == 2);
}

TEST_CASE("waiter: a pool keeps a limited number of announcing feeds; without a pool each ends with its wait") {
    constexpr std::size_t most = 4;  // the system has few signals to give
    player play;
    for (std::size_t i = 0; i <= most; ++i) {
        play.pool.give_back(std::make_unique<change_feed>(play.source()));
    }
    std::size_t kept = 0;
    while (play.pool.take() != nullptr) {
        ++kept;
    }
    CHECK(kept == most);
    {
        waiter alone{1h, std::nullopt, {}, {}, play.source()};
        CHECK(alone.pause() == wait_outcome::look_again);
        waiter unused{1h, std::nullopt, {}, {}, play.source(), &play.pool};
        waiter polling{1ms, std::nullopt, {}, {}, {}, &play.pool};
        CHECK(polling.pause() == wait_outcome::look_again);
    }
    CHECK(play.pool.take() == nullptr);
}

TEST_CASE("waiter: a storage that has no signal to give is polled") {
    int asked = 0;
    waiter pauses{1ms, std::nullopt, {}, {}, [&]() -> std::unique_ptr<change_signal> {
                      ++asked;
                      return nullptr;
                  }};
    for (int i = 0; i < 3; ++i) {
        CHECK(pauses.pause() == wait_outcome::look_again);
        CHECK(pauses.begin_look() == nullptr);
    }
    CHECK(asked == 1);
}
