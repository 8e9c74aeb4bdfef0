#include <smdebug/s3/call/request_pipeline.hpp>

#include <smdebug/core/error.hpp>
#include <smdebug/s3/credentials.hpp>

#include "s3/call/request_pipeline_fixture.hpp"
#include "support/fake_s3.hpp"
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test::pipeline;
using namespace std::chrono_literals;
using namespace smdebug_test;

namespace {

/// Provides one key after another; renew() moves to the next.
class changing_credentials final : public credentials_provider {
public:
    explicit changing_credentials(std::vector<s3::access_keys> all) : all_(std::move(all)) {}
    [[nodiscard]] std::optional<s3::access_keys> keys(std::chrono::system_clock::time_point /*now*/) const override {
        return all_[std::min<std::size_t>(renewed_, all_.size() - 1)];
    }
    void renew() const override { ++renewed_; }
    [[nodiscard]] std::size_t renewed() const { return renewed_; }

private:
    std::vector<s3::access_keys> all_;
    mutable std::atomic<std::size_t> renewed_{0};
};

class broken_credentials final : public credentials_provider {
public:
    [[nodiscard]] std::optional<s3::access_keys> keys(std::chrono::system_clock::time_point /*now*/) const override {
        throw access_denied{"no keys anywhere"};
    }
    void renew() const override {}
};

}  // namespace

// Retries ----------------------------------------------------------------------------------------------------------

TEST_CASE("request_pipeline: a call that is answered is over after one attempt") {
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

TEST_CASE("request_pipeline: temporary failures are retried with a new signature") {
    const fake_s3 server;
    server.put("a", "content");
    for (const http::response& passing : {s3_error(503, "SlowDown"), answer(500), answer(429, {{"retry-after", "0"}}),
                                          s3_error(400, "RequestTimeout"), no_answer(http::outcome::unreachable),
                                          no_answer(http::outcome::interrupted), no_answer(http::outcome::stalled)}) {
        CAPTURE(passing.status);
        server.forget_requests();
        server.fail_by(answer_first(3, passing));
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

TEST_CASE("request_pipeline: an answer that does not fit the request is retried") {
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

TEST_CASE("request_pipeline: attempts are bounded, and the last answer is the result") {
    for (const unsigned most : {0U, 1U, 2U, 5U}) {
        CAPTURE(most);
        const fake_s3 server;
        server.fail_by(answer_first(100, s3_error(503, "SlowDown", "less please")));
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

TEST_CASE("request_pipeline: what will not pass is not asked again") {
    for (const http::response& lasting :
         {s3_error(403, "AccessDenied"), s3_error(404, "NoSuchBucket"), s3_error(400, "InvalidArgument"),
          s3_error(501, "NotImplemented"), no_answer(http::outcome::refused), no_answer(http::outcome::timed_out),
          no_answer(http::outcome::too_long)}) {
        CAPTURE(lasting.status);
        const fake_s3 server;
        server.fail_by(answer_first(100, lasting));
        const asked on{server};
        const s3::detail::call_result ended = s3::detail::perform_call(on.client, getting("a"));
        CHECK_FALSE(ended.good);
        CHECK_FALSE(ended.is_missing());
        CHECK(ended.attempts == 1);
    }
}

TEST_CASE("request_pipeline: distinguishes a missing object from a missing bucket or upload") {
    const fake_s3 server;
    const asked on{server};
    CHECK(s3::detail::perform_call(on.client, getting("a")).is_missing());
    CHECK(s3::detail::perform_call(on.client, looking("a")).is_missing());
    server.fail_by(answer_first(100, s3_error(404, "NoSuchBucket")));
    CHECK_FALSE(s3::detail::perform_call(on.client, getting("a")).is_missing());
    server.fail_by(answer_first(100, s3_error(404, "NoSuchUpload")));
    CHECK_FALSE(s3::detail::perform_call(on.client, getting("a")).is_missing());
    server.fail_by(answer_first(100, answer(404)));
    CHECK(s3::detail::perform_call(on.client, getting("a")).is_missing());
    server.fail_by(answer_first(100, no_answer(http::outcome::refused)));
    CHECK_FALSE(s3::detail::perform_call(on.client, getting("a")).is_missing());
}

// Credentials ------------------------------------------------------------------------------------------------------

TEST_CASE("request_pipeline: expired keys are renewed, once for all calls that are under way") {
    fake_s3_options how;
    how.keys = s3::access_keys{"NEWKEYID", "new/secret", "new token", {}};
    how.how = delivery::by_hand;
    const fake_s3 server{how};
    server.put("a", "content");
    s3::access_keys old = *how.keys;
    old.token = "old token";
    const auto who = std::make_shared<changing_credentials>(std::vector{old, *how.keys});
    const asked on{server, quick_options(), who};
    s3::detail::request_pipeline window{on.client};
    constexpr std::size_t calls = 8;
    for (std::size_t i = 0; i < calls; ++i) {
        window.start(getting("a"));
    }
    for (std::size_t i = 0; i < calls; ++i) {
        server.deliver(0);  // eight refusals are in the inbox before the first is processed
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
        const std::size_t ticket = window.next();
        const s3::detail::call_result ended = window.wait(ticket);
        CHECK(ended.good);
        CHECK(ended.attempts == 2);
    }
    CHECK(who->renewed() == 1);
    CHECK(server.wrong_signatures() == 0);
}

TEST_CASE("request_pipeline: keys that stay expired end the call") {
    fake_s3_options how;
    how.keys->token = "another token";
    const fake_s3 server{how};
    const auto who = std::make_shared<changing_credentials>(std::vector{fake_keys});
    const asked on{server, quick_options(), who};
    const s3::detail::call_result ended = s3::detail::perform_call(on.client, getting("a"));
    CHECK_FALSE(ended.good);
    CHECK(ended.said.code == "ExpiredToken");
    CHECK(who->renewed() >= 1);
    CHECK(server.count() <= 10);
}

TEST_CASE("request_pipeline: what the credentials throw comes out, and nothing is begun") {
    const fake_s3 server;
    const asked on{server, quick_options(), std::make_shared<broken_credentials>()};
    s3::detail::request_pipeline window{on.client};
    CHECK_THROWS_AS(window.start(getting("a")), access_denied);
    CHECK(window.idle());
    CHECK(server.count() == 0);
    CHECK_THROWS_AS(static_cast<void>(s3::detail::perform_call(on.client, getting("a"))), access_denied);
}

TEST_CASE("request_pipeline: credentials without keys") {
    fake_s3_options how;
    how.keys.reset();
    const fake_s3 server{how};
    server.put("a", "content");
    const asked on{server, quick_options(), std::make_shared<anonymous_credentials>()};
    CHECK(s3::detail::perform_call(on.client, getting("a")).good);
    CHECK(server.requests().front().header("authorization").empty());
}

// Many at once -----------------------------------------------------------------------------------------------------

TEST_CASE("request_pipeline: calls end in the order of their answers, each under its number") {
    fake_s3_options how;
    how.how = delivery::by_hand;
    const fake_s3 server{how};
    const asked on{server};
    s3::detail::request_pipeline window{on.client};
    CHECK(window.idle());
    for (std::size_t i = 0; i < 4; ++i) {
        server.put(std::to_string(i), "content " + std::to_string(i));
        CHECK(window.start(getting(std::to_string(i))) == i);
    }
    CHECK(window.size() == 4);
    CHECK(server.waiting() == 4);
    server.deliver(2);
    server.deliver(0);
    server.deliver(1);
    server.deliver(0);
    for (const unsigned i : {2U, 0U, 3U, 1U}) {
        const std::size_t ticket = window.next();
        const s3::detail::call_result ended = window.wait(ticket);
        CHECK(ticket == i);
        CHECK(text_of(ended.answer) == "content " + std::to_string(i));
    }
    CHECK(window.idle());
    // No number is used again.
    CHECK(window.start(getting("3")) == 4);
    server.deliver(0);
    CHECK(text_of(window.wait(window.next()).answer) == "content 3");
}

TEST_CASE("request_pipeline: hundreds of calls, answered in any order and failing in between") {
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
    s3::detail::request_pipeline window{on.client};
    std::set<std::size_t> ended_tickets;
    std::size_t started = 0;
    while (started < calls || !window.idle()) {
        for (; started < calls && window.size() < 20; ++started) {
            window.start(getting(std::to_string(started)));
        }
        const std::size_t ticket = window.next();
        const s3::detail::call_result ended = window.wait(ticket);
        CHECK(ended.good);
        CHECK(text_of(ended.answer) == "content " + std::to_string(ticket));
        CHECK(ended_tickets.insert(ticket).second);
    }
    CHECK(ended_tickets.size() == calls);
    CHECK(server.most_under_way() <= 20);
    CHECK(server.wrong_signatures() == 0);
}

TEST_CASE("request_pipeline: while one call pauses, the answers of others are taken") {
    const fake_s3 server;
    server.put("quick", "content");
    server.fail_by(answer_where([](const http::request& ask) { return ask.url.ends_with("/slow"); },
                                answer(503, {{"retry-after", "1000"}})));
    s3_options options = quick_options();
    options.retry.deadline = 1h;
    const asked on{server, options};
    s3::detail::request_pipeline window{on.client};
    window.start(getting("slow"));
    for (std::size_t i = 1; i < 10; ++i) {
        window.start(getting("quick"));
        CHECK(window.next() == i);
        CHECK(window.wait(i).good);
    }
    CHECK(window.size() == 1);
}

TEST_CASE("request_pipeline: a body is looked at by each attempt, and let go with the result") {
    const fake_s3 server;
    server.fail_by(answer_first(2, answer(500)));
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

TEST_CASE("request_pipeline: destruction and abandon() end what is under way") {
    fake_s3_options how;
    how.how = delivery::by_hand;
    const fake_s3 server{how};
    server.put("a", "content");
    const asked on{server};
    {
        s3::detail::request_pipeline window{on.client};
        for (std::size_t i = 0; i < 5; ++i) {
            window.start(getting("a"));
        }
        CHECK(server.waiting() == 5);
    }
    CHECK(server.waiting() == 0);
    s3::detail::request_pipeline window{on.client};
    window.start(getting("a"));
    window.abandon();
    CHECK(window.idle());
    CHECK(server.waiting() == 0);
}

TEST_CASE("request_pipeline: destruction while answers arrive on another thread") {
    fake_s3_options how;
    how.how = delivery::later;
    const fake_s3 server{how};
    server.put("a", "content");
    const asked on{server};
    for (std::size_t round = 0; round < 50; ++round) {
        s3::detail::request_pipeline window{on.client};
        for (std::size_t i = 0; i < 8; ++i) {
            window.start(getting("a"));
        }
        for (std::size_t i = 0; i < round % 8; ++i) {
            CHECK(window.wait(window.next()).good);
        }
    }
    CHECK(server.count() == 400);
}

TEST_CASE("request_pipeline: a call that is never answered can be left") {
    const scripted_server silent{no_answers()};
    const asked on{silent};
    s3::detail::request_pipeline window{on.client};
    window.start(getting("a"));
    CHECK(window.size() == 1);
}

TEST_CASE("request_pipeline: what a server repeats of the keys is in no part of a result that is shown") {
    const s3::access_keys keys{
        "AKIAIOSFODNN7EXAMPL", "wJalrXUtnFEMIxK7MDENGxbPxRfiCYEXAMPLEKEY", "IQoJb3Jp/Z2luX2V/jEFk+zz", {}};
    const auto shown_after = [&](const http::response& got) {
        const scripted_server repeating{always_answer(got)};
        s3_options options = quick_options();
        options.retry.most_attempts = 2;
        const asked on{repeating, options, std::make_shared<static_credentials>(keys)};
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
