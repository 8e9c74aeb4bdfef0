#include <smdebug/http/curl_transport.hpp>

#include <smdebug/core/bytes.hpp>

#include "support/skipped.hpp"
#include "support/test.hpp"

#include <http/tls_proxy.hpp>
#include <support/child_process.hpp>
#include <support/http_server.hpp>
#include <support/sanitized.hpp>
#include <support/temporary_folder.hpp>

using namespace smdebug;
using namespace smdebug_test;

namespace {

constexpr auto for_ever = http::completion_queue::clock::time_point::max();

// The body as the server makes and expects it.
std::string pattern(std::size_t size) {
    std::string made(size, '\0');
    for (std::size_t at = 0; at < size; ++at) {
        made[at] = static_cast<char>(at % 251);
    }
    return made;
}

std::ptrdiff_t threads_of_this_process() {
    return std::distance(std::filesystem::directory_iterator{"/proc/self/task"}, std::filesystem::directory_iterator{});
}

std::string text_of(const http::response& held) { return std::string{as_text(held.body.view())}; }

}  // namespace

static_assert(std::is_copy_constructible_v<curl_transport> && std::is_final_v<curl_transport>);

TEST_CASE("curl_transport: a thousand small requests go over a few connections") {
    http_server server;
    const curl_transport transport;
    http::completion_queue answers;
    std::vector<std::unique_ptr<http_transport::exchange>> exchanges;
    constexpr std::size_t count = 1000;
    for (std::size_t number = 0; number < count; ++number) {
        exchanges.push_back(transport.start({.url = server.url("/bytes/" + std::to_string(number))}, answers, number));
    }
    std::vector<int> seen(count, 0);
    for (std::size_t number = 0; number < count; ++number) {
        const auto got = answers.take_until(for_ever);
        ++seen.at(got->ticket);
        CHECK(got->response.answered());
        CHECK(text_of(got->response) == pattern(got->ticket));
    }
    CHECK(seen == std::vector<int>(count, 1));
    CHECK_FALSE(answers.take_until(http::completion_queue::clock::now()).has_value());
    CHECK(transport.counters().requests == count);
    CHECK(transport.counters().bytes_received == count * (count - 1) / 2);
    CHECK(transport.counters().connections <= curl_options{}.most_connections);
}

TEST_CASE("curl_transport: one after the other over one connection, of all copies") {
    http_server server;
    const curl_transport transport;
    const curl_transport copy = transport;
    for (int round = 0; round < 50; ++round) {
        CHECK(perform(round % 2 == 0 ? transport : copy, {.url = server.url("/bytes/10")}).status == 200);
    }
    CHECK(transport.counters().connections == 1);
    CHECK(copy.counters().requests == 50);
    CHECK(text_of(perform(copy, {.url = server.url("/connections")})) == "1");
    CHECK(curl_transport{}.counters().requests == 0);
}

TEST_CASE("curl_transport: its thread is there from the first request to the last copy or exchange") {
    http_server server;
    const auto before = threads_of_this_process();
    std::optional<curl_transport> first{std::in_place};
    std::optional<curl_transport> second = first;
    CHECK(threads_of_this_process() == before);
    REQUIRE(perform(*first, {.url = server.url("/bytes/1")}).answered());
    REQUIRE(perform(*second, {.url = server.url("/bytes/1")}).answered());
    CHECK(threads_of_this_process() == before + 1);
    first.reset();
    CHECK(threads_of_this_process() == before + 1);
    SUBCASE("copy") {}
    SUBCASE("exchange") {
        http::completion_queue answers;
        const auto exchange = second->start({.url = server.url("/bytes/1")}, answers, 3);
        second.reset();
        CHECK(answers.take_until(for_ever)->ticket == 3);
        CHECK(threads_of_this_process() == before + 1);
    }
    second.reset();
    // The system may still list a thread for a moment after it was joined.
    for (int tries = 0; tries < 1000 && threads_of_this_process() > before; ++tries) {
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    CHECK(threads_of_this_process() == before);
}

TEST_CASE("curl_transport: bodies of all sizes go up and come down whole") {
    http_server server;
    const curl_transport transport;
    for (const std::size_t size : {0U, 1U, 100U, 65536U, 300000U, 10U << 20U}) {
        const std::string body = pattern(size);
        for (const http::method how : {http::method::put, http::method::post}) {
            const http::response got =
                perform(transport, {.method = how, .url = server.url("/upload"), .body = as_bytes(body)});
            CHECK(text_of(got) == std::to_string(size) + " right");
        }
        CHECK(text_of(perform(transport, {.url = server.url("/bytes/" + std::to_string(size))})) == body);
    }
}

TEST_CASE("curl_transport: many threads ask at once, each hears its own answers") {
    http_server server;
    const curl_transport transport;
    constexpr std::size_t each = sanitized ? 20 : 60;
    std::vector<std::size_t> right(6, 0);
    {
        std::vector<std::jthread> threads;
        for (std::size_t which = 0; which < right.size(); ++which) {
            threads.emplace_back([&, which, copy = transport] {
                for (std::size_t number = 0; number < each; ++number) {
                    const std::size_t size = 1000 * which + number;
                    const std::string body = pattern(size);
                    const std::string said = std::to_string(size);
                    if (text_of(perform(copy, {.url = server.url("/bytes/" + said)})) == body &&
                        text_of(perform(copy, {.method = http::method::put,
                                               .url = server.url("/upload"),
                                               .body = as_bytes(body)})) == said + " right") {
                        ++right[which];
                    }
                }
            });
        }
    }
    CHECK(right == std::vector<std::size_t>(right.size(), each));
    CHECK(transport.counters().connections <= right.size());
}

TEST_CASE("curl_transport: exchanges that are gone are not heard of, in whatever state they were") {
    http_server server;
    const curl_transport transport{{.most_in_flight = 8}};
    for (int round = 0; round < 30; ++round) {
        const auto answers = std::make_unique<http::completion_queue>();
        std::vector<std::unique_ptr<http_transport::exchange>> exchanges;
        for (std::size_t number = 0; number < 24; ++number) {
            exchanges.push_back(transport.start({.url = server.url("/bytes/1000")}, *answers, number));
        }
        for (int taken = 0; taken < round; ++taken) {
            static_cast<void>(answers->take_until(http::completion_queue::clock::now()));
        }
        if (round % 3 == 0) {
            std::swap(exchanges.front(), exchanges.back());
            exchanges.front() = std::move(exchanges[1]);
        } else if (round % 3 == 1) {
            exchanges.clear();
        }
    }
    CHECK(perform(transport, {.url = server.url("/bytes/1")}).answered());
}

TEST_CASE("curl_transport: a transport may go while its requests are under way; exchanges keep what they need") {
    http_server server;
    http::completion_queue answers;
    std::vector<std::unique_ptr<http_transport::exchange>> exchanges;
    {
        const curl_transport transport{{.most_in_flight = 4}};
        for (std::size_t number = 0; number < 20; ++number) {
            exchanges.push_back(transport.start({.url = server.url("/bytes/10000")}, answers, number));
        }
    }
    for (std::size_t number = 0; number < 20; ++number) {
        CHECK(answers.take_until(for_ever)->response.answered());
    }
    {
        const curl_transport transport;
        exchanges.push_back(transport.start({.url = server.url("/hold/never")}, answers, 20));
        exchanges.push_back(transport.start({.url = server.url("/silent")}, answers, 21));
    }
    exchanges.clear();
    CHECK_FALSE(answers.take_until(http::completion_queue::clock::now()).has_value());
}

TEST_CASE("curl_transport: a server that goes away and comes back") {
    const curl_transport transport;
    http_server server;
    CHECK(perform(transport, {.url = server.url("/bytes/1")}).answered());
    server.stop();
    const http::response gone = perform(transport, {.url = server.url("/bytes/1")});
    CHECK(gone.outcome == http::outcome::unreachable);
    const http_server other;
    CHECK(perform(transport, {.url = other.url("/bytes/1")}).answered());
}

TEST_CASE("curl_transport: a child that was forked has a thread of its own, and leaves the parent's requests alone") {
    if (sanitized) {
        smdebug_test::skipped(smdebug_test::lacking::sanitizer, "ThreadSanitizer allows no threads in a child");
        return;
    }
    http_server server;
    auto transport = std::make_unique<curl_transport>();
    const curl_transport unused;
    http::completion_queue answers;
    std::vector<std::unique_ptr<http_transport::exchange>> exchanges;
    exchanges.push_back(transport->start({.url = server.url("/hold/a")}, answers, 7));
    exchanges.push_back(transport->start({.url = server.url("/hold/b")}, answers, 8));
    REQUIRE(perform(*transport, {.url = server.url("/bytes/1")}).answered());
    const auto asks = [&server](const curl_transport& by) {
        const http::response got = perform(by, {.url = server.url("/bytes/100")});
        return got.answered() && text_of(got) == pattern(100);
    };
    CHECK(smdebug_test::status_of_child([&] {
              if (transport->counters().requests != 0) {
                  return 1;
              }
              for (const curl_transport& by : {*transport, unused, curl_transport{*transport}}) {
                  if (!asks(by)) {
                      return 2;
                  }
              }
              if (transport->counters().requests != 2 || transport->counters().connections != 1) {
                  return 3;
              }
              exchanges.pop_back();
              transport.reset();
              exchanges.clear();
              return 0;
          }) == 0);
    CHECK(smdebug_test::status_of_child([&] {
              transport.reset();  // without having used it
              exchanges.clear();
              return 0;
          }) == 0);
    REQUIRE(perform(*transport, {.url = server.url("/release/a")}).answered());
    const auto got = answers.take_until(for_ever);
    CHECK(got->ticket == 7);
    CHECK(text_of(got->response) == "released");
}

TEST_CASE("curl_transport: what the environment says of proxies does not hold for this machine") {
    http_server server;
    ::setenv("http_proxy", server.url("").c_str(), 1);
    {
        const curl_transport transport;
        CHECK(text_of(perform(transport, {.url = server.url("/bytes/3")})) == pattern(3));
        // The proxy gets this request and has no such path.
        const http::response other = perform(transport, {.url = "http://server.invalid/bytes/3"});
        CHECK(other.status == 404);
        CHECK(text_of(other) == "no such path");
        CHECK(perform(transport, {.url = server.url("/bytes/3")}).status == 200);
    }
    ::setenv("http_proxy", "http://127.0.0.1:1", 1);
    {
        const curl_transport transport;
        CHECK(perform(transport, {.url = server.url("/bytes/3")}).status == 200);
        CHECK(perform(transport, {.url = "http://server.invalid/"}).outcome == http::outcome::unreachable);
    }
    ::unsetenv("http_proxy");
}

TEST_CASE("curl_transport: HTTP/2 over TLS carries many requests on a connection; an untrusted server is refused") {
    const smdebug_test::temporary_folder folder;
    if (!smdebug_test::make_certificate(folder, "server") || !smdebug_test::make_certificate(folder, "other")) {
        smdebug_test::skipped(smdebug_test::lacking::set_up, "there is no openssl to make a certificate");
        return;
    }
    http_server server;
    smdebug_test::tls_proxy proxy{server, folder.path() + "/server.key", folder.path() + "/server.crt"};
    const std::string trusted = folder.path() + "/server.crt";
    const curl_transport transport{{.ca_file = trusted}};
    http::response first = perform(transport, {.url = proxy.url("/bytes/1")});
    while (first.outcome == http::outcome::unreachable && !proxy.has_ended()) {
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
        first = perform(transport, {.url = proxy.url("/bytes/1")});
    }
    if (proxy.has_ended()) {
        REQUIRE(proxy.finish() == smdebug_test::no_such_program);
        smdebug_test::skipped(smdebug_test::lacking::set_up, "there is no nghttpx");
        return;
    }
    REQUIRE(first.answered());
    CHECK(transport.counters().http2_answers == 1);

    {  // many at once
        http::completion_queue answers;
        std::vector<std::unique_ptr<http_transport::exchange>> exchanges;
        for (std::size_t number = 0; number < 32; ++number) {
            exchanges.push_back(transport.start({.url = proxy.url("/gather/32")}, answers, number));
        }
        for (std::size_t number = 0; number < 32; ++number) {
            CHECK(text_of(answers.take_until(for_ever)->response) == "all");
        }
        CHECK(transport.counters().http2_answers == 33);
        CHECK(transport.counters().connections == 1);
    }
    {  // bodies, headers, and methods
        for (const std::size_t size : {0U, 1U, 300000U, 10U << 20U}) {
            const std::string body = pattern(size);
            const http::response got =
                perform(transport, {.method = http::method::put, .url = proxy.url("/upload"), .body = as_bytes(body)});
            CHECK(text_of(got) == std::to_string(size) + " right");
            CHECK(text_of(perform(transport, {.url = proxy.url("/bytes/" + std::to_string(size))})) == body);
        }
        CHECK(perform(transport, {.url = proxy.url("/headers")}).find_header("etag") == "\"a:b\"");
        CHECK(perform(transport, {.url = proxy.url("/chunked/1000/99")}).body.size() == 1000);
        const http::response head =
            perform(transport, {.method = http::method::head, .url = proxy.url("/length/5000")});
        CHECK(head.find_header("content-length") == "5000");
        CHECK(perform(transport, {.method = http::method::remove, .url = proxy.url("/status/204")}).status == 204);
        CHECK(perform(transport, {.url = proxy.url("/short/1000")}).outcome == http::outcome::interrupted);
        CHECK(perform(transport, {.url = proxy.url("/bytes/2000"), .most = 1000}).outcome == http::outcome::too_long);
        CHECK(transport.counters().connections == 1);
    }
    {  // cancelled, and late
        for (int round = 0; round < 20; ++round) {
            http::completion_queue answers;
            const std::string body = pattern(1U << 20U);
            const auto never = transport.start({.url = proxy.url("/hold/never")}, answers, 0);
            const auto up = transport.start(
                {.method = http::method::put, .url = proxy.url("/upload"), .body = as_bytes(body)}, answers, 1);
            if (round % 2 == 0) {
                CHECK(answers.take_until(for_ever)->ticket == 1);
            }
        }
        const auto soon = http::request::clock::now() + std::chrono::milliseconds{30};
        CHECK(perform(transport, {.url = proxy.url("/silent"), .deadline = soon}).outcome == http::outcome::timed_out);
        CHECK(
            perform(transport, {.url = proxy.url("/silent"), .stalled_after = std::chrono::milliseconds{30}}).outcome ==
            http::outcome::stalled);
        CHECK(perform(transport, {.url = proxy.url("/bytes/1")}).answered());
        CHECK(transport.counters().connections == 1);
    }
    {  // switched off
        const curl_transport plain{{.ca_file = trusted, .http2 = false}};
        CHECK(perform(plain, {.url = proxy.url("/bytes/1")}).answered());
        CHECK(plain.counters().http2_answers == 0);
    }
    {  // trust
        for (const std::string& file : {folder.path() + "/other.crt", folder.path() + "/missing.crt", std::string{}}) {
            const http::response got = perform(curl_transport{{.ca_file = file}}, {.url = proxy.url("/bytes/1")});
            CHECK(got.outcome == http::outcome::refused);
            CHECK_FALSE(got.failure.empty());
        }
        CHECK(perform(curl_transport{{.verify_tls = false}}, {.url = proxy.url("/bytes/1")}).answered());
        // TLS to a server without it.
        std::string plain = server.url("/");
        plain.insert(4, "s");
        CHECK(perform(transport, {.url = plain}).outcome == http::outcome::unreachable);
    }
}
