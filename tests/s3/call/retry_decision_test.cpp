#include <smdebug/s3/call/retry_decision.hpp>

#include <smdebug/s3/call/call.hpp>

#include "support/fake_s3.hpp"
#include "support/test.hpp"

using namespace smdebug;
using namespace std::chrono_literals;
using s3::detail::next_move;
using namespace smdebug_test;

namespace {

const s3::detail::call getting{.key = "key"};
const s3::detail::call looking{.method = http::method::head, .key = "key"};

s3::detail::retry_decision judged(const s3::detail::call& asked, const http::response& got) {
    return s3::detail::judge(asked, got, s3::detail::parse_error_answer(got));
}
next_move move_after(const http::response& got) { return judged(getting, got).move; }

http::response with(http::response given, std::string name, std::string value) {
    given.headers.push_back({std::move(name), std::move(value)});
    return given;
}

}  // namespace

TEST_CASE("retry_decision: a request without an answer is retried if that can help") {
    using http::outcome;
    struct row {
        outcome how;
        next_move move;
    };
    for (const row& each : {
             row{outcome::unreachable, next_move::again},
             row{outcome::interrupted, next_move::again},
             row{outcome::stalled, next_move::again},
             row{outcome::timed_out, next_move::give_up},
             row{outcome::too_long, next_move::give_up},
             row{outcome::refused, next_move::give_up},
         }) {
        CAPTURE(static_cast<int>(each.how));
        CHECK(move_after(no_answer(each.how)) == each.move);
    }
}

TEST_CASE("retry_decision: a success status counts if the answer fits the request") {
    for (const int status : {200, 201, 204, 206}) {
        CHECK(move_after(answer(status)) == next_move::done);
    }
    s3::detail::call picky = getting;
    picky.check = [](const http::response& got, byte_range) { return got.find_header("etag").has_value(); };
    CHECK(judged(picky, answer(200)).move == next_move::again);
    CHECK(judged(picky, answer(200, {{"etag", "x"}})).move == next_move::done);
    // A call for a part is also answered by a 416 that says that the object ends before it.
    s3::detail::call part = getting;
    part.wanted = {10, 5};
    part.check = [](const http::response& got, byte_range wanted) {
        return s3::detail::part_in(got, wanted).has_value();
    };
    CHECK(judged(part, answer(416, {{"content-range", "bytes */10"}})).move == next_move::done);
    CHECK(judged(part, answer(416, {{"content-range", "bytes */11"}})).move == next_move::again);
    CHECK(judged(part, answer(416)).move == next_move::ask_size);
    CHECK(judged(part, answer(416, {{"content-range", "nonsense"}})).move == next_move::ask_size);
    CHECK(judged(getting, answer(416)).move == next_move::give_up);
}

TEST_CASE("retry_decision: passing states by status or code") {
    for (const int status : {408, 429, 500, 502, 503, 504, 509}) {
        CAPTURE(status);
        CHECK(move_after(answer(status)) == next_move::again);
    }
    for (const char* code : {"RequestTimeout", "SlowDown", "Throttling", "ThrottlingException", "RequestLimitExceeded",
                             "InternalError", "ServiceUnavailable", "OperationAborted", "ConditionalRequestConflict",
                             "IncompleteBody", "BadDigest", "XAmzContentSHA256Mismatch"}) {
        CAPTURE(code);
        CHECK(move_after(s3_error(400, code)) == next_move::again);
        // The region in such an answer is meaningless.
        CHECK(move_after(with(s3_error(400, code), "x-amz-bucket-region", "us-east-1")) == next_move::again);
    }
    for (const auto& [status, code] : std::vector<std::pair<int, const char*>>{{400, "InvalidArgument"},
                                                                               {401, ""},
                                                                               {403, "AccessDenied"},
                                                                               {403, "SignatureDoesNotMatch"},
                                                                               {403, "InvalidAccessKeyId"},
                                                                               {404, "NoSuchKey"},
                                                                               {404, "NoSuchBucket"},
                                                                               {405, "MethodNotAllowed"},
                                                                               {409, "BucketNotEmpty"},
                                                                               {411, "MissingContentLength"},
                                                                               {412, "PreconditionFailed"},
                                                                               {501, "NotImplemented"},
                                                                               {505, ""},
                                                                               {304, ""}}) {
        CAPTURE(status);
        CHECK(move_after(s3_error(status, code)) == next_move::give_up);
    }
}

TEST_CASE("retry_decision: Retry-After is passed on") {
    const auto when = [](http::response got) { return judged(getting, got).retry_after; };
    CHECK(when(answer(503, {{"retry-after", "3"}})) == 3s);
    CHECK(when(s3_error(503, "SlowDown")) == std::nullopt);
    CHECK(when(answer(503, {{"retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"}})) == std::nullopt);
}

TEST_CASE("retry_decision: the bucket's region, by header or body") {
    for (const int status : {301, 307, 308, 400}) {
        CAPTURE(status);
        const auto found = judged(getting, answer(status, {{"x-amz-bucket-region", "eu-west-1"}}));
        CHECK(found.move == next_move::to_region);
        CHECK(found.place == "eu-west-1");
    }
    const auto malformed = judged(
        getting, answer(400, {}, "<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-west-1</Region></Error>"));
    CHECK(malformed.move == next_move::to_region);
    CHECK(malformed.place == "eu-west-1");
    CHECK(judged(looking, answer(301, {{"x-amz-bucket-region", "eu-west-1"}})).move == next_move::to_region);
    // An invalid region must not get into a host name.
    for (const char* region : {"", "evil.test/", "EU", "eu_west_1"}) {
        CAPTURE(region);
        CHECK(move_after(answer(301, {{"x-amz-bucket-region", region}})) == next_move::give_up);
    }
}

TEST_CASE("retry_decision: another server, of which only the host counts") {
    const auto server = [](std::string where) {
        return judged(getting, answer(307, {{"location", std::move(where)}}));
    };
    for (const auto& [where, host] : std::vector<std::pair<const char*, const char*>>{
             {"https://b.s3-eu-west-1.amazonaws.com/key?x=1", "https://b.s3-eu-west-1.amazonaws.com"},
             {"http://localhost:81", "http://localhost:81"},
             {"http://localhost:81?x", "http://localhost:81"},
             {"HTTPS://H:443#x", "https://h"}}) {
        CAPTURE(where);
        CHECK(server(where).move == next_move::to_endpoint);
        CHECK(server(where).place == host);
    }
    for (const char* where : {"", "/key", "key", "ftp://h/", "https://", "https:///key", "//h/key", "https://a\\b/"}) {
        CAPTURE(where);
        CHECK(server(where).move == next_move::give_up);
        CHECK(server(where).place.empty());
    }
    // It is named, but never contacted.
    CHECK(server("https://u:p@h/").move == next_move::give_up);
    CHECK(server("https://u:p@h/").place == "https://h");
    CHECK(move_after(answer(307)) == next_move::give_up);
    CHECK(move_after(answer(302, {{"location", "https://h/"}})) == next_move::to_endpoint);
    CHECK(move_after(answer(303, {{"location", "https://h/"}})) == next_move::give_up);
}

TEST_CASE("retry_decision: expired keys and a wrong clock can be put right") {
    for (const char* code : {"ExpiredToken", "TokenRefreshRequired", "ExpiredTokenException", "RequestExpired"}) {
        CAPTURE(code);
        for (const int status : {400, 401, 403}) {
            CHECK(move_after(s3_error(status, code)) == next_move::renew_keys);
        }
        CHECK(move_after(with(s3_error(400, code), "x-amz-bucket-region", "us-east-1")) == next_move::renew_keys);
    }
    CHECK(move_after(s3_error(403, "RequestTimeTooSkewed")) == next_move::set_clock);
}

TEST_CASE("retry_decision: an answer to HEAD has no body; if needed, the reason is requested separately") {
    struct row {
        int status;
        next_move move;
    };
    for (const row& each : {
             row{400, next_move::ask_why},
             row{401, next_move::ask_why},
             row{403, next_move::ask_why},
             row{405, next_move::ask_why},
             row{409, next_move::ask_why},
             row{412, next_move::ask_why},
             row{404, next_move::give_up},
             row{429, next_move::again},
             row{503, next_move::again},
             row{200, next_move::done},
         }) {
        CAPTURE(each.status);
        CHECK(judged(looking, answer(each.status)).move == each.move);
    }
}
