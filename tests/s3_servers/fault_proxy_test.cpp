#include <smdebug/http/message.hpp>
#include "support/test.hpp"

#include <s3_servers/fault_proxy.hpp>
#include <s3_servers/plain_http.hpp>
#include <s3_servers/server.hpp>

using namespace smdebug_test;
using smdebug::http::method;

TEST_CASE("s3_server: makes buckets, and its keys open them") {
    const s3_server server;
    REQUIRE((server.is_rgw() || server.is_swift()));
    const std::string bucket = server.fresh_bucket();
    CHECK(server.fresh_bucket() != bucket);
    CHECK(server.ask(method::put, "/" + bucket + "/a%20key", "content").status == 200);
    const plain_answer found = server.ask(method::get, "/" + bucket + "/a%20key");
    CHECK(found.status == 200);
    CHECK(found.body == "content");
    CHECK(ask_plainly(port_of(server.endpoint()), "GET", "/" + bucket + "/a%20key").status >= 400);  // without keys
    CHECK(server.temporary_keys().has_value() == server.is_rgw());
    CHECK(server.options().endpoint == server.endpoint());
}

TEST_CASE("fault_proxy: requests through it are signed for the proxy, and forwarded to the server") {
    const s3_server server;
    const std::string object = "/" + server.fresh_bucket() + "/key";
    const fault_proxy proxy{server.endpoint()};
    REQUIRE(proxy.endpoint() != server.endpoint());
    const auto ask = [&](method how, const std::string& body = {}) {
        return server.ask_at(proxy.endpoint(), how, object, body);
    };
    const std::string content(300'000, 'x');
    CHECK(ask(method::put, content).status == 200);
    CHECK(ask(method::get).body == content);
    CHECK(server.ask(method::get, object).body == content);

    proxy.arm(R"([{"kind": "slow_down", "retry_after": 3, "method": "GET"}, {"kind": "cut_before_answer", "at": 3}])");
    CHECK(ask(method::head).status == 200);
    const plain_answer slowed = ask(method::get);
    CHECK(slowed.status == 503);
    CHECK(slowed.head.find("Retry-After: 3\r\n") != std::string::npos);
    CHECK(slowed.body.find("<Code>SlowDown</Code>") != std::string::npos);
    CHECK_THROWS_AS(static_cast<void>(ask(method::get)), std::runtime_error);
    CHECK(ask(method::get).body == content);

    const auto counted = proxy.count();
    CHECK(counted.fired == 2);
    CHECK(counted.connections == 6);
    REQUIRE(counted.requests.size() == 6);
    CHECK(counted.requests[0].method == "PUT");
    CHECK(counted.requests[0].target == object);
    CHECK(counted.requests[3].fault == "slow_down");
    CHECK(counted.requests[4].fault == "cut_before_answer");
    CHECK(counted.requests[5].fault.empty());
    proxy.reset();
    CHECK(proxy.count().requests.empty());
    CHECK_THROWS_WITH_AS(proxy.arm(R"({"kind": "sunshine"})"), doctest::Contains("no kind of fault"),
                         std::runtime_error);
}
