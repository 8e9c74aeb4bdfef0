#include <smdebug/http/curl_engine.hpp>

#include <smdebug/core/bytes.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <support/http_server.hpp>
#include "support/test.hpp"

using namespace smdebug;
using smdebug_test::http_server;
using std::chrono::milliseconds;

namespace {

constexpr auto for_ever = http::completion_queue::clock::time_point::max();

/// An engine, an inbox for all answers, and jobs that are cancelled at the end.
struct desk {
    explicit desk(curl_options options = {}) : engine(std::move(options)) {}
    desk(const desk&) = delete;
    desk& operator=(const desk&) = delete;
    ~desk() {
        for (const auto& job : jobs) {
            engine.cancel(*job);
        }
    }

    std::size_t start(http::request ask) {
        jobs.push_back(std::make_shared<http::detail::curl_engine::job>(std::move(ask), answers, jobs.size()));
        engine.start(jobs.back());
        return jobs.size() - 1;
    }
    [[nodiscard]] http::arrival take() { return *answers.take_until(for_ever); }
    [[nodiscard]] bool is_empty() { return !answers.take_until(http::completion_queue::clock::now()).has_value(); }
    [[nodiscard]] http::response ask(http::request what) {
        const std::size_t ticket = start(std::move(what));
        http::arrival got = take();
        CHECK(got.ticket == ticket);
        return std::move(got.response);
    }

    http::completion_queue answers;
    std::vector<std::shared_ptr<http::detail::curl_engine::job>> jobs;
    http::detail::curl_engine engine;
};

http::request::clock::time_point in(milliseconds time) { return http::request::clock::now() + time; }

/// Listens, but its backlog is full: a client that connects gets no answer.
class full_listener {
public:
    full_listener() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        address_.sin_family = AF_INET;
        address_.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
        ::socklen_t size = sizeof address_;
        auto* const where = reinterpret_cast<::sockaddr*>(&address_);
        REQUIRE(::bind(listener_, where, size) == 0);
        REQUIRE(::listen(listener_, 0) == 0);
        REQUIRE(::getsockname(listener_, where, &size) == 0);
        for (int& waiting : waiting_) {
            waiting = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
            static_cast<void>(::connect(waiting, where, size));
        }
    }
    full_listener(const full_listener&) = delete;
    full_listener& operator=(const full_listener&) = delete;
    ~full_listener() {
        for (const int waiting : waiting_) {
            ::close(waiting);
        }
        ::close(listener_);
    }
    [[nodiscard]] std::string url() const {
        return "http://127.0.0.1:" + std::to_string(::ntohs(address_.sin_port)) + "/";
    }

private:
    int listener_;
    ::sockaddr_in address_ = {};
    std::array<int, 8> waiting_{};
};

}  // namespace

TEST_CASE("curl_engine: as many requests are under way at once as there may be connections") {
    http_server server;
    desk with{{.most_in_flight = 20, .most_connections = 20}};
    for (int number = 0; number < 20; ++number) {
        with.start({.url = server.url("/gather/20")});  // answers once all have arrived
    }
    for (int number = 0; number < 20; ++number) {
        CHECK(with.take().response.status == 200);
    }
    CHECK(with.engine.counters().connections == 20);
}

TEST_CASE("curl_engine: no more connections than allowed, and these are used again") {
    http_server server;
    for (const curl_options& options :
         {curl_options{.most_in_flight = 3}, curl_options{.most_connections = 3}, curl_options{.most_in_flight = 0}}) {
        desk with{options};
        for (int number = 0; number < 60; ++number) {
            with.start({.url = server.url("/bytes/" + std::to_string(number))});
        }
        for (int number = 0; number < 60; ++number) {
            const http::arrival got = with.take();
            CHECK(got.response.answered());
            CHECK(got.response.body.size() == got.ticket);
        }
        const auto counted = with.engine.counters();
        CHECK(counted.requests == 60);
        CHECK(counted.connections <= 3);
        CHECK(counted.bytes_received == 59 * 60 / 2);
        CHECK(counted.http2_answers == 0);
    }
}

TEST_CASE("curl_engine: waiting requests are sent in order") {
    http_server server;
    desk with{{.most_in_flight = 1}};
    for (int number = 0; number < 20; ++number) {
        with.start({.url = server.url("/bytes/1")});
    }
    for (std::size_t number = 0; number < 20; ++number) {
        CHECK(with.take().ticket == number);
    }
}

TEST_CASE("curl_engine: a deadline ends a request wherever it stands") {
    http_server server;
    desk with{{.most_in_flight = 1}};
    SUBCASE("under way") {
        const http::response got = with.ask({.url = server.url("/silent"), .deadline = in(milliseconds{50})});
        CHECK(got.outcome == http::outcome::timed_out);
        CHECK_FALSE(got.failure.empty());
    }
    SUBCASE("in the middle of a body") {
        const http::response got = with.ask({.url = server.url("/stall/100"), .deadline = in(milliseconds{50})});
        CHECK(got.outcome == http::outcome::timed_out);
        CHECK(got.body.empty());
    }
    SUBCASE("before its turn") {
        const std::size_t first = with.start({.url = server.url("/hold/a")});
        for (int number = 3; number-- > 0;) {
            with.start({.url = server.url("/echo"), .deadline = in(milliseconds{10 + 20 * number})});
        }
        for (int number = 0; number < 3; ++number) {
            const http::arrival got = with.take();
            CHECK(got.ticket != first);
            CHECK(got.response.outcome == http::outcome::timed_out);
        }
        desk other;
        CHECK(other.ask({.url = server.url("/release/a")}).answered());
        CHECK(with.take().ticket == first);
        CHECK(with.engine.counters().requests == 1);
    }
    SUBCASE("before it began") {
        const http::response got = with.ask({.url = server.url("/echo"), .deadline = in(milliseconds{-1})});
        CHECK(got.outcome == http::outcome::timed_out);
        CHECK(with.engine.counters().requests == 0);
    }
    SUBCASE("while it connects") {
        const full_listener full;
        const http::response got = with.ask({.url = full.url(), .deadline = in(milliseconds{50})});
        CHECK(got.outcome == http::outcome::timed_out);
    }
    CHECK(with.ask({.url = server.url("/echo"), .deadline = in(std::chrono::minutes{1})}).answered());
}

TEST_CASE("curl_engine: a connection that does not come about in time is unreachable") {
    const full_listener full;
    desk with;
    const http::response got = with.ask({.url = full.url(), .connect_within = milliseconds{50}});
    CHECK(got.outcome == http::outcome::unreachable);
    CHECK_FALSE(got.failure.empty());
}

TEST_CASE("curl_engine: when no byte moves for long, it is stalled") {
    http_server server;
    desk with;
    const milliseconds patience{60};
    for (const char* path : {"/silent", "/stall/1000", "/stall/3000000"}) {
        CAPTURE(path);
        const http::response got = with.ask({.url = server.url(path), .stalled_after = patience});
        CHECK(got.outcome == http::outcome::stalled);
        CHECK(got.failure.find("60 ms") != std::string::npos);
    }
    const std::string body(64U << 20U, 'x');
    const http::response unread = with.ask(
        {.method = http::method::put, .url = server.url("/unread"), .body = as_bytes(body), .stalled_after = patience});
    CHECK(unread.outcome == http::outcome::stalled);
}

TEST_CASE("curl_engine: a body that comes slowly is not stalled") {
    http_server server;
    desk with;
    const http::response got =
        with.ask({.url = server.url("/trickle/25/100"), .stalled_after = std::chrono::seconds{2}});
    CHECK(got.answered());
    CHECK(got.body.size() == 25);
}

TEST_CASE("curl_engine: a body that trickles is stalled, or ends at the deadline; one that keeps its speed goes on") {
    http_server server;
    desk with;
    const std::string trickling = server.url("/trickle/100/10");  // at most 100 bytes a second
    const auto soon = [] { return http::request::clock::now() + milliseconds{300}; };
    const http::response slow = with.ask({.url = trickling, .stalled_after = milliseconds{200}, .least_speed = 1000});
    CHECK(slow.outcome == http::outcome::stalled);
    CHECK(slow.failure.find("less than 1000 bytes a second for 200 ms") != std::string::npos);
    CHECK(with.ask({.url = trickling, .deadline = soon(), .least_speed = 1000}).outcome == http::outcome::timed_out);
    CHECK(with.ask({.url = trickling, .deadline = soon()}).outcome == http::outcome::timed_out);
    CHECK(with.ask({.url = server.url("/silent"), .deadline = soon(), .least_speed = 1}).outcome ==
          http::outcome::timed_out);
    const http::response quick = with.ask({.url = trickling, .deadline = soon(), .least_speed = 2});
    CHECK(quick.answered());
    CHECK(quick.body.size() == 100);
}

TEST_CASE("curl_engine: a request that is cancelled while it waits is never sent") {
    http_server server;
    desk with{{.most_in_flight = 1}};
    with.start({.url = server.url("/hold/a")});
    for (int number = 0; number < 10; ++number) {
        with.start({.url = server.url("/bytes/1")});
    }
    for (const std::size_t which : {1U, 5U, 10U, 5U}) {
        with.engine.cancel(*with.jobs[which]);
    }
    desk other;
    CHECK(other.ask({.url = server.url("/release/a")}).answered());
    for (const std::size_t ticket : {0U, 2U, 3U, 4U, 6U, 7U, 8U, 9U}) {
        CHECK(with.take().ticket == ticket);
    }
    CHECK(with.is_empty());
    CHECK(with.engine.counters().requests == 8);
}

TEST_CASE("curl_engine: cancelling a request in flight makes room for the next") {
    http_server server;
    desk with{{.most_in_flight = 2}};
    desk other;
    const std::string body(1000, 'x');
    for (int round = 0; round < 10; ++round) {
        const std::string path = "/hold/never" + std::to_string(round);
        const std::size_t first = with.start({.url = server.url(path)});
        const std::size_t second =
            with.start({.method = http::method::put, .url = server.url(path), .body = as_bytes(body)});
        CHECK(other.ask({.url = server.url("/await/2" + path)}).answered());
        const std::size_t third = with.start({.url = server.url("/bytes/1")});
        with.engine.cancel(*with.jobs[first]);
        with.engine.cancel(*with.jobs[second]);
        CHECK(with.take().ticket == third);
        CHECK(with.is_empty());
    }
}

TEST_CASE("curl_engine: cancelled at any time, a job is answered before or never, and its body may go at once") {
    http_server server;
    http::detail::curl_engine engine{{}};
    constexpr int rounds = 300;
    int answered = 0;
    for (int round = 0; round < rounds; ++round) {
        http::completion_queue answers;
        const bool sends = round % 2 == 0;
        auto body = std::make_unique<std::string>(sends ? 2U << 20U : 0U, 'x');
        const auto job = std::make_shared<http::detail::curl_engine::job>(
            http::request{.method = sends ? http::method::put : http::method::get,
                          .url = server.url(sends ? "/upload" : "/bytes/100"),
                          .body = as_bytes(*body)},
            answers, 0);
        engine.start(job);
        std::this_thread::sleep_for(std::chrono::microseconds{round * (sends ? 40 : 6)});
        engine.cancel(*job);
        body.reset();
        if (const auto got = answers.take_until(http::completion_queue::clock::now())) {
            CHECK(got->response.answered());
            ++answered;
        }
        CHECK_FALSE(answers.take_until(http::completion_queue::clock::now()).has_value());
        engine.cancel(*job);
    }
    MESSAGE(answered << " of " << rounds << " were quicker");
}

TEST_CASE("curl_engine: ends with requests under way that were cancelled") {
    http_server server;
    for (int round = 0; round < 20; ++round) {
        desk with;
        for (int number = 0; number < 40; ++number) {
            with.start({.url = server.url(number % 2 == 0 ? "/hold/never" : "/bytes/100000")});
        }
        if (round % 2 == 0) {
            static_cast<void>(with.take());
        }
    }
}

TEST_CASE("curl_engine: what cannot be sent is refused in its turn") {
    desk with{{.most_in_flight = 1}};
    for (int round = 0; round < 3; ++round) {
        CHECK(with.ask({.url = "nowhere"}).outcome == http::outcome::refused);
        CHECK(with.ask({.url = "http://127.0.0.1:1/"}).outcome == http::outcome::unreachable);
    }
    CHECK(with.engine.counters().connections == 0);
    CHECK(with.engine.is_here());
}
