// How long calls wait, and when they are given up.
#include <smdebug/s3/call/request_pipeline.hpp>

#include "s3/call/request_pipeline_fixture.hpp"
#include "support/fake_s3.hpp"
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test::pipeline;
using namespace std::chrono_literals;
using namespace smdebug_test;

TEST_CASE("request_pipeline: a server's Retry-After is waited for") {
    const fake_s3 server;
    server.put("a", "content");
    server.fail_by(answer_first(1, answer(503, {{"retry-after", "1"}})));
    const asked on{server};
    const s3::detail::call_result ended = s3::detail::perform_call(on.client, getting("a"));
    CHECK(ended.good);
    CHECK(ended.attempts == 2);
    // Never less, whatever the speed of the machine.
    CHECK(ended.taken >= 1s);
}

TEST_CASE("request_pipeline: a Retry-After beyond the deadline ends the call at once") {
    const fake_s3 server;
    server.fail_by(answer_first(100, answer(503, {{"retry-after", "3600"}})));
    const asked on{server};
    const s3::detail::call_result ended = s3::detail::perform_call(on.client, getting("a"));
    CHECK_FALSE(ended.good);
    CHECK(ended.attempts == 1);
    CHECK(ended.answer.status == 503);
}

TEST_CASE("request_pipeline: all attempts have the deadline of the first, which the transport keeps") {
    const fake_s3 server;
    server.put("a", "content");
    server.fail_by(answer_first(3, answer(500)));
    s3_options options = quick_options();
    options.retry.deadline = 1h;
    const asked on{server, options};
    const auto before = http::request::clock::now();
    CHECK(s3::detail::perform_call(on.client, getting("a")).attempts == 4);
    const auto after = http::request::clock::now();
    const auto seen = server.requests();
    for (const auto& ask : seen) {
        CHECK(ask.deadline >= before + 1h);
        CHECK(ask.deadline <= after + 1h);
        CHECK(ask.deadline == seen.front().deadline);
    }
}

TEST_CASE("request_pipeline: a server of which nothing was ever heard is given up soon, one that was reached is not") {
    fake_s3 server;
    server.put("a", "content");
    s3_options options = quick_options();
    options.retry.most_attempts = 1000;
    options.retry.reach_within = 600ms;
    options.retry.deadline = 1h;
    const asked on{server, options};
    const auto unreachable = no_answer(http::outcome::unreachable, "the port is closed");
    server.fail_by(answer_first(100'000, unreachable));
    const s3::detail::call_result ended = s3::detail::perform_call(on.client, getting("a"));
    CHECK_FALSE(ended.good);
    CHECK(ended.answer.failure == "the port is closed");
    CHECK(ended.attempts > 2);
    CHECK(ended.attempts < 1000);
    // The time to connect is limited as well.
    for (const auto& ask : server.requests()) {
        CHECK(ask.connect_within <= 600ms);
        CHECK(ask.connect_within >= 500ms);
    }
    server.forget_requests();
    server.fail_by(answer_first(1, no_answer(http::outcome::interrupted)));
    CHECK(s3::detail::perform_call(on.client, getting("a")).good);
    server.forget_requests();
    server.fail_by(answer_first(999, unreachable));
    CHECK(s3::detail::perform_call(on.client, getting("a")).attempts == 1000);
    CHECK(server.requests().back().connect_within == options.connect_within);
}

TEST_CASE("request_pipeline: a server that one is sent to has its own time to be reached") {
    const fake_s3 server;
    server.put("a", "content");
    s3_options options = quick_options();
    options.retry.reach_within = 0ms;
    const asked on{server, options};
    server.fail_by([](const http::request& ask, std::size_t number) {
        return number < 3 ? std::optional{answer(500)}
               : ask.url.starts_with("http://s3.test:8080/")
                   ? std::optional{answer(307, {{"location", "http://eu.s3.test:8080/"}})}
                   : std::nullopt;
    });
    CHECK(s3::detail::perform_call(on.client, getting("a")).good);
    CHECK(server.requests().back().connect_within == 500ms);
    CHECK(s3::detail::perform_call(on.client, getting("a")).good);
    CHECK(server.requests().back().connect_within == options.connect_within);
}

TEST_CASE("request_pipeline: no deadline is a deadline too") {
    const fake_s3 server;
    server.put("a", "content");
    server.fail_by(answer_first(2, answer(500)));
    s3_options options = quick_options();
    options.retry.deadline = std::chrono::milliseconds::max();
    const asked on{server, options};
    CHECK(s3::detail::perform_call(on.client, getting("a")).good);
    CHECK(server.requests().front().deadline > http::request::clock::now() + std::chrono::years{1});
}

TEST_CASE("request_pipeline: a deadline that has passed leaves one attempt") {
    const fake_s3 server;
    server.fail_by(answer_first(100, answer(500)));
    s3_options options = quick_options();
    options.retry.deadline = 0ms;
    const asked on{server, options};
    CHECK(s3::detail::perform_call(on.client, getting("a")).attempts == 1);
}

TEST_CASE("request_pipeline: after one object has timed out, others are not waited for as long") {
    using namespace std::chrono_literals;
    const fake_s3 server;
    server.put("a", "content");
    s3_options options = quick_options();
    options.retry.deadline = 10min;
    const asked on{server, options};
    const s3::detail::call part = getting_part("a", {0, 7});
    const auto time_given = [&](const s3::detail::call& what) {
        const auto begin = http::request::clock::now();
        static_cast<void>(s3::detail::perform_call(on.client, what));
        return server.requests().back().deadline - begin;
    };
    CHECK(time_given(part) >= 10min);
    server.fail_by(always_answer(no_answer(http::outcome::timed_out)));
    CHECK(time_given(part) >= 10min);
    CHECK(time_given(part) < 2min);
    CHECK(time_given(part) < 2min);
    CHECK(time_given(looking("a")) >= 10min);  // only reads of objects count
    server.fail_by({});
    CHECK(time_given(part) < 2min);
    CHECK(time_given(part) >= 10min);  // an object has arrived
    // A failure within the deadline does not shorten later waits.
    for (const auto how : {http::outcome::interrupted, http::outcome::stalled}) {
        server.fail_by(always_answer(no_answer(how)));
        CHECK(time_given(part) >= 10min);
        CHECK(time_given(part) >= 10min);
    }
}
