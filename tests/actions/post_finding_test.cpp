#include <smdebug/actions/post_finding.hpp>

#include "support/fake_s3.hpp"
#include "support/http_server.hpp"
#include "support/test.hpp"

#include <smdebug/core/bytes.hpp>
#include <smdebug/http/curl_transport.hpp>
#include <smdebug/rules/rule_result.hpp>

using namespace smdebug;
using namespace smdebug::actions;
using namespace smdebug_test;
using namespace std::chrono_literals;

namespace {

const finding example{.met = true, .tensor = "g", .rule = "vanishing_gradient", .step = 7, .value = 0.5};
const std::string secret = "http://host.invalid/hook/secret";
const post_options quick{.first_pause = 1ms};

scripted_server answers(std::vector<http::response> all) { return scripted_server{answer_in_turn(std::move(all))}; }

}  // namespace

TEST_CASE("post_finding: posts the finding as JSON, with the headers that it is given") {
    const scripted_server transport = answers({answer(204)});
    const post_result result =
        post_finding(transport, secret, "out", example, {.headers = {{"authorization", "Bearer x"}}});
    CHECK(result);
    CHECK(result.status == 204);
    CHECK(result.attempts == 1);
    CHECK(result.failure.empty());
    REQUIRE(transport.count() == 1);
    const auto asked = transport.requests().front();
    CHECK(asked.method == http::method::post);
    CHECK(asked.url == secret);
    CHECK(asked.header("content-type") == "application/json");
    CHECK(asked.header("authorization") == "Bearer x");
    CHECK(asked.body == finding_json("out", example));
}

TEST_CASE("post_finding: tries again where that may help, so often and no more") {
    for (const http::response& failed : {answer(500), answer(503), answer(429), no_answer(http::outcome::unreachable),
                                         no_answer(http::outcome::interrupted), no_answer(http::outcome::stalled)}) {
        const scripted_server transport = answers({failed, failed, answer(200)});
        const post_result result = post_finding(transport, secret, "", example, quick);
        CHECK(result);
        CHECK(result.attempts == 3);
        CHECK(result.failure.empty());
    }
    const scripted_server broken = answers({answer(502)});
    const post_result result = post_finding(broken, secret, "", example, {.attempts = 2, .first_pause = 0ms});
    CHECK_FALSE(result);
    CHECK(result.status == 502);
    CHECK(result.attempts == 2);
    CHECK(broken.count() == 2);
    CHECK(result.failure == "The finding was not delivered: the server answered 502");
}

TEST_CASE("post_finding: does not retry after a final answer, and keeps the address out of the result") {
    for (const http::response& final : {answer(400), answer(401), answer(404), answer(301), answer(100),
                                        no_answer(http::outcome::refused), no_answer(http::outcome::too_long)}) {
        const scripted_server transport = answers({final});
        const post_result result = post_finding(transport, secret, "", example, quick);
        CHECK_FALSE(result);
        CHECK(transport.count() == 1);
        CHECK(result.failure.find("secret") == std::string::npos);
        CHECK(result.failure.find(final.answered() ? "answered" : "scripted") != std::string::npos);
    }
}

TEST_CASE("post_finding: keeps to its deadline, whatever the server and the transport do") {
    SUBCASE("an answer that never comes") {
        const scripted_server silent{no_answers()};
        const post_result result = post_finding(silent, secret, "", example, {.deadline = 50ms});
        CHECK_FALSE(result);
        CHECK(result.attempts == 1);
        CHECK(result.status == 0);
        CHECK(result.failure == "The finding was not delivered: no answer came in time");
    }
    SUBCASE("a server that wants more time than there is") {
        const scripted_server busy = answers({answer(429, {{"retry-after", "100"}})});
        CHECK(post_finding(busy, secret, "", example, quick).attempts == 1);
    }
    SUBCASE("a server that says a date, or nonsense") {
        const scripted_server busy = answers({answer(503, {{"retry-after", "Sun, 22 Nov 2026 10:00:00 GMT"}}),
                                              answer(503, {{"retry-after", "-1"}}),
                                              answer(503, {{"retry-after", "99999999999999"}}), answer(200)});
        CHECK(post_finding(busy, secret, "", example, quick).attempts == 4);
    }
    SUBCASE("no attempts, no time, no pause: one try") {
        const scripted_server broken = answers({answer(500)});
        CHECK(post_finding(broken, secret, "", example, {.attempts = 0, .first_pause = -1ms, .deadline = -1ms})
                  .attempts == 1);
    }
    SUBCASE("all the time there is") {
        const scripted_server good = answers({answer(500), answer(200)});
        CHECK(post_finding(good, secret, "", example,
                           {.first_pause = 1ms, .deadline = std::chrono::milliseconds::max()}));
    }
}

TEST_CASE("post_finding: a stop token ends pauses and waits") {
    std::stop_source source;
    const std::jthread stopper{[&] {
        std::this_thread::sleep_for(50ms);
        source.request_stop();
    }};
    SUBCASE("in a pause") {
        const scripted_server broken = answers({answer(500)});
        const post_result result = post_finding(broken, secret, "", example,
                                                {.first_pause = 300s, .deadline = 600s, .stop = source.get_token()});
        CHECK_FALSE(result);
        CHECK(result.attempts == 1);
    }
    SUBCASE("in a wait") {
        const scripted_server silent{no_answers()};
        const post_result result =
            post_finding(silent, secret, "", example, {.deadline = 600s, .stop = source.get_token()});
        CHECK(result.failure == "The finding was not delivered: it was stopped");
    }
}

TEST_CASE("post_finding: what a transport throws is a result") {
    const scripted_server broken{
        [](const http::request&, std::size_t) -> std::optional<http::response> { throw std::runtime_error("oh"); }};
    const post_result result = post_finding(broken, secret, "", example, quick);
    CHECK_FALSE(result);
    CHECK(result.failure == "The finding was not delivered: oh");
}

TEST_CASE("post_finding: a server on this machine gets the JSON") {
    http_server server;
    const curl_transport transport;
    const post_result result = post_finding(transport, server.url("/echo/hook"), "out", example);
    CHECK(result);
    CHECK(result.status == 200);
    const post_result missing = post_finding(transport, server.url("/nothing"), "out", example, quick);
    CHECK_FALSE(missing);
    CHECK(missing.status == 404);
    CHECK(post_finding(transport, server.url("/status/503"), "out", example, {.attempts = 2, .first_pause = 1ms})
              .attempts == 2);
    CHECK_FALSE(post_finding(transport, server.url("/silent"), "out", example, {.deadline = 200ms}));
    const post_result wrong = post_finding(transport, "no-protocol://x", "out", example, quick);
    CHECK_FALSE(wrong);
    CHECK(wrong.attempts == 1);
    server.stop();
    const post_result gone = post_finding(transport, server.url("/echo"), "out", example, quick);
    CHECK_FALSE(gone);
    CHECK(gone.attempts == 4);
    CHECK(gone.status == 0);
}

TEST_CASE("webhook: is a callback that posts, and reports the result") {
    http_server server;
    std::vector<post_result> told;
    const webhook hook{.url = server.url("/echo"), .run = "out", .on_result = [&](const post_result& result) {
                           told.push_back(result);
                       }};
    CHECK(hook(example));
    const scripted_server transport = answers({answer(200)});
    const webhook scripted{.url = secret, .run = "out", .transport = transport};
    CHECK(scripted("my rule", example));
    CHECK(transport.requests().front().body.find(R"("rule":"my rule")") != std::string::npos);
    REQUIRE(told.size() == 1);
    CHECK(told[0].delivered);
}
