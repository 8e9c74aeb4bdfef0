#include <smdebug/http/message.hpp>

#include <smdebug/core/bytes.hpp>

#include "support/test.hpp"

using namespace smdebug;

namespace {

http::detail::response_builder after_head(std::uint64_t most) {
    http::detail::response_builder made{most};
    made.take_line("HTTP/1.1 200 OK\r\n");
    made.take_line("\r\n");
    return made;
}

bool take(http::detail::response_builder& to, std::string_view text,
          std::optional<std::uint64_t> length = std::nullopt) {
    std::byte* const room = to.room_for(text.size(), length);
    if (room != nullptr) {
        std::copy_n(as_bytes(text).data(), text.size(), room);
    }
    return room != nullptr;
}

}  // namespace

TEST_CASE("response_builder: names in small letters, values without blanks around them") {
    http::detail::response_builder built{100};
    for (const char* line : {"HTTP/1.1 200 OK\r\n", "Content-TYPE: text/xml\r\n", "x-empty:\r\n", "X-Blank: \t \r\n",
                             "ETag:\t\"a:b\"  \n", "no header\r\n", "X-Amz-Id_2: \xC3\x84", "\r\n"}) {
        built.take_line(line);
    }
    const http::response& made = built.made;
    CHECK(made.answered());
    CHECK(made.body.empty());
    REQUIRE(made.headers.size() == 5);
    CHECK(made.headers[0] == http::header{"content-type", "text/xml"});
    CHECK(made.headers[1] == http::header{"x-empty", ""});
    CHECK(made.headers[2] == http::header{"x-blank", ""});
    CHECK(made.headers[3] == http::header{"etag", "\"a:b\""});
    CHECK(made.headers[4] == http::header{"x-amz-id_2", "\xC3\x84"});
}

TEST_CASE("response_builder: of several heads the last counts, and nothing that follows it") {
    http::detail::response_builder built{100};
    for (const char* line : {"HTTP/1.1 100 Continue", "x-early: 1", "", "HTTP/2 200", "x-late: 2", ""}) {
        built.take_line(line);
    }
    CHECK(take(built, "body"));
    built.take_line("x-trailer: 3");
    const http::response& made = built.made;
    REQUIRE(made.headers.size() == 1);
    CHECK(made.headers[0].name == "x-late");
}

TEST_CASE("response_builder: a body whose length was said is put in one place, and is whole when all has come") {
    http::detail::response_builder built = after_head(10);
    CHECK(built.whole());
    CHECK(take(built, "hello", 10));
    CHECK_FALSE(built.whole());
    CHECK(take(built, "", 10));
    CHECK(take(built, "world", 10));
    CHECK(built.whole());
    CHECK(built.made.body.size() == 10);
    CHECK_FALSE(take(built, "!", 10));
    CHECK(as_text(built.made.body.view()) == "helloworld");
}

TEST_CASE("response_builder: a body whose length was not said grows") {
    http::detail::response_builder built = after_head(10);
    CHECK(take(built, "hello"));
    CHECK(take(built, "world"));
    CHECK(built.whole());
    CHECK_FALSE(take(built, "!"));
    CHECK(as_text(built.made.body.view()) == "helloworld");
}

TEST_CASE("response_builder: a body that will be too long is not begun") {
    http::detail::response_builder built = after_head(10);
    CHECK_FALSE(take(built, "hello", 11));
    CHECK_FALSE(take(built, "hello", std::uint64_t{1} << 62U));  // more than fits into memory
    CHECK(built.made.body.size() == 0);
}

TEST_CASE("response_builder: is not whole before its head has ended") {
    http::detail::response_builder built{10};
    CHECK_FALSE(built.whole());
    built.take_line("HTTP/1.1 200 OK\r\n");
    CHECK_FALSE(built.whole());
    built.take_line("\r\n");
    CHECK(built.whole());
    built.take_line("HTTP/1.1 200 OK\r\n");
    CHECK_FALSE(built.whole());
}

TEST_CASE("not_answered: says why") {
    const http::response made = http::detail::not_answered(http::outcome::stalled, "words");
    CHECK_FALSE(made.answered());
    CHECK(made.outcome == http::outcome::stalled);
    CHECK(made.failure == "words");
}
