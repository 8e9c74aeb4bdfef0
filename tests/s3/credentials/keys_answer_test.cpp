#include <smdebug/core/bytes.hpp>
#include <smdebug/s3/credentials/metadata_exchange.hpp>

#include <support/fake_aws.hpp>
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;
using namespace std::chrono_literals;

namespace {

s3::detail::keys_answer parse(const std::string& text) {
    return s3::detail::parse_keys_answer(as_bytes(text), "the service");
}

const std::string id_and_secret =
    R"("AccessKeyId": ")" + std::string{fake_id} + R"(", "SecretAccessKey": ")" + fake_secret + "\"";

}  // namespace

TEST_CASE("keys_answer: keys as an instance and as a container hand them out") {
    const auto instance = parse(keys_json("2026-11-21T16:00:00Z"));
    CHECK(instance.outcome == s3::detail::keys_outcome::found);
    REQUIRE(instance.keys);
    CHECK((instance.keys == s3::access_keys{.id = fake_id,
                                            .secret = fake_secret,
                                            .token = fake_token,
                                            .expires = s3::detail::parse_iso_time("2026-11-21T16:00:00Z")}));
    CHECK(instance.seen == "the service");
    const auto container = parse("\xEF\xBB\xBF{\"RoleArn\": \"arn\", " + id_and_secret + R"(, "Token": "t",
        "Expiration": "2026-11-21T16:00:00.25+01:00", "AccountId": 7, "Unknown": [1, {}]})");
    REQUIRE(container.keys);
    CHECK((container.keys->token == "t"));
    CHECK((container.keys->expires == s3::detail::parse_iso_time("2026-11-21T15:00:00.25Z")));
}

TEST_CASE("keys_answer: a token and a time of expiry may be missing") {
    const auto found = parse("{" + id_and_secret + "}");
    REQUIRE(found.keys);
    CHECK((found.keys->token.empty()));
    CHECK_FALSE(found.keys->expires.has_value());
}

TEST_CASE("keys_answer: an error is reported by its code") {
    const auto with = [](const std::string& code) {
        return parse(R"({"Code": ")" + code + "\", " + id_and_secret + "}");
    };
    CHECK(with("AssumeRoleUnauthorizedAccess").seen ==
          "the service (its answer is an error: AssumeRoleUnauthorizedAccess)");
    CHECK(with("AssumeRoleUnauthorizedAccess").outcome == s3::detail::keys_outcome::failing);
    CHECK(with("<b>oh\\n</b>").seen == "the service (its answer is an error: ?)");
    CHECK(with("").seen == "the service (its answer is an error: ?)");
    CHECK(with(std::string(65, 'a')).seen == "the service (its answer is an error: ?)");
    CHECK(parse(R"({"code": "NotNow", "message": ")" + std::string{fake_secret} + "\"}").seen ==
          "the service (its answer is an error: NotNow)");
    // A code may echo secrets of the answer or of the request.
    CHECK(parse(R"({"Code": "No.fakesecretkey", "SecretAccessKey": ")" + std::string{fake_secret} + "\"}").seen ==
          "the service (its answer is an error: No....)");
    const std::string repeats = R"({"Code": "Sent.fakebearer-for-tests.in.vain"})";
    CHECK(s3::detail::parse_keys_answer(as_bytes(repeats), "the service", fake_bearer).seen ==
          "the service (its answer is an error: Sent.....in.vain)");
}

TEST_CASE("keys_answer: a damaged answer gives no keys, and its message no secret") {
    const std::string whole = keys_json("2026-11-21T16:00:00Z");
    std::vector<std::string> cases{
        "",
        "[]",
        "null",
        "<html>",
        "\"" + std::string{fake_secret} + "\"",
        "{}",
        R"({"AccessKeyId": ")" + std::string{fake_id} + "\"}",
        R"({"SecretAccessKey": ")" + std::string{fake_secret} + "\"}",
        R"({"AccessKeyId": 7, "SecretAccessKey": ")" + std::string{fake_secret} + "\"}",
        R"({"AccessKeyId": "", "SecretAccessKey": ")" + std::string{fake_secret} + "\"}",
        "{" + id_and_secret + R"(, "Token": "a\r\nb"})",
        "{" + id_and_secret + R"(, "Expiration": "soon"})",
        "{" + id_and_secret + R"(, "Expiration": 1795255200})",
        "{" + id_and_secret + R"(, "Expiration": null})",
        "{" + id_and_secret + "} x",
    };
    for (std::size_t cut = 0; cut < whole.size(); ++cut) {
        cases.push_back(whole.substr(0, cut));
    }
    for (const std::string& text : cases) {
        CAPTURE(text);
        const auto got = parse(text);
        CHECK(got.outcome == s3::detail::keys_outcome::failing);
        CHECK_FALSE(got.keys.has_value());
        CHECK_FALSE(tells_secrets(got.seen));
    }
}
