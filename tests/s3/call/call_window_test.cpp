#include <smdebug/s3/call/call_window.hpp>

#include <smdebug/core/error.hpp>
#include <smdebug/s3/credentials.hpp>

#include "support/fake_s3.hpp"
#include "support/scripted_transport.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace smdebug;
using namespace std::chrono_literals;
using smdebug_test::answer;
using smdebug_test::asks_for;
using smdebug_test::delivery;
using smdebug_test::fake_s3;
using smdebug_test::fake_s3_options;
using smdebug_test::no_answer;
using smdebug_test::quick_options;
using smdebug_test::s3_error;
using smdebug_test::scripted_transport;

namespace {

const s3::access_keys fake_keys = *fake_s3_options{}.keys;

template <class Transport, class Credentials = static_credentials>
class asked {
public:
    explicit asked(Transport over, const s3_options& options = quick_options(),
                   Credentials who = Credentials{fake_keys})
        : client{s3::parse_location("s3://bucket"), options, std::move(over), std::move(who)} {}
    const s3::detail::client<Transport, Credentials> client;
};

/// Hands out one key after another, each when the one before it has been given up.
class changing_credentials {
public:
    explicit changing_credentials(std::vector<s3::access_keys> all) { state_->all = std::move(all); }
    [[nodiscard]] std::optional<s3::access_keys> keys(std::chrono::system_clock::time_point /*now*/) const {
        return state_->all[std::min<std::size_t>(state_->renewed, state_->all.size() - 1)];
    }
    void renew() const { ++state_->renewed; }
    [[nodiscard]] std::size_t renewed() const { return state_->renewed; }

private:
    struct state {
        std::vector<s3::access_keys> all;
        std::atomic<std::size_t> renewed{0};
    };
    std::shared_ptr<state> state_ = std::make_shared<state>();
};

struct broken_credentials {
    [[nodiscard]] std::optional<s3::access_keys> keys(std::chrono::system_clock::time_point /*now*/) const {
        throw access_denied{"no keys anywhere"};
    }
    void renew() const {}
};

std::string text_of(const http::response& of) { return std::string{as_text(of.body.view())}; }

s3::detail::call getting(std::string key) { return {.key = std::move(key)}; }

s3::detail::call getting_part(std::string key, byte_range wanted) {
    s3::detail::call made = getting(std::move(key));
    made.headers.push_back({"range", s3::detail::range_header(wanted)});
    made.wanted = wanted;
    made.check = [](const http::response& got, byte_range part) { return s3::detail::part_in(got, part).has_value(); };
    return made;
}

s3::detail::call looking(std::string key) { return {.method = http::method::head, .key = std::move(key)}; }

/// Fails the first `times` requests with copies of an answer.
fake_s3::fault first_fail(std::size_t times, http::response how) {
    return [times, how = std::move(how)](const http::request&, std::size_t number) {
        return number < times ? std::optional{how} : std::nullopt;
    };
}

}  // namespace

// Trying again -----------------------------------------------------------------------------------------------------

TEST_CASE("call_window: a call that is answered is over after one attempt") {
    const fake_s3 server;
    server.put("a", "content");
    const asked on{server};
    const s3::detail::call_result ended = s3::detail::perform_call(on.client, getting("a"));
    CHECK(ended.good);
    CHECK(ended.attempts == 1);
    CHECK(text_of(ended.answer) == "content");
    CHECK(ended.said.code.empty());
    CHECK(ended.asked.key == "a");
    CHECK_FALSE(ended.is_missing());
    CHECK(server.count() == 1);
    CHECK(server.wrong_signatures() == 0);
}

TEST_CASE("call_window: what is passing is asked again, signed anew") {
    const fake_s3 server;
    server.put("a", "content");
    for (const http::response& passing : {s3_error(503, "SlowDown"), answer(500), answer(429, {{"retry-after", "0"}}),
                                          s3_error(400, "RequestTimeout"), no_answer(http::outcome::unreachable),
                                          no_answer(http::outcome::interrupted), no_answer(http::outcome::stalled)}) {
        CAPTURE(passing.status);
        server.forget_requests();
        server.fail_by(first_fail(3, passing));
        const asked on{server};
        const s3::detail::call_result ended = s3::detail::perform_call(on.client, getting("a"));
        CHECK(ended.good);
        CHECK(ended.attempts == 4);
        CHECK(text_of(ended.answer) == "content");
        CHECK(ended.said.code.empty());
        CHECK(server.count() == 4);
    }
    CHECK(server.wrong_signatures() == 0);
}

TEST_CASE("call_window: an answer that is not what was asked for is asked again") {
    const fake_s3 server;
    server.put("a", "0123456789");
    server.fail_by([](const http::request&, std::size_t number) -> std::optional<http::response> {
        switch (number) {
            case 0:
                return answer(206, {{"content-range", "bytes 0-1/10"}}, "01");
            case 1:
                return answer(206, {{"content-range", "bytes 2-4/10"}}, "23");
            case 2:
                return answer(200, {{"content-length", "10"}}, "0123");
            default:
                return std::nullopt;
        }
    });
    const asked on{server};
    const s3::detail::call_result ended = s3::detail::perform_call(on.client, getting_part("a", {2, 3}));
    CHECK(ended.good);
    CHECK(ended.attempts == 4);
    CHECK(text_of(ended.answer) == "234");
}

TEST_CASE("call_window: attempts are bounded, and the last answer is the result") {
    for (const unsigned most : {0U, 1U, 2U, 5U}) {
        CAPTURE(most);
        const fake_s3 server;
        server.fail_by(first_fail(100, s3_error(503, "SlowDown", "less please")));
        s3_options options = quick_options();
        options.retry.most_attempts = most;
        const asked on{server, options};
        const s3::detail::call_result ended = s3::detail::perform_call(on.client, getting("a"));
        CHECK_FALSE(ended.good);
        CHECK(ended.attempts == std::max(most, 1U));
        CHECK(server.count() == std::max(most, 1U));
        CHECK(ended.answer.status == 503);
        CHECK(ended.said.code == "SlowDown");
        CHECK(ended.said.message == "less please");
    }
}

TEST_CASE("call_window: what will not pass is not asked again") {
    for (const http::response& lasting :
         {s3_error(403, "AccessDenied"), s3_error(404, "NoSuchBucket"), s3_error(400, "InvalidArgument"),
          s3_error(501, "NotImplemented"), no_answer(http::outcome::refused), no_answer(http::outcome::timed_out),
          no_answer(http::outcome::too_long)}) {
        CAPTURE(lasting.status);
        const fake_s3 server;
        server.fail_by(first_fail(100, lasting));
        const asked on{server};
        const s3::detail::call_result ended = s3::detail::perform_call(on.client, getting("a"));
        CHECK_FALSE(ended.good);
        CHECK_FALSE(ended.is_missing());
        CHECK(ended.attempts == 1);
    }
}

TEST_CASE("call_window: a missing object is told from a missing bucket or upload") {
    const fake_s3 server;
    const asked on{server};
    CHECK(s3::detail::perform_call(on.client, getting("a")).is_missing());
    CHECK(s3::detail::perform_call(on.client, looking("a")).is_missing());
    server.fail_by(first_fail(100, s3_error(404, "NoSuchBucket")));
    CHECK_FALSE(s3::detail::perform_call(on.client, getting("a")).is_missing());
    server.fail_by(first_fail(100, s3_error(404, "NoSuchUpload")));
    CHECK_FALSE(s3::detail::perform_call(on.client, getting("a")).is_missing());
    server.fail_by(first_fail(100, answer(404)));
    CHECK(s3::detail::perform_call(on.client, getting("a")).is_missing());
    server.fail_by(first_fail(100, no_answer(http::outcome::refused)));
    CHECK_FALSE(s3::detail::perform_call(on.client, getting("a")).is_missing());
}

// Time -------------------------------------------------------------------------------------------------------------

TEST_CASE("call_window: a server's Retry-After is waited for") {
    const fake_s3 server;
    server.put("a", "content");
    server.fail_by(first_fail(1, answer(503, {{"retry-after", "1"}})));
    const asked on{server};
    const s3::detail::call_result ended = s3::detail::perform_call(on.client, getting("a"));
    CHECK(ended.good);
    CHECK(ended.attempts == 2);
    // Never less, however fast or slow the machine is.
    CHECK(ended.taken >= 1s);
}

TEST_CASE("call_window: a Retry-After beyond the deadline ends the call at once") {
    const fake_s3 server;
    server.fail_by(first_fail(100, answer(503, {{"retry-after", "3600"}})));
    const asked on{server};
    const s3::detail::call_result ended = s3::detail::perform_call(on.client, getting("a"));
    CHECK_FALSE(ended.good);
    CHECK(ended.attempts == 1);
    CHECK(ended.answer.status == 503);
}

TEST_CASE("call_window: all attempts have the deadline of the first, which the transport keeps") {
    const fake_s3 server;
    server.put("a", "content");
    server.fail_by(first_fail(3, answer(500)));
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

TEST_CASE("call_window: a server of which nothing was ever heard is given up soon, one that was reached is not") {
    fake_s3 server;
    server.put("a", "content");
    s3_options options = quick_options();
    options.retry.most_attempts = 1000;
    options.retry.reach_within = 600ms;
    options.retry.deadline = 1h;
    const asked on{server, options};
    const auto unreachable = no_answer(http::outcome::unreachable, "nobody listens");
    server.fail_by(first_fail(100'000, unreachable));
    const s3::detail::call_result ended = s3::detail::perform_call(on.client, getting("a"));
    CHECK_FALSE(ended.good);
    CHECK(ended.answer.failure == "nobody listens");
    CHECK(ended.attempts > 2);
    CHECK(ended.attempts < 1000);
    // Connecting is not waited for longer either.
    for (const auto& ask : server.requests()) {
        CHECK(ask.connect_within <= 600ms);
        CHECK(ask.connect_within >= 500ms);
    }
    server.forget_requests();
    server.fail_by(first_fail(1, no_answer(http::outcome::interrupted)));
    CHECK(s3::detail::perform_call(on.client, getting("a")).good);
    server.forget_requests();
    server.fail_by(first_fail(999, unreachable));
    CHECK(s3::detail::perform_call(on.client, getting("a")).attempts == 1000);
    CHECK(server.requests().back().connect_within == options.connect_within);
}

TEST_CASE("call_window: a server that one is sent to has its own time to be reached") {
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

TEST_CASE("call_window: no deadline is a deadline too") {
    const fake_s3 server;
    server.put("a", "content");
    server.fail_by(first_fail(2, answer(500)));
    s3_options options = quick_options();
    options.retry.deadline = std::chrono::milliseconds::max();
    const asked on{server, options};
    CHECK(s3::detail::perform_call(on.client, getting("a")).good);
    CHECK(server.requests().front().deadline > http::request::clock::now() + std::chrono::years{1});
}

TEST_CASE("call_window: a deadline that has passed leaves one attempt") {
    const fake_s3 server;
    server.fail_by(first_fail(100, answer(500)));
    s3_options options = quick_options();
    options.retry.deadline = 0ms;
    const asked on{server, options};
    CHECK(s3::detail::perform_call(on.client, getting("a")).attempts == 1);
}

// Learning ---------------------------------------------------------------------------------------------------------

TEST_CASE("call_window: the bucket's region is learnt, once for all that follows") {
    s3_options options = quick_options();
    options.endpoint.reset();
    for (const bool by_header : {true, false}) {
        CAPTURE(by_header);
        fake_s3_options how;
        how.region = "eu-west-1";
        const fake_s3 server{how};
        server.put("a", "content");
        if (by_header) {
            // Amazon's server of another region.
            server.fail_by([](const http::request& ask, std::size_t) {
                return ask.url.starts_with("https://bucket.s3.us-east-1.")
                           ? std::optional{answer(301, {{"x-amz-bucket-region", "eu-west-1"}})}
                           : std::nullopt;
            });
        }
        const asked on{server, options};
        const s3::detail::call_result ended = s3::detail::perform_call(on.client, getting("a"));
        CHECK(ended.good);
        CHECK(ended.attempts == 2);
        CHECK(server.requests().back().url == "https://bucket.s3.eu-west-1.amazonaws.com/a");
        CHECK(s3::detail::perform_call(on.client, looking("a")).attempts == 1);
        CHECK(server.wrong_signatures() == 0);
    }
}

TEST_CASE("call_window: a HEAD in the wrong region gets no reason, and is asked again for one") {
    fake_s3_options how;
    how.region = "eu-west-1";
    const fake_s3 server{how};
    server.put("a", "content");
    const asked on{server};
    const s3::detail::call_result ended = s3::detail::perform_call(on.client, looking("a"));
    REQUIRE(ended.good);
    CHECK(ended.attempts == 3);
    CHECK(ended.asked.method == http::method::get);
    const auto held = s3::detail::part_in(ended.answer, ended.asked.wanted);
    REQUIRE(held.has_value());
    CHECK(held->total == 7);
    CHECK(server.count(asks_for::head) == 1);
    CHECK(server.count(asks_for::get) == 2);
    // Now it is known.
    CHECK(s3::detail::perform_call(on.client, looking("a")).asked.method == http::method::head);
}

TEST_CASE("call_window: a HEAD that is refused says why in the end, and is over") {
    const fake_s3 server;
    server.fail_by([](const http::request& ask, std::size_t) {
        return std::optional{ask.method == http::method::head ? answer(403) : s3_error(403, "AccessDenied", "no")};
    });
    const asked on{server};
    const s3::detail::call_result ended = s3::detail::perform_call(on.client, looking("a"));
    CHECK_FALSE(ended.good);
    CHECK(ended.attempts == 2);
    CHECK(ended.said.code == "AccessDenied");
}

TEST_CASE("call_window: a HEAD that is refused for an object without bytes") {
    for (const bool tells : {true, false}) {
        fake_s3_options how;
        how.tells_size_beyond = tells;
        const fake_s3 server{how};
        server.put("a", "");
        server.fail_by([](const http::request& ask, std::size_t) {
            return ask.method == http::method::head ? std::optional{answer(400)} : std::nullopt;
        });
        const asked on{server};
        const s3::detail::call_result ended = s3::detail::perform_call(on.client, looking("a"));
        REQUIRE(ended.good == tells);  // else nobody says how long it is
        if (tells) {
            CHECK(s3::detail::part_in(ended.answer, ended.asked.wanted)->total == 0);
        }
    }
}

TEST_CASE("call_window: a region that is told and does not help ends the call") {
    const fake_s3 server;
    server.fail_by(first_fail(100, answer(301, {{"x-amz-bucket-region", "us-east-1"}})));
    const asked on{server};
    const s3::detail::call_result ended = s3::detail::perform_call(on.client, getting("a"));
    CHECK_FALSE(ended.good);
    CHECK(ended.attempts == 1);
    // Two that send us to each other.
    server.forget_requests();
    server.fail_by([](const http::request&, std::size_t number) {
        return std::optional{answer(301, {{"x-amz-bucket-region", number % 2 == 0 ? "eu-west-1" : "us-east-1"}})};
    });
    CHECK_FALSE(s3::detail::perform_call(on.client, getting("a")).good);
    CHECK(server.count() <= 10);
}

TEST_CASE("call_window: a redirection to another server of the service is followed, and kept") {
    const fake_s3 server;
    server.put("a b", "content");
    server.fail_by([](const http::request& ask, std::size_t) {
        return ask.url.starts_with("http://s3.test:8080/")
                   ? std::optional{answer(307, {{"location", "http://eu.s3.test:8080/bucket/a%20b?tracking=1"}})}
                   : std::nullopt;
    });
    const asked on{server};
    const s3::detail::call_result ended = s3::detail::perform_call(on.client, getting("a b"));
    CHECK(ended.good);
    CHECK(server.requests().back().url == "http://eu.s3.test:8080/bucket/a%20b");
    CHECK(s3::detail::perform_call(on.client, getting("a b")).attempts == 1);
    CHECK(server.wrong_signatures() == 0);
}

TEST_CASE("call_window: a redirection to another service gets no request, now or later") {
    const fake_s3 server;
    server.put("a", "content");
    for (const int status : {301, 302, 307, 308}) {
        for (const auto& [where, named] : std::vector<std::pair<const char*, const char*>>{
                 {"http://evil.test:8080/bucket/a", "http://evil.test:8080"},
                 {"https://evil.test/", "https://evil.test"},
                 {"http://s3.test:8081/bucket/a", "http://s3.test:8081"},
                 {"http://user@evil.test/", "http://evil.test"},
                 {"http://s3.test:8080@evil.test/", "http://evil.test"}}) {
            CAPTURE(where);
            server.forget_requests();
            server.fail_by(first_fail(1, answer(status, {{"location", where}})));
            const asked on{server};
            for (s3::detail::call what : {getting("a"), s3::detail::call{.method = http::method::put, .key = "a"}}) {
                server.forget_requests();
                const s3::detail::call_result ended = s3::detail::perform_call(on.client, std::move(what));
                CHECK_FALSE(ended.good);
                CHECK(ended.sent_to == named);
                CHECK(server.count() == 1);
            }
            CHECK(s3::detail::perform_call(on.client, getting("a")).good);
            for (const auto& ask : server.requests()) {
                CHECK(ask.url == "http://s3.test:8080/bucket/a");
            }
        }
    }
}

TEST_CASE("call_window: a redirection from TLS into the open is not followed") {
    const fake_s3 server;
    server.fail_by(first_fail(100, answer(307, {{"location", "http://s3.test/bucket/a"}})));
    s3_options options = quick_options();
    options.endpoint = "https://s3.test";
    const asked on{server, options};
    const s3::detail::call_result ended = s3::detail::perform_call(on.client, getting("a"));
    CHECK_FALSE(ended.good);
    CHECK(ended.attempts == 1);
    CHECK(server.requests().front().url == "https://s3.test/bucket/a");
}

TEST_CASE("call_window: two servers that send us to each other end") {
    const fake_s3 server;
    server.fail_by([](const http::request& ask, std::size_t) {
        return std::optional{
            answer(307, {{"location", ask.url.starts_with("http://one.s3.test") ? "http://two.s3.test:8080/"
                                                                                : "http://one.s3.test:8080/"}})};
    });
    const asked on{server};
    const s3::detail::call_result ended = s3::detail::perform_call(on.client, getting("a"));
    CHECK_FALSE(ended.good);
    CHECK(ended.answer.status == 307);
    CHECK(ended.sent_to.empty());
    CHECK(server.count() > 2);
    CHECK(server.count() <= 10);
}

TEST_CASE("call_window: expired keys are renewed, once for all calls that are under way") {
    fake_s3_options how;
    how.keys = s3::access_keys{"NEWKEYID", "new/secret", "new token", {}};
    how.how = delivery::by_hand;
    const fake_s3 server{how};
    server.put("a", "content");
    s3::access_keys old = *how.keys;
    old.token = "old token";
    const changing_credentials who{{old, *how.keys}};
    const asked on{server, quick_options(), who};
    s3::detail::call_window window{on.client};
    constexpr std::size_t calls = 8;
    for (std::size_t i = 0; i < calls; ++i) {
        window.start(i, getting("a"));
    }
    for (std::size_t i = 0; i < calls; ++i) {
        server.deliver(0);  // eight refusals are in the inbox before the first is looked at
    }
    std::jthread other{[&](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            if (server.waiting() != 0) {
                server.deliver(0);
            }
            std::this_thread::yield();
        }
    }};
    for (std::size_t i = 0; i < calls; ++i) {
        const auto [ticket, ended] = window.next();
        CHECK(ended.good);
        CHECK(ended.attempts == 2);
    }
    CHECK(who.renewed() == 1);
    CHECK(server.wrong_signatures() == 0);
}

TEST_CASE("call_window: keys that stay expired end the call") {
    fake_s3_options how;
    how.keys->token = "another token";
    const fake_s3 server{how};
    const changing_credentials who{{fake_keys}};
    const asked on{server, quick_options(), who};
    const s3::detail::call_result ended = s3::detail::perform_call(on.client, getting("a"));
    CHECK_FALSE(ended.good);
    CHECK(ended.said.code == "ExpiredToken");
    CHECK(who.renewed() >= 1);
    CHECK(server.count() <= 10);
}

TEST_CASE("call_window: a wrong clock is put right by the server's date") {
    for (const auto offset : {-3h, 5h, 400 * 24h}) {
        fake_s3_options how;
        how.clock_offset = offset;
        const fake_s3 server{how};
        server.put("a", "content");
        const asked on{server};
        const s3::detail::call_result ended = s3::detail::perform_call(on.client, getting("a"));
        CHECK(ended.good);
        CHECK(ended.attempts == 2);
        CHECK(s3::detail::perform_call(on.client, getting("a")).attempts == 1);
        CHECK(s3::detail::perform_call(on.client, looking("a")).attempts == 1);
        CHECK(server.wrong_signatures() == 0);
    }
    // A HEAD says no more than 403.
    fake_s3_options how;
    how.clock_offset = 3h;
    const fake_s3 server{how};
    server.put("a", "content");
    const asked on{server};
    CHECK(s3::detail::perform_call(on.client, looking("a")).good);
}

TEST_CASE("call_window: a clock that is right already is not the reason") {
    const fake_s3 server;
    server.fail_by(first_fail(100, s3_error(403, "RequestTimeTooSkewed")));
    const asked on{server};
    const s3::detail::call_result ended = s3::detail::perform_call(on.client, getting("a"));
    CHECK_FALSE(ended.good);
    CHECK(ended.attempts == 1);
}

TEST_CASE("call_window: what is put right does not count as a failure, nor the other way round") {
    fake_s3_options how;
    how.clock_offset = 3h;
    how.region = "eu-west-1";
    const fake_s3 server{how};
    server.put("a", "content");
    server.fail_by(first_fail(2, answer(503)));
    const asked on{server};
    const s3::detail::call_result ended = s3::detail::perform_call(on.client, getting("a"));
    CHECK(ended.good);
    CHECK(ended.attempts == 5);
}

// Credentials ------------------------------------------------------------------------------------------------------

TEST_CASE("call_window: what the credentials throw comes out, and nothing is begun") {
    const fake_s3 server;
    const asked<fake_s3, broken_credentials> on{server, quick_options(), {}};
    s3::detail::call_window window{on.client};
    CHECK_THROWS_AS(window.start(0, getting("a")), access_denied);
    CHECK(window.idle());
    CHECK(server.count() == 0);
    CHECK_THROWS_AS(static_cast<void>(s3::detail::perform_call(on.client, getting("a"))), access_denied);
}

TEST_CASE("call_window: nobody's keys") {
    fake_s3_options how;
    how.keys.reset();
    const fake_s3 server{how};
    server.put("a", "content");
    const asked<fake_s3, anonymous_credentials> on{server, quick_options(), {}};
    CHECK(s3::detail::perform_call(on.client, getting("a")).good);
    CHECK(server.requests().front().header("authorization").empty());
}

// Many at once -----------------------------------------------------------------------------------------------------

TEST_CASE("call_window: calls end in the order of their answers, each under its number") {
    fake_s3_options how;
    how.how = delivery::by_hand;
    const fake_s3 server{how};
    const asked on{server};
    s3::detail::call_window window{on.client};
    CHECK(window.idle());
    for (std::size_t i = 0; i < 4; ++i) {
        server.put(std::to_string(i), "content " + std::to_string(i));
        window.start(10 * i, getting(std::to_string(i)));
    }
    CHECK(window.size() == 4);
    CHECK(server.waiting() == 4);
    server.deliver(2);
    server.deliver(0);
    server.deliver(1);
    server.deliver(0);
    for (const unsigned i : {2U, 0U, 3U, 1U}) {
        const auto [ticket, ended] = window.next();
        CHECK(ticket == 10 * i);
        CHECK(text_of(ended.answer) == "content " + std::to_string(i));
    }
    CHECK(window.idle());
    // A number can be used again.
    window.start(10, getting("3"));
    server.deliver(0);
    CHECK(text_of(window.next().second.answer) == "content 3");
}

TEST_CASE("call_window: hundreds of calls, answered in any order and failing in between") {
    fake_s3_options how;
    how.how = delivery::later;
    const fake_s3 server{how};
    constexpr std::size_t calls = 300;
    for (std::size_t i = 0; i < calls; ++i) {
        server.put(std::to_string(i), "content " + std::to_string(i));
    }
    server.fail_by([](const http::request&, std::size_t number) {
        return number % 3 == 0 ? std::optional{answer(503)} : std::nullopt;
    });
    s3_options options = quick_options();
    options.retry.most_attempts = 1000;
    const asked on{server, options};
    s3::detail::call_window window{on.client};
    std::set<std::size_t> ended_tickets;
    std::size_t started = 0;
    while (started < calls || !window.idle()) {
        for (; started < calls && window.size() < 20; ++started) {
            window.start(started, getting(std::to_string(started)));
        }
        const auto [ticket, ended] = window.next();
        CHECK(ended.good);
        CHECK(text_of(ended.answer) == "content " + std::to_string(ticket));
        CHECK(ended_tickets.insert(ticket).second);
    }
    CHECK(ended_tickets.size() == calls);
    CHECK(server.most_under_way() <= 20);
    CHECK(server.wrong_signatures() == 0);
}

TEST_CASE("call_window: while one call pauses, the answers of others are taken") {
    const fake_s3 server;
    server.put("quick", "content");
    server.fail_by([](const http::request& ask, std::size_t) {
        return ask.url.ends_with("/slow") ? std::optional{answer(503, {{"retry-after", "1000"}})} : std::nullopt;
    });
    s3_options options = quick_options();
    options.retry.deadline = 1h;
    const asked on{server, options};
    s3::detail::call_window window{on.client};
    window.start(0, getting("slow"));
    for (std::size_t i = 1; i < 10; ++i) {
        window.start(i, getting("quick"));
        CHECK(window.next().first == i);
    }
    CHECK(window.size() == 1);
}

TEST_CASE("call_window: a body is looked at by each attempt, and let go with the result") {
    const fake_s3 server;
    server.fail_by(first_fail(2, answer(500)));
    const asked on{server};
    const std::string body = "the body";
    const s3::detail::call_result ended =
        s3::detail::perform_call(on.client, {.method = http::method::put, .key = "a", .body = as_bytes(body)});
    CHECK(ended.good);
    CHECK(ended.asked.body.empty());
    for (const auto& ask : server.requests()) {
        CHECK(ask.body == body);
        CHECK(ask.header("x-amz-content-sha256") == s3::detail::to_hex(s3::detail::sha256(as_bytes(body))));
    }
    CHECK(server.content("a") == body);
}

// Ending it --------------------------------------------------------------------------------------------------------

TEST_CASE("call_window: destruction and abandon() end what is under way") {
    fake_s3_options how;
    how.how = delivery::by_hand;
    const fake_s3 server{how};
    server.put("a", "content");
    const asked on{server};
    {
        s3::detail::call_window window{on.client};
        for (std::size_t i = 0; i < 5; ++i) {
            window.start(i, getting("a"));
        }
        CHECK(server.waiting() == 5);
    }
    CHECK(server.waiting() == 0);
    s3::detail::call_window window{on.client};
    window.start(0, getting("a"));
    window.abandon();
    CHECK(window.idle());
    CHECK(server.waiting() == 0);
}

TEST_CASE("call_window: destruction while answers arrive on another thread") {
    fake_s3_options how;
    how.how = delivery::later;
    const fake_s3 server{how};
    server.put("a", "content");
    const asked on{server};
    for (std::size_t round = 0; round < 50; ++round) {
        s3::detail::call_window window{on.client};
        for (std::size_t i = 0; i < 8; ++i) {
            window.start(i, getting("a"));
        }
        for (std::size_t i = 0; i < round % 8; ++i) {
            CHECK(window.next().second.good);
        }
    }
    CHECK(server.count() == 400);
}

TEST_CASE("call_window: a call that is never answered can be left") {
    const scripted_transport silent{[](const http::request&, std::size_t) { return std::nullopt; }};
    const asked on{silent};
    s3::detail::call_window window{on.client};
    window.start(0, getting("a"));
    CHECK(window.size() == 1);
}

TEST_CASE("call_window: what a server repeats of the keys is in no part of a result that is shown") {
    const s3::access_keys keys{
        "AKIAIOSFODNN7EXAMPL", "wJalrXUtnFEMIxK7MDENGxbPxRfiCYEXAMPLEKEY", "IQoJb3Jp/Z2luX2V/jEFk+zz", {}};
    const auto shown_after = [&](const http::response& got) {
        const scripted_transport repeating{[&](const http::request&, std::size_t) { return std::optional{got}; }};
        s3_options options = quick_options();
        options.retry.most_attempts = 2;
        const asked on{repeating, options, static_credentials{keys}};
        const s3::detail::call_result ended = s3::detail::perform_call(on.client, getting("a"));
        return ended.said.message + "\n" + ended.said.request_id + "\n" + ended.sent_to + "\n" + ended.answer.failure;
    };
    for (const std::string& piece : {keys.id, keys.id.substr(3, 9), keys.token, keys.token.substr(8), keys.secret}) {
        CAPTURE(piece);
        for (const http::response& got : {s3_error(403, "AccessDenied", piece),
                                          answer(500, {{"x-amz-request-id", piece}}, "<title>" + piece + "</title>"),
                                          answer(307, {{"location", "https://" + piece.substr(0, 8) + ".evil.test/"}}),
                                          no_answer(http::outcome::refused, "certificate of " + piece),
                                          no_answer(http::outcome::interrupted, "the header " + piece)}) {
            const std::string shown = shown_after(got);
            CAPTURE(shown);
            CHECK(shown.find(piece.substr(0, 5)) == std::string::npos);
            CHECK(shown.find(piece.substr(piece.size() - 5)) == std::string::npos);
            CHECK(shown.find("akia") == std::string::npos);
        }
    }
    CHECK(shown_after(answer(307, {{"location", "https://evil.test/"}})) == "\n\nhttps://evil.test\n");
}

TEST_CASE("call_window: who has waited for an object in vain does not wait as long for each of the others") {
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
    server.fail_by(
        [](const http::request&, std::size_t) { return std::optional{no_answer(http::outcome::timed_out)}; });
    CHECK(time_given(part) >= 10min);
    CHECK(time_given(part) < 2min);
    CHECK(time_given(part) < 2min);
    CHECK(time_given(looking("a")) >= 10min);  // it is about objects' bytes
    server.fail_by({});
    CHECK(time_given(part) < 2min);
    CHECK(time_given(part) >= 10min);  // one has come
    // What did not take all the time is nothing to be impatient about.
    for (const auto how : {http::outcome::interrupted, http::outcome::stalled}) {
        server.fail_by([&](const http::request&, std::size_t) { return std::optional{no_answer(how)}; });
        CHECK(time_given(part) >= 10min);
        CHECK(time_given(part) >= 10min);
    }
}
