#include <smdebug/s3/object/failure.hpp>

#include <smdebug/core/error.hpp>
#include <smdebug/s3/credentials.hpp>

#include "support/fake_s3.hpp"
#include "support/given_text.hpp"
#include "support/test.hpp"

#include <typeinfo>

using namespace smdebug;
using namespace std::chrono_literals;
using namespace smdebug_test;

namespace {

const s3::location place{"bucket", "run/"};
const std::string server = "https://s3.test";

s3::detail::call_result failed_with(http::response got, std::string key = "run/a b") {
    s3::detail::call_result made;
    made.said = s3::detail::parse_error_answer(got);
    made.answer = std::move(got);
    made.asked.key = std::move(key);
    made.asked.doing = "reading";
    made.attempts = 3;
    made.taken = 1234ms;
    made.is_signed = true;
    return made;
}

/// The error's code and message.
struct thrown {
    error_code code = error_code::other;
    std::string text;
    std::string where;
};

thrown thrown_for(const s3::detail::call_result& failed) {
    try {
        s3::detail::fail(place, server, failed);
    } catch (const error& what) {
        return {what.code(), what.what(), what.where()};
    }
}

}  // namespace

TEST_CASE("failure: each kind of failure has the error that says what the caller can do, and advice") {
    struct row {
        http::response got;
        error_code code;
        std::string_view advice;
    };
    using http::outcome;
    const std::vector<row> rows{
        {no_answer(outcome::unreachable), error_code::unavailable, "https://s3.test"},
        {no_answer(outcome::interrupted), error_code::unavailable, "again later"},
        {no_answer(outcome::stalled), error_code::unavailable, "again later"},
        {no_answer(outcome::timed_out), error_code::timed_out, "s3_options::retry"},
        {no_answer(outcome::too_long), error_code::unsupported, "https://s3.test"},
        {no_answer(outcome::refused), error_code::unavailable, "AWS_CA_BUNDLE"},
        {s3_error(404, "NoSuchKey"), error_code::not_found, "no object"},
        {answer(404), error_code::not_found, "no object"},
        {s3_error(404, "NoSuchBucket"), error_code::not_found, "no bucket \"bucket\" at https://s3.test"},
        {s3_error(404, "NoSuchUpload"), error_code::unavailable, "write the object again"},
        {s3_error(403, "AccessDenied"), error_code::access_denied, "s3:GetObject"},
        {answer(403), error_code::access_denied, "s3:GetObject"},
        {answer(401), error_code::access_denied, "s3:GetObject"},
        {s3_error(403, "SignatureDoesNotMatch"), error_code::access_denied, "secret key"},
        {s3_error(403, "InvalidAccessKeyId"), error_code::access_denied, "does not know these keys"},
        {s3_error(400, "InvalidToken"), error_code::access_denied, "does not know these keys"},
        {s3_error(400, "ExpiredToken"), error_code::access_denied, "expired"},
        {s3_error(403, "RequestTimeTooSkewed"), error_code::access_denied, "clock"},
        {s3_error(301, "PermanentRedirect"), error_code::unsupported, "AWS_REGION"},
        {answer(307), error_code::unsupported, "AWS_REGION"},
        {s3_error(400, "InvalidArgument"), error_code::unsupported, "does not take such a request"},
        {s3_error(405, "MethodNotAllowed"), error_code::unsupported, "does not take such a request"},
        {s3_error(412, "PreconditionFailed"), error_code::unsupported, "does not take such a request"},
        {s3_error(416, "InvalidRange"), error_code::unavailable, "its size does not bear out"},
        {s3_error(501, "NotImplemented"), error_code::unsupported, "does not take such a request"},
        {s3_error(500, "InternalError"), error_code::unavailable, "again later"},
        {s3_error(503, "SlowDown"), error_code::unavailable, "again later"},
        {answer(502, {}, "<html><title>Bad Gateway</title></html>"), error_code::unavailable, "Bad Gateway"},
        {answer(408), error_code::unavailable, "again later"},
        {s3_error(409, "OperationAborted"), error_code::unavailable, "again later"},
        {answer(429), error_code::unavailable, "again later"},
        {answer(200), error_code::unavailable, "the answer was incomplete"},
        {answer(206), error_code::unavailable, "the answer was incomplete"},
    };
    for (const auto& [got, code, advice] : rows) {
        const thrown what = thrown_for(failed_with(got));
        CAPTURE(got.status);
        CAPTURE(what.text);
        CAPTURE(advice);
        CHECK(what.code == code);
        CHECK(contains(what.text, advice));
        CHECK(what.where == "s3://bucket/run/a b");
        CHECK(contains(what.text, "s3://bucket/run/a b"));
        if (got.answered()) {
            CHECK(contains(what.text, std::to_string(got.status)));
            CHECK(contains(what.text, s3::detail::parse_error_answer(got).code));
            CHECK(contains(what.text, s3::detail::parse_error_answer(got).request_id));
        } else {
            CHECK(contains(what.text, "scripted"));
        }
    }
}

TEST_CASE("failure: what was asked, how often, how long, and what the server said") {
    CHECK(thrown_for(failed_with(s3_error(503, "SlowDown", "Please reduce your request rate."))).text ==
          "Unavailable: reading s3://bucket/run/a b failed after 3 attempts in 1234 ms: the server said 503 SlowDown "
          "(request id tx000001): Please reduce your request rate. Try again later");
    s3::detail::call_result once = failed_with(no_answer(http::outcome::interrupted, ""));
    once.attempts = 1;
    once.asked.doing = "listing";
    const thrown what = thrown_for(once);
    CHECK(contains(what.text, "listing s3://bucket/run/a b failed: there was no answer."));
}

TEST_CASE("failure: the message mentions a request without keys") {
    for (const int status : {400, 401, 403, 412}) {
        s3::detail::call_result failed = failed_with(answer(status));
        failed.is_signed = false;
        const thrown what = thrown_for(failed);
        CHECK(what.code == error_code::access_denied);
        CHECK(contains(what.text, "without keys"));
    }
}

TEST_CASE("failure: for a closed port the message names host, port and what to check") {
    const thrown what = thrown_for(failed_with(no_answer(http::outcome::unreachable)));
    for (const char* part : {"https://s3.test (host s3.test, port 443)", "AWS_ENDPOINT_URL_S3", "region", "proxy"}) {
        CHECK(contains(what.text, part));
    }
}

TEST_CASE("failure: a server that sends its requests to another service is named, and that one, too") {
    s3::detail::call_result failed = failed_with(answer(307));
    failed.sent_to = "https://evil.test";
    const thrown what = thrown_for(failed);
    CHECK(what.code == error_code::unsupported);
    CHECK(contains(what.text, "The server https://s3.test sends its requests on to https://evil.test, which is not"));
    CHECK(contains(what.text, "AWS_ENDPOINT_URL_S3"));
}

TEST_CASE("failure: what concerns the place and not a key names the place") {
    const thrown what = thrown_for(failed_with(s3_error(403, "AccessDenied"), ""));
    CHECK(what.where == "s3://bucket/run");
    CHECK(contains(what.text, "s3://bucket/run failed"));
}

TEST_CASE("failure: keys, tokens and signatures are in no message, whatever the server repeats of a request") {
    const s3::access_keys keys{"AKIAIOSFODNN7EXAMPLE",
                               "wJalrXUtnFEMIxK7MDENGxbPxRfiCYEXAMPLEKEY",
                               "AQoDYXdzEJr1K2xyz0123456789abcdefghijklmnop",
                               {}};
    for (const auto& [status, code] : std::vector<std::pair<int, std::string>>{{403, "SignatureDoesNotMatch"},
                                                                               {403, "InvalidAccessKeyId"},
                                                                               {400, "InvalidToken"},
                                                                               {400, "ExpiredToken"},
                                                                               {403, "AccessDenied"},
                                                                               {400, "InvalidArgument"},
                                                                               {503, "SlowDown"},
                                                                               {404, "NoSuchKey"}}) {
        std::string signature;
        const scripted_server repeating{[&, given = status, named = code](const http::request& ask, std::size_t) {
            std::string all;
            for (const auto& [name, value] : ask.headers) {
                all += name + ": " + value + "\n";
                if (name == "authorization") {
                    signature = value.substr(value.find("Signature=") + 10);
                }
            }
            return std::optional{answer(given, {{"x-amz-request-id", "tx1"}},
                                        "<Error><Code>" + named + "</Code><Message>You sent " + all + " with " +
                                            keys.token + " and " + keys.id + "</Message><AWSAccessKeyId>" + keys.id +
                                            "</AWSAccessKeyId><SignatureProvided>" + signature +
                                            "</SignatureProvided><StringToSign>" + all + "</StringToSign><Token-0>" +
                                            keys.token + "</Token-0></Error>")};
        }};
        s3_options options = smdebug_test::quick_options();
        options.retry.most_attempts = 2;
        const s3::detail::client asked{place, options, repeating, std::make_shared<static_credentials>(keys)};
        const thrown what = thrown_for(s3::detail::perform_call(asked, {.key = "run/a"}));
        CAPTURE(what.text);
        CHECK(contains(what.text, code));
        CHECK(contains(what.text, "You sent"));
        REQUIRE(signature.size() == 64);
        for (const std::string& secret : {keys.id, keys.secret, keys.token, signature}) {
            CHECK_FALSE(contains(what.text, secret));
            CHECK_FALSE(contains(what.text, secret.substr(0, 12)));
        }
    }
}
