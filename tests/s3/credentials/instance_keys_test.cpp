#include <smdebug/core/error.hpp>
#include <smdebug/s3/credentials/metadata_exchange.hpp>

#include <support/fake_aws.hpp>
#include "support/fake_s3.hpp"
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;
using namespace std::chrono_literals;
using s3::detail::keys_outcome;

namespace {

constexpr s3::detail::metadata_limits quick{.pause = 0ms, .altogether = 1h};
constexpr const char* endpoint = "AWS_EC2_METADATA_SERVICE_ENDPOINT";
constexpr const char* service_mode = "AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE";

struct outcome_and_count {
    s3::detail::keys_answer got;
    std::size_t asked;
};

outcome_and_count ask(const fake_instance& service) {
    const scripted_server transport{[&](const http::request& question, std::size_t) { return service(question); }};
    auto got = s3::detail::keys_of_instance(transport, environment_of({}), quick);
    CHECK_FALSE(tells_secrets(got.seen));
    return {std::move(got), transport.count()};
}

}  // namespace

TEST_CASE("instance_keys: the address") {
    CHECK(s3::detail::instance_url(environment_of({})) == "http://169.254.169.254");
    CHECK(s3::detail::instance_url(environment_of({{service_mode, "ipv4"}})) == "http://169.254.169.254");
    CHECK(s3::detail::instance_url(environment_of({{service_mode, "IPv6"}})) == "http://[fd00:ec2::254]");
    CHECK(s3::detail::instance_url(environment_of({{endpoint, "http://localhost:1338//"}, {service_mode, "IPv6"}})) ==
          "http://localhost:1338");
    CHECK(s3::detail::instance_url(environment_of({{endpoint, "https://some.host/base/"}})) ==
          "https://some.host/base");
    CHECK_THROWS_AS(static_cast<void>(s3::detail::instance_url(environment_of({{service_mode, "IPv5"}}))), value_error);
    for (const char* url :
         {"localhost", "ftp://localhost", "http://a b", "http://a\r\nb", "http://u@h", "http://h/?x"}) {
        CAPTURE(url);
        CHECK_THROWS_AS(static_cast<void>(s3::detail::instance_url(environment_of({{endpoint, url}}))), value_error);
    }
}

TEST_CASE("instance_keys: a token, the role, its keys") {
    const fake_instance service;
    const scripted_server transport{[&](const http::request& question, std::size_t) { return service(question); }};
    const auto got = s3::detail::keys_of_instance(transport, environment_of({}), quick);
    CHECK(got.outcome == keys_outcome::found);
    CHECK((got.keys->token == fake_token));
    const auto asked = transport.requests();
    REQUIRE(asked.size() == 3);
    CHECK(asked[0].method == http::method::put);
    CHECK(asked[0].url == "http://169.254.169.254/latest/api/token");
    CHECK(asked[0].header("x-aws-ec2-metadata-token-ttl-seconds") == "21600");
    CHECK(asked[0].body.empty());
    CHECK(asked[1].url == "http://169.254.169.254/latest/meta-data/iam/security-credentials/");
    CHECK(asked[2].url == "http://169.254.169.254/latest/meta-data/iam/security-credentials/trainer");
    for (const auto& question : asked) {
        CHECK(question.connect_within == 1s);
    }
}

TEST_CASE("instance_keys: sends no request when switched off") {
    const scripted_server transport{always_answer(answer(200))};
    const auto got =
        s3::detail::keys_of_instance(transport, environment_of({{"AWS_EC2_METADATA_DISABLED", "True"}}), quick);
    CHECK(got.outcome == keys_outcome::nothing_there);
    CHECK(got.seen.find("AWS_EC2_METADATA_DISABLED") != std::string::npos);
    CHECK(transport.count() == 0);
}

TEST_CASE("instance_keys: without an answer, gives up after three tries") {
    const auto none = ask({.token = no_answer(http::outcome::unreachable, "no route")});
    CHECK(none.got.outcome == keys_outcome::unreachable);
    CHECK(none.got.seen == "instance metadata at http://169.254.169.254 (no answer: no route)");
    CHECK(none.asked == 3);
    CHECK(ask({.token = no_answer(http::outcome::timed_out)}).asked == 3);
}

TEST_CASE("instance_keys: another service than this one has nothing for us") {
    for (const int status : {301, 400, 403, 404, 405}) {
        CAPTURE(status);
        const auto other = ask({.token = answer(status)});
        CHECK(other.got.outcome == keys_outcome::nothing_there);
        CHECK(other.asked == 1);
    }
    for (const std::string& body : {std::string{}, std::string{"<html> a page"}, std::string{"a\r\nb: c"},
                                    std::string(5000, 'x'), std::string{"\xC3\xA4"}}) {
        const auto other = ask({.token = answer(200, {}, body)});
        CHECK(other.got.outcome == keys_outcome::nothing_there);
        CHECK(other.got.seen.find("another service") != std::string::npos);
        CHECK(other.asked == 1);
    }
}

TEST_CASE("instance_keys: an instance without a role") {
    const auto none = ask({.roles = answer(404)});
    CHECK(none.got.outcome == keys_outcome::nothing_there);
    CHECK(none.got.seen.find("the instance has no role") != std::string::npos);
    CHECK(none.asked == 2);
}

TEST_CASE("instance_keys: failures on the way are tried again with another token") {
    CHECK(ask({.token = answer(503)}).got.outcome == keys_outcome::failing);
    CHECK(ask({.token = answer(503)}).asked == 3);
    CHECK(ask({.roles = answer(500)}).asked == 6);
    CHECK(ask({.roles = answer(401)}).got.outcome == keys_outcome::failing);
    CHECK(ask({.roles = no_answer(http::outcome::interrupted)}).got.outcome == keys_outcome::failing);
    CHECK(ask({.roles = answer(403)}).got.outcome == keys_outcome::refused);
    for (const char* role : {"", "\n", "a/../b", "a?b", "a b", "a#b", "\xC3\xA4"}) {
        CAPTURE(role);
        const auto damaged = ask({.roles = answer(200, {}, role)});
        CHECK(damaged.got.outcome == keys_outcome::failing);
        CHECK(damaged.asked == 6);
    }
    CHECK(ask({.keys = answer(404)}).got.outcome == keys_outcome::failing);
    CHECK(ask({.keys = answer(404)}).asked == 9);
    CHECK(ask({.keys = no_answer(http::outcome::stalled)}).got.outcome == keys_outcome::failing);
    CHECK(ask({.keys = answer(403)}).got.outcome == keys_outcome::refused);
    CHECK(ask({.keys = answer(200, {}, fake_secret)}).got.outcome == keys_outcome::failing);
    CHECK(ask({.keys = answer(200, {}, R"({"Code": "Failed", "Message": ")" + std::string{fake_secret} + "\"}")})
              .got.seen == "instance metadata at http://169.254.169.254 (its answer is an error: Failed)");
}

TEST_CASE("instance_keys: only the first of several roles is used") {
    CHECK(ask({.roles = answer(200, {}, "trainer\r\nother")}).got.outcome == keys_outcome::found);
}
