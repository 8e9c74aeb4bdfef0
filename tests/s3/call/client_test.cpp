#include <smdebug/s3/call/client.hpp>

#include <smdebug/core/error.hpp>

#include "support/fake_s3.hpp"
#include "support/test.hpp"

using namespace smdebug;
using namespace std::chrono_literals;
using s3::detail::next_move;
using namespace smdebug_test;

namespace {

using system_time = std::chrono::system_clock::time_point;

const s3::access_keys known_keys{"FAKEKEYID", "fake/secret", "", {}};

/// Counts renewals, and records the times passed to keys().
class counting_credentials final : public credentials_provider {
public:
    [[nodiscard]] std::optional<s3::access_keys> keys(system_time now) const override {
        asked_at_ = now;
        return known_keys;
    }
    void renew() const override { ++renewed_; }
    [[nodiscard]] int renewed() const { return renewed_; }
    [[nodiscard]] system_time asked_at() const { return asked_at_; }

private:
    mutable int renewed_ = 0;
    mutable system_time asked_at_ = {};
};

scripted_server silent() { return scripted_server{no_answers()}; }

using s3::detail::client;

client made(const s3_options& options,
            std::shared_ptr<const credentials_provider> who = std::make_shared<counting_credentials>()) {
    return {s3::parse_location("s3://bucket/run"), options, silent(), std::move(who)};
}

http::request asking(const client& asked, const s3::detail::call& what) {
    return asked.prepare(what, s3::detail::empty_payload_hash, http::request::clock::time_point::max()).request;
}

std::string value_of(const http::request& ask, std::string_view name) {
    return std::string{http::response{.headers = ask.headers}.find_header(name).value_or("")};
}

}  // namespace

TEST_CASE("client: a request has the call's parts, encoded, and the options' limits") {
    s3_options options = smdebug_test::quick_options();
    options.connect_within = 11ms;
    options.stalled_after = 12ms;
    const client asked = made(options);
    const std::string body = "bytes";
    const auto deadline = http::request::clock::now() + 1h;
    const auto prepared = asked.prepare({.method = http::method::put,
                                         .key = "run/a b+c=%//\xC3\xA4/../x",
                                         .query = {{"uploadId", "a/b="}, {"partNumber", "2"}},
                                         .headers = {{"range", "bytes=0-1"}},
                                         .body = as_bytes(body),
                                         .most = 99},
                                        "UNSIGNED-PAYLOAD", deadline);
    const http::request& ask = prepared.request;
    CHECK(ask.method == http::method::put);
    CHECK(ask.url == "http://s3.test:8080/bucket/run/a%20b%2Bc%3D%25//%C3%A4/../x?partNumber=2&uploadId=a%2Fb%3D");
    CHECK(value_of(ask, "range") == "bytes=0-1");
    CHECK(ask.body.data() == as_bytes(body).data());
    CHECK(ask.body.size() == body.size());
    CHECK(ask.most == 99);
    CHECK(ask.connect_within == 11ms);
    CHECK(ask.stalled_after == 12ms);
    CHECK(ask.deadline == deadline);
    CHECK(value_of(ask, "x-amz-content-sha256") == "UNSIGNED-PAYLOAD");
    CHECK(value_of(ask, "authorization").starts_with("AWS4-HMAC-SHA256 Credential=FAKEKEYID/"));
    CHECK(asking(asked, {}).url == "http://s3.test:8080/bucket/");
    CHECK(asked.server() == "http://s3.test:8080");
    CHECK(asked.where() == s3::parse_location("s3://bucket/run"));
    CHECK(asked.options().stalled_after == 12ms);
}

TEST_CASE("client: the signature is that of the time, the region and the keys") {
    s3_options options = smdebug_test::quick_options();
    options.region = "eu-west-1";
    const auto who = std::make_shared<counting_credentials>();
    const client asked = made(options, who);
    const auto before = std::chrono::system_clock::now();
    http::request ask = asking(asked, {.key = "run/a"});
    CHECK(who->asked_at() >= before);
    CHECK(who->asked_at() <= std::chrono::system_clock::now());
    const std::string signature = value_of(ask, "authorization");
    s3::detail::signer{}.sign(ask, s3::detail::empty_payload_hash, known_keys, {.region = "eu-west-1", .service = "s3"},
                              who->asked_at());
    CHECK(value_of(ask, "authorization") == signature);
}

TEST_CASE("client: without keys nothing is signed") {
    const s3::detail::client asked{s3::parse_location("s3://bucket"), smdebug_test::quick_options(), silent(),
                                   std::make_shared<anonymous_credentials>()};
    const auto prepared = asked.prepare({.key = "a"}, s3::detail::empty_payload_hash, {});
    CHECK(prepared.request.headers.empty());
    CHECK(prepared.request.url == "http://s3.test:8080/bucket/a");
}

TEST_CASE("client: without endpoint and region it asks Amazon, where the bucket may be anywhere") {
    const client asked = made({});
    CHECK(asking(asked, {.key = "run/a"}).url == "https://bucket.s3.us-east-1.amazonaws.com/run/a");
    CHECK(asked.server() == "https://bucket.s3.us-east-1.amazonaws.com");
    const client in_path = made({.addressing = s3::addressing::path});
    CHECK(in_path.server() == "https://s3.us-east-1.amazonaws.com");
}

TEST_CASE("client: a region or an endpoint that can be none is refused at once") {
    for (const char* region : {"", "EU West", "us-east-1.evil.test/", "a@b"}) {
        CAPTURE(region);
        CHECK_THROWS_AS(made({.region = region}), value_error);
    }
    for (const char* endpoint : {"", "localhost:8080", "http://user:hunter2@host"}) {
        CAPTURE(endpoint);
        CHECK_THROWS_AS(made({.endpoint = endpoint}), value_error);
    }
}

TEST_CASE("client: a region is learnt once, from the first answer that names it") {
    const client asked = made({});
    const auto first = asked.prepare({.key = "a"}, s3::detail::empty_payload_hash, {});
    const auto second = asked.prepare({.key = "b"}, s3::detail::empty_payload_hash, {});
    const s3::detail::retry_decision told{next_move::to_region, "eu-west-1"};
    CHECK(asked.learn(told, answer(301), first.knowledge));
    CHECK(asked.server() == "https://bucket.s3.eu-west-1.amazonaws.com");
    // A request prepared before is prepared again, whatever its answer was.
    CHECK(asked.learn({next_move::to_region, "us-west-2"}, answer(301), second.knowledge));
    CHECK(asked.server() == "https://bucket.s3.eu-west-1.amazonaws.com");
    const auto third = asked.prepare({.key = "a"}, s3::detail::empty_payload_hash, {});
    CHECK(value_of(third.request, "authorization").find("/eu-west-1/s3/") != std::string::npos);
    // It is right already: something else is wrong.
    CHECK_FALSE(asked.learn(told, answer(301), third.knowledge));
}

TEST_CASE("client: another server of the service has the bucket in its host's name, or in the path") {
    struct row {
        std::optional<std::string> endpoint;
        const char* server;
        const char* url;
    };
    for (const auto& [endpoint, server, url] :
         {row{{}, "https://bucket.s3-eu-west-1.amazonaws.com", "https://bucket.s3-eu-west-1.amazonaws.com/run/a"},
          row{{}, "https://s3.eu-west-1.amazonaws.com", "https://s3.eu-west-1.amazonaws.com/bucket/run/a"},
          row{"https://own.test:8443", "https://eu.own.test:8443", "https://eu.own.test:8443/bucket/run/a"},
          row{"https://own.test", "https://bucket.own.test", "https://bucket.own.test/run/a"}}) {
        const client asked = made({.endpoint = endpoint});
        CHECK(asked.trusts(server));
        const auto first = asked.prepare({.key = "run/a"}, s3::detail::empty_payload_hash, {});
        CHECK(asked.learn({next_move::to_endpoint, server}, answer(307), first.knowledge));
        const auto second = asked.prepare({.key = "run/a"}, s3::detail::empty_payload_hash, {});
        CHECK(second.request.url == url);
        CHECK(asked.server() == server);
        CHECK_FALSE(asked.learn({next_move::to_endpoint, server}, answer(307), second.knowledge));
    }
}

TEST_CASE("client: what went over TLS is not sent in the open because a server says so") {
    const client at_amazon = made({});
    CHECK_FALSE(at_amazon.learn({next_move::to_endpoint, "http://other.test"}, answer(307), 0));
    CHECK(at_amazon.server() == "https://bucket.s3.us-east-1.amazonaws.com");
    const client own = made({.endpoint = "https://own.test"});
    CHECK_FALSE(own.learn({next_move::to_endpoint, "http://own.test"}, answer(307), 0));
    const client open = made({.endpoint = "http://own.test"});
    CHECK(open.learn({next_move::to_endpoint, "https://own.test"}, answer(307), 0));
    CHECK(open.server() == "https://own.test");
}

TEST_CASE("client: a server of another service is never used, not even by way of one of this service") {
    const client own = made({.endpoint = "http://own.test"});
    for (const char* stranger :
         {"http://other.test", "http://own.test.other.test", "http://own.test:81", "https://test", "http://127.0.0.1",
          "https://s3.us-east-1.amazonaws.com", "nonsense", ""}) {
        CAPTURE(stranger);
        CHECK_FALSE(own.trusts(stranger));
        CHECK_FALSE(own.learn({next_move::to_endpoint, stranger}, answer(307), 0));
        CHECK(own.server() == "http://own.test");
    }
    CHECK(own.prepare({}, s3::detail::empty_payload_hash, {}).knowledge == 0);
    CHECK(own.learn({next_move::to_endpoint, "http://eu.own.test"}, answer(307), 0));
    CHECK_FALSE(own.learn({next_move::to_endpoint, "http://other.test"}, answer(307), 1));
    // The configured endpoint decides what belongs to the service, not the current server.
    CHECK(own.learn({next_move::to_endpoint, "http://us.own.test"}, answer(307), 1));
    CHECK(own.server() == "http://us.own.test");
    // The same applies without keys.
    const s3::detail::client nobody{s3::parse_location("s3://bucket"), smdebug_test::quick_options(), silent(),
                                    std::make_shared<anonymous_credentials>()};
    CHECK_FALSE(nobody.learn({next_move::to_endpoint, "http://other.test"}, answer(307), 0));
}

TEST_CASE("client: a region that is none of Amazon's in the same domain is not gone to") {
    for (const char* region : {"cn-north-1", "elb", "evil", "compute-1"}) {
        CAPTURE(region);
        const client asked = made({});
        CHECK_FALSE(asked.learn({next_move::to_region, region}, answer(301), 0));
        CHECK(asked.server() == "https://bucket.s3.us-east-1.amazonaws.com");
        // With an endpoint the region is only a part of the signature.
        const client own = made({.endpoint = "http://own.test"});
        CHECK(own.learn({next_move::to_region, region}, answer(301), 0));
        CHECK(own.server() == "http://own.test");
    }
}

TEST_CASE("client: keys are renewed once for all requests that were signed with them") {
    const auto who = std::make_shared<counting_credentials>();
    const client asked = made({}, who);
    std::vector<std::uint64_t> prepared;
    for (int i = 0; i < 8; ++i) {
        prepared.push_back(asked.prepare({}, s3::detail::empty_payload_hash, {}).knowledge);
    }
    std::vector<std::jthread> threads;
    for (const std::uint64_t knowledge : prepared) {
        threads.emplace_back(
            [&asked, knowledge] { static_cast<void>(asked.learn({next_move::renew_keys}, answer(400), knowledge)); });
    }
    threads.clear();
    CHECK(who->renewed() == 1);
    const auto next = asked.prepare({}, s3::detail::empty_payload_hash, {});
    CHECK(asked.learn({next_move::renew_keys}, answer(400), next.knowledge));
    CHECK(who->renewed() == 2);
}

TEST_CASE("client: the server's clock is right; a difference that cannot be the reason is none") {
    const auto who = std::make_shared<counting_credentials>();
    const client asked = made({}, who);
    const auto told = [](const char* date) { return answer(403, {{"date", date}}); };
    const s3::detail::retry_decision skewed{next_move::set_clock};
    CHECK_FALSE(asked.learn(skewed, answer(403), 0));
    CHECK_FALSE(asked.learn(skewed, told("yesterday"), 0));
    for (const char* const no_clock :
         {"Mon, 01 Jan 0001 00:00:00 GMT", "Sat, 01 Jan 1678 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT"}) {
        CHECK_FALSE(asked.learn(skewed, told(no_clock), 0));
    }
    CHECK(asked.learn(skewed, told("Sun, 06 Nov 1994 08:49:37 GMT"), 0));
    const auto second = asked.prepare({}, s3::detail::empty_payload_hash, {});
    CHECK(value_of(second.request, "x-amz-date").starts_with("19941106T08"));
    // The keys, too, are requested for the server's time.
    CHECK(who->asked_at() < system_time{} + std::chrono::years{25});
    CHECK_FALSE(asked.learn(skewed, told("Sun, 06 Nov 1994 08:49:38 GMT"), second.knowledge));
    CHECK(asked.learn(skewed, told("Sun, 06 Nov 2044 08:49:37 GMT"), second.knowledge));
    CHECK(value_of(asking(asked, {}), "x-amz-date").starts_with("20441106T08"));
}

TEST_CASE("client: other verdicts teach nothing") {
    const client asked = made({});
    for (const next_move move : {next_move::done, next_move::again, next_move::ask_why, next_move::give_up}) {
        CHECK_FALSE(asked.learn({move}, answer(500), 0));
    }
    CHECK(asked.prepare({}, s3::detail::empty_payload_hash, {}).knowledge == 0);
}
