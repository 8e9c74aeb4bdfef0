// What calls learn from answers and keep: regions, other servers, the time.
#include <smdebug/s3/call/request_pipeline.hpp>

#include "s3/call/request_pipeline_fixture.hpp"
#include "support/fake_s3.hpp"
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test::pipeline;
using namespace std::chrono_literals;
using namespace smdebug_test;

TEST_CASE("request_pipeline: the bucket's region is learnt, once for all that follows") {
    s3_options options = quick_options();
    options.endpoint.reset();
    for (const bool by_header : {true, false}) {
        CAPTURE(by_header);
        fake_s3_options how;
        how.region = "eu-west-1";
        const fake_s3 server{how};
        server.put("a", "content");
        if (by_header) {
            // Amazon's server in another region.
            server.fail_by(answer_where(
                [](const http::request& ask) { return ask.url.starts_with("https://bucket.s3.us-east-1."); },
                answer(301, {{"x-amz-bucket-region", "eu-west-1"}})));
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

TEST_CASE("request_pipeline: a HEAD in the wrong region gets no reason, and is repeated to get one") {
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
    // Now the region is known.
    CHECK(s3::detail::perform_call(on.client, looking("a")).asked.method == http::method::head);
}

TEST_CASE("request_pipeline: a HEAD that is refused says why in the end, and is over") {
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

TEST_CASE("request_pipeline: a HEAD that is refused for an object without bytes") {
    for (const bool tells : {true, false}) {
        fake_s3_options how;
        how.tells_size_beyond = tells;
        const fake_s3 server{how};
        server.put("a", "");
        server.fail_by(
            answer_where([](const http::request& ask) { return ask.method == http::method::head; }, answer(400)));
        const asked on{server};
        const s3::detail::call_result ended = s3::detail::perform_call(on.client, looking("a"));
        REQUIRE(ended.good == tells);  // otherwise its size is unknown
        if (tells) {
            CHECK(s3::detail::part_in(ended.answer, ended.asked.wanted)->total == 0);
        }
    }
}

TEST_CASE("request_pipeline: a region from an answer that does not help ends the call") {
    const fake_s3 server;
    server.fail_by(answer_first(100, answer(301, {{"x-amz-bucket-region", "us-east-1"}})));
    const asked on{server};
    const s3::detail::call_result ended = s3::detail::perform_call(on.client, getting("a"));
    CHECK_FALSE(ended.good);
    CHECK(ended.attempts == 1);
    // Two servers that redirect to each other.
    server.forget_requests();
    server.fail_by([](const http::request&, std::size_t number) {
        return std::optional{answer(301, {{"x-amz-bucket-region", number % 2 == 0 ? "eu-west-1" : "us-east-1"}})};
    });
    CHECK_FALSE(s3::detail::perform_call(on.client, getting("a")).good);
    CHECK(server.count() <= 10);
}

TEST_CASE("request_pipeline: a redirection to another server of the service is followed, and kept") {
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

TEST_CASE("request_pipeline: a redirection to another service gets no request, now or later") {
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
            server.fail_by(answer_first(1, answer(status, {{"location", where}})));
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

TEST_CASE("request_pipeline: a redirection from TLS into the open is not followed") {
    const fake_s3 server;
    server.fail_by(answer_first(100, answer(307, {{"location", "http://s3.test/bucket/a"}})));
    s3_options options = quick_options();
    options.endpoint = "https://s3.test";
    const asked on{server, options};
    const s3::detail::call_result ended = s3::detail::perform_call(on.client, getting("a"));
    CHECK_FALSE(ended.good);
    CHECK(ended.attempts == 1);
    CHECK(server.requests().front().url == "https://s3.test/bucket/a");
}

TEST_CASE("request_pipeline: two servers that send us to each other end") {
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

TEST_CASE("request_pipeline: a wrong clock is put right by the server's date") {
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
    // An answer to HEAD has only the status 403.
    fake_s3_options how;
    how.clock_offset = 3h;
    const fake_s3 server{how};
    server.put("a", "content");
    const asked on{server};
    CHECK(s3::detail::perform_call(on.client, looking("a")).good);
}

TEST_CASE("request_pipeline: a clock that is right already is not the reason") {
    const fake_s3 server;
    server.fail_by(answer_first(100, s3_error(403, "RequestTimeTooSkewed")));
    const asked on{server};
    const s3::detail::call_result ended = s3::detail::perform_call(on.client, getting("a"));
    CHECK_FALSE(ended.good);
    CHECK(ended.attempts == 1);
}

TEST_CASE("request_pipeline: what is put right does not count as a failure, nor the other way round") {
    fake_s3_options how;
    how.clock_offset = 3h;
    how.region = "eu-west-1";
    const fake_s3 server{how};
    server.put("a", "content");
    server.fail_by(answer_first(2, answer(503)));
    const asked on{server};
    const s3::detail::call_result ended = s3::detail::perform_call(on.client, getting("a"));
    CHECK(ended.good);
    CHECK(ended.attempts == 5);
}
