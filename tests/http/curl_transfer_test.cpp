#include <smdebug/http/curl_transfer.hpp>

#include <smdebug/core/bytes.hpp>
#include <smdebug/http/curl_engine.hpp>

#include <support/http_server.hpp>
#include "support/test.hpp"

using namespace smdebug;
using smdebug_test::http_server;

namespace {

constexpr auto for_ever = http::detail::curl_multi::clock::time_point::max();

/// A transfer for consecutive requests, and the connections that they share.
struct carrier {
    curl_options options;
    http::detail::curl_multi multi{4};
    http::detail::curl_transfer transfer{options};

    [[nodiscard]] http::response carry(const http::request& ask) {
        if (auto refused = transfer.begin(ask)) {
            return *std::move(refused);
        }
        REQUIRE(multi.add(transfer.handle()));
        for (;;) {
            multi.perform();
            if (const auto told = multi.next_finished()) {
                multi.remove(told->handle);
                return transfer.finish(told->how);
            }
            multi.wait_until(for_ever);
        }
    }
    [[nodiscard]] std::string text(const http::request& ask) {
        const http::response got = carry(ask);
        CHECK(got.answered());
        CHECK(got.status == 200);
        return std::string{as_text(got.body.view())};
    }
};

bool has_line(std::string_view lines, std::string_view line) {
    return ("\n" + std::string{lines}).find("\n" + std::string{line} + "\n") != std::string::npos;
}

bool is_pattern(byte_view bytes) {
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        if (bytes[at] != static_cast<std::byte>(at % 251)) {
            return false;
        }
    }
    return true;
}

}  // namespace

TEST_CASE("curl_transfer: what goes out is what was asked, and no more than HTTP needs") {
    http_server server;
    carrier with;
    using http::method;
    for (const method how : {method::get, method::put, method::post, method::remove, method::get}) {
        CAPTURE(http::name_of(how));
        const std::string said = with.text({.method = how,
                                            .url = server.url("/echo/a/./../b//c?x=%2F&y="),
                                            .headers = {{"x-amz-date", "today"}, {"x-empty", ""}},
                                            .body = as_bytes("hello")});
        const std::string_view head = std::string_view{said}.substr(0, said.find("\n\n") + 1);
        CHECK(head.starts_with(std::string{http::name_of(how)} + " /echo/a/./../b//c?x=%2F&y=\n"));
        CHECK(has_line(head, "Host: 127.0.0.1:" + server.port()));
        CHECK(has_line(head, "x-amz-date: today"));
        CHECK(has_line(head, "x-empty:"));
        CHECK(has_line(head, "User-Agent: smdebug-cpp/0.1.0"));
        const bool has_body = how == method::put || how == method::post;
        CHECK(has_line(head, "Content-Length: 5") == has_body);
        CHECK(said.ends_with("\n\nhello") == has_body);
        // Method, five headers, and the length.
        CHECK(std::count(head.begin(), head.end(), '\n') == (has_body ? 7 : 6));
    }
}

TEST_CASE("curl_transfer: an empty body has the length 0") {
    http_server server;
    carrier with;
    for (const http::method how : {http::method::put, http::method::post}) {
        const std::string said = with.text({.method = how, .url = server.url("/echo")});
        CHECK(has_line(said, "Content-Length: 0"));
        CHECK_FALSE(has_line(said, "Transfer-Encoding: chunked"));
    }
}

TEST_CASE("curl_transfer: bodies come whole, with a length, in chunks, or until the connection ends") {
    http_server server;
    carrier with;
    for (const char* path : {"/bytes/1", "/bytes/300000", "/bytes/3000000", "/chunked/1/1", "/chunked/300000/7001",
                             "/to-the-end/300000", "/close/300000"}) {
        CAPTURE(path);
        const http::response got = with.carry({.url = server.url(path)});
        CHECK(got.answered());
        CHECK(got.status == 200);
        const std::string size = std::string{path}.substr(std::string{path}.find('/', 1) + 1);
        CHECK(got.body.size() == std::stoul(size));
        CHECK(is_pattern(got.body.view()));
    }
    CHECK(with.carry({.url = server.url("/bytes/0")}).body.empty());
    const http::response chunks = with.carry({.url = server.url("/chunked/10/3")});
    CHECK_FALSE(chunks.find_header("x-trailer").has_value());
}

TEST_CASE("curl_transfer: any status is an answer; redirections are not followed") {
    http_server server;
    carrier with;
    for (const int status : {200, 204, 304, 400, 403, 404, 416, 500, 503}) {
        const http::response got = with.carry({.url = server.url("/status/" + std::to_string(status))});
        CHECK(got.answered());
        CHECK(got.status == status);
        CHECK(as_text(got.body.view()) == (status == 204 || status == 304 ? "" : "said"));
    }
    const http::response moved = with.carry({.url = server.url("/redirect")});
    CHECK(moved.status == 301);
    CHECK(moved.find_header("location") == "/bytes/1");
    CHECK(as_text(moved.body.view()) == "moved");
    CHECK(with.text({.url = server.url("/count/bytes/1")}) == "0");
}

TEST_CASE("curl_transfer: an answer to HEAD may have a length beyond any limit, and has no body") {
    http_server server;
    carrier with;
    const http::response got =
        with.carry({.method = http::method::head, .url = server.url("/length/5000000000"), .most = 10});
    CHECK(got.answered());
    CHECK(got.status == 200);
    CHECK(got.find_header("content-length") == "5000000000");
    CHECK(got.body.empty());
    CHECK(as_text(with.carry({.url = server.url("/status/200")}).body.view()) == "said");
}

TEST_CASE("curl_transfer: names of headers in small letters, of the last head alone") {
    http_server server;
    carrier with;
    const http::response got = with.carry({.url = server.url("/headers")});
    CHECK(got.find_header("x-mixed-case") == "blanks around");
    CHECK(got.find_header("etag") == "\"a:b\"");
    CHECK(got.find_header("x-empty") == "");
    const http::response after = with.carry({.url = server.url("/continue")});
    CHECK(after.status == 200);
    CHECK_FALSE(after.find_header("x-early").has_value());
    CHECK(after.find_header("x-late") == "2");
    CHECK(as_text(after.body.view()) == "go");
    CHECK(with.carry({.url = server.url("/long-header/50000")}).find_header("x-long")->size() == 50000);
}

TEST_CASE("curl_transfer: what is cut is interrupted, wherever that happens") {
    http_server server;
    carrier with;
    for (const char* path :
         {"/short/1000", "/short/3000000", "/short-chunks", "/cut/", "/cut/HT", "/cut/HTTP/1.1+200+OK~",
          "/cut/HTTP/1.1+200+OK~Content-Len", "/cut/HTTP/1.1+200+OK~Content-Length:+0~", "/cut/HTTP/1.1+100+Continue~~",
          "/cut/no+HTTP+at+all~", "/long-header/300000"}) {
        CAPTURE(path);
        const http::response got = with.carry({.url = server.url(path)});
        CHECK(got.outcome == http::outcome::interrupted);
        CHECK_FALSE(got.failure.empty());
        CHECK(got.body.empty());
        CHECK(got.headers.empty());
    }
}

TEST_CASE("curl_transfer: a body beyond the limit is given up, with or without a declared length") {
    http_server server;
    carrier with;
    for (const char* path : {"/bytes/100001", "/chunked/100001/5000", "/to-the-end/100001"}) {
        CAPTURE(path);
        const http::response got = with.carry({.url = server.url(path), .most = 100000});
        CHECK(got.outcome == http::outcome::too_long);
        CHECK(got.failure.find("100000 bytes") != std::string::npos);
        CHECK(got.body.empty());
    }
    CHECK(with.carry({.url = server.url("/bytes/100000"), .most = 100000}).answered());
    CHECK(with.carry({.url = server.url("/chunked/100000/5000"), .most = 100000}).answered());
    CHECK(with.carry({.url = server.url("/bytes/0"), .most = 0}).answered());
}

TEST_CASE("curl_transfer: a closed port and an unknown name are unreachable") {
    carrier with;
    const http::response closed = with.carry({.url = "http://127.0.0.1:1/secret-path?secret-query"});
    CHECK(closed.outcome == http::outcome::unreachable);
    CHECK(closed.failure.find("127.0.0.1") != std::string::npos);
    CHECK(closed.failure.find("secret") == std::string::npos);
}

TEST_CASE("curl_transfer: what can never work is refused, before anything is sent") {
    carrier with;
    for (const char* url : {"", "ftp://127.0.0.1/", "file:///etc/passwd", "127.0.0.1:1", "http://user:word@127.0.0.1/",
                            "http://127.0.0.1:99999/", "http://127.0.0.1/a b"}) {
        CAPTURE(url);
        const http::response got = with.carry({.url = url});
        CHECK(got.outcome == http::outcome::refused);
        CHECK_FALSE(got.failure.empty());
        CHECK(got.failure.find("word") == std::string::npos);
    }
    const http::response two = with.carry({.url = "http://127.0.0.1:1/", .headers = {{"x-a", "1\r\nx-b: 2"}}});
    CHECK(two.outcome == http::outcome::refused);
}

TEST_CASE("curl_transfer: on a kept connection that turns out to be closed, only GET and HEAD are sent again") {
    http_server server;
    for (const http::method how :
         {http::method::get, http::method::put, http::method::post, http::method::remove, http::method::head}) {
        CAPTURE(http::name_of(how));
        carrier with;
        REQUIRE(with.carry({.url = server.url("/status/200")}).answered());
        const int before = std::stoi(with.text({.url = server.url("/count/once")}));
        const bool may_again = how == http::method::get || how == http::method::head;
        for (const char* body : {"", "hello"}) {
            const http::response got = with.carry({.method = how, .url = server.url("/once"), .body = as_bytes(body)});
            CHECK(got.outcome == (may_again ? http::outcome::answered : http::outcome::interrupted));
            const http::response next = with.carry({.url = server.url("/status/200")});
            CAPTURE(next.failure);
            REQUIRE(next.answered());
        }
        const int after = std::stoi(with.text({.url = server.url("/count/once")}));
        CHECK(after - before == (may_again ? 4 : 2));
    }
}

TEST_CASE("curl_transfer: an answer that comes before the body was read is an answer") {
    http_server server;
    carrier with;
    const std::string body(10U << 20U, 'x');
    const http::response got =
        with.carry({.method = http::method::put, .url = server.url("/early/403"), .body = as_bytes(body)});
    CHECK(got.answered());
    CHECK(got.status == 403);
    CHECK(as_text(got.body.view()) == "not wanted");
}

TEST_CASE("curl_transfer: counts what it did") {
    http_server server;
    carrier with;
    const http::request ask{.url = server.url("/bytes/10")};
    REQUIRE_FALSE(with.transfer.begin(ask).has_value());
    CHECK(with.transfer.connections_opened() == 0);
    REQUIRE(with.multi.add(with.transfer.handle()));
    std::optional<http::detail::curl_multi::finished> told;
    while (!(told = with.multi.next_finished())) {
        with.multi.wait_until(for_ever);
        with.multi.perform();
    }
    CHECK(with.transfer.connections_opened() == 1);
    CHECK(with.transfer.bytes_received() == 10);
    CHECK_FALSE(with.transfer.is_http2());
    with.multi.remove(told->handle);
    CHECK(with.transfer.finish(told->how).answered());
    CHECK(with.transfer.reusable());
    CHECK_FALSE(with.carry({.url = server.url("/short/10")}).answered());
    CHECK_FALSE(with.transfer.reusable());
}

TEST_CASE("curl_transfer: is overdue when its deadline has passed, or nothing has moved since it was connected") {
    using namespace std::chrono_literals;
    http_server server;
    carrier with;
    const auto begin = http::request::clock::now();
    const http::request ask{.url = server.url("/silent"), .stalled_after = 10s, .deadline = begin + 1h};
    REQUIRE_FALSE(with.transfer.begin(ask).has_value());
    // It connects: that has a separate time limit.
    CHECK_FALSE(with.transfer.overdue(begin + 30min).has_value());
    CHECK(with.transfer.due() == begin + 1h);
    CHECK(with.transfer.overdue(begin + 1h)->outcome == http::outcome::timed_out);

    REQUIRE(with.multi.add(with.transfer.handle()));
    while (with.transfer.due() == begin + 1h) {
        with.multi.perform();
        with.multi.wait_until(begin);
        CHECK_FALSE(with.transfer.overdue(begin).has_value());
    }
    CHECK(with.transfer.due() == begin + 10s);
    CHECK_FALSE(with.transfer.overdue(begin + 9999ms).has_value());
    const auto stalled = with.transfer.overdue(begin + 10s);
    REQUIRE(stalled.has_value());
    CHECK(stalled->outcome == http::outcome::stalled);
    CHECK(stalled->failure.find("10000 ms") != std::string::npos);
    CHECK(with.transfer.overdue(begin + 2h)->outcome == http::outcome::timed_out);
    with.multi.remove(with.transfer.handle());
}

TEST_CASE("curl_transfer: any patience will do") {
    carrier with;
    for (const auto patience : {std::chrono::milliseconds::max(), std::chrono::milliseconds::min()}) {
        const http::request ask{.url = "http://127.0.0.1:1/",
                                .connect_within = patience,
                                .stalled_after = std::chrono::milliseconds::max()};
        CHECK(with.carry(ask).outcome == http::outcome::unreachable);
    }
}
