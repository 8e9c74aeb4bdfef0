#include <smdebug/http/message.hpp>

#include "support/test.hpp"

using namespace smdebug;

static_assert(http::name_of(http::method::get) == "GET");
static_assert(http::name_of(http::method::head) == "HEAD");
static_assert(http::name_of(http::method::put) == "PUT");
static_assert(http::name_of(http::method::post) == "POST");
static_assert(http::name_of(http::method::remove) == "DELETE");

TEST_CASE("response: the first header of a name is found, and nothing where there is none") {
    http::response held;
    CHECK(held.find_header("etag") == std::nullopt);
    held.headers = {{"date", "today"}, {"etag", ""}, {"etag", "second"}};
    CHECK(held.find_header("date") == std::optional<std::string_view>{"today"});
    CHECK(held.find_header("etag") == std::optional<std::string_view>{""});
    CHECK(held.find_header("ETag") == std::nullopt);
    CHECK(held.find_header("eta") == std::nullopt);
}

TEST_CASE("response: is answered whatever the status, and by no other outcome") {
    http::response held;
    for (const int status : {200, 404, 503}) {
        held.status = status;
        CHECK(held.answered());
    }
    using enum http::outcome;
    for (const http::outcome why : {unreachable, interrupted, stalled, timed_out, too_long, refused}) {
        held.outcome = why;
        CHECK_FALSE(held.answered());
    }
}

TEST_CASE("request: is a GET without limits of its own making") {
    const http::request ask;
    CHECK(ask.method == http::method::get);
    CHECK(ask.body.empty());
    CHECK(ask.deadline == http::request::clock::time_point::max());
}
