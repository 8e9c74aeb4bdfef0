#include <smdebug/http/message.hpp>
#include <smdebug/s3/credentials/metadata_exchange.hpp>

#include "support/fake_s3.hpp"
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;
using namespace std::chrono_literals;
using s3::detail::keys_outcome;

namespace {

// The number of exchanges for these consecutive outcomes; the last one repeats.
int times_asked(const s3::detail::metadata_limits& limits, const std::vector<keys_outcome>& outcomes,
                keys_outcome& last) {
    int asked = 0;
    last = s3::detail::ask_repeatedly(limits, [&](auto) {
               const std::size_t at = std::min(static_cast<std::size_t>(asked++), outcomes.size() - 1);
               return s3::detail::keys_answer{outcomes[at], {}, {}};
           }).outcome;
    return asked;
}

}  // namespace

TEST_CASE("metadata_exchange: a request is short, and ends when the conversation does") {
    using clock = http::request::clock;
    const s3::detail::metadata_limits limits{.connect_within = 300ms, .answer_within = 1h, .altogether = 2h};
    const auto latest = clock::now() + 10min;
    const auto bounded = s3::detail::metadata_request(http::method::put, "http://a/b", limits, latest);
    CHECK(bounded.method == http::method::put);
    CHECK(bounded.url == "http://a/b");
    CHECK(bounded.connect_within == 300ms);
    CHECK(bounded.deadline == latest);
    CHECK(bounded.most == 64 * 1024);
    CHECK(bounded.headers.empty());
    const auto own = s3::detail::metadata_request(http::method::get, "http://a/b", limits, clock::now() + 3h);
    CHECK(own.deadline <= clock::now() + limits.answer_within);
}

TEST_CASE("metadata_exchange: what answers without keys mean") {
    const auto outcome = [](http::response got) { return s3::detail::without_keys(got, "there").outcome; };
    for (const int status : {408, 429, 500, 502, 503}) {
        CAPTURE(status);
        CHECK(outcome(answer(status)) == keys_outcome::failing);
    }
    for (const int status : {301, 400, 401, 403, 404}) {
        CAPTURE(status);
        CHECK(outcome(answer(status)) == keys_outcome::refused);
    }
    CHECK(outcome(no_answer(http::outcome::refused)) == keys_outcome::refused);
    CHECK(outcome(no_answer(http::outcome::unreachable)) == keys_outcome::unreachable);
    CHECK(outcome(no_answer(http::outcome::timed_out)) == keys_outcome::unreachable);
    CHECK(s3::detail::without_keys(answer(403, {}, "body"), "there").seen == "there (it answers with status 403)");
    CHECK(s3::detail::without_keys(no_answer(http::outcome::stalled, "silence"), "there").seen ==
          "there (no answer: silence)");
}

TEST_CASE("metadata_exchange: asks again while that may help, a few times") {
    const s3::detail::metadata_limits limits{.tries = 3, .pause = 0ms, .altogether = 1h};
    keys_outcome last{};
    CHECK(times_asked(limits, {keys_outcome::found}, last) == 1);
    CHECK(times_asked(limits, {keys_outcome::nothing_there}, last) == 1);
    CHECK(times_asked(limits, {keys_outcome::refused}, last) == 1);
    CHECK(times_asked(limits, {keys_outcome::unreachable, keys_outcome::failing, keys_outcome::found}, last) == 3);
    CHECK(last == keys_outcome::found);
    CHECK(times_asked(limits, {keys_outcome::failing}, last) == 3);
    CHECK(last == keys_outcome::failing);
    CHECK(times_asked(limits, {keys_outcome::unreachable, keys_outcome::refused}, last) == 2);
    CHECK(last == keys_outcome::refused);
}

TEST_CASE("metadata_exchange: no more tries when the time is up") {
    keys_outcome last{};
    CHECK(times_asked({.tries = 1000, .pause = 1h, .altogether = 1s}, {keys_outcome::failing}, last) == 1);
    CHECK(times_asked({.tries = 1000, .pause = 0ms, .altogether = 0ms}, {keys_outcome::failing}, last) == 1);
    CHECK(times_asked({.tries = 0, .pause = 0ms, .altogether = 1h}, {keys_outcome::failing}, last) == 1);
}
