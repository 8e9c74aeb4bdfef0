#include <smdebug/http/transport.hpp>

#include <smdebug/core/bytes.hpp>

#include "support/fake_s3.hpp"
#include "support/test.hpp"

using namespace smdebug;
using smdebug_test::scripted_server;

namespace {

/// A transport of one's own: answers on another thread at any time.
class late_transport final : public http_transport {
public:
    [[nodiscard]] std::unique_ptr<exchange> start(http::request ask, http::completion_queue& to,
                                                  std::size_t ticket) const override {
        return std::make_unique<answering>(std::jthread{[&to, ticket, url = std::move(ask.url)] {
            to.put({ticket, smdebug_test::answer(200, {}, url)});
        }});
    }

private:
    class answering final : public exchange {
    public:
        explicit answering(std::jthread thread) : thread_(std::move(thread)) {}

    private:
        std::jthread thread_;
    };
};

static_assert(std::is_abstract_v<http_transport> && std::has_virtual_destructor_v<http_transport>);
static_assert(!std::is_copy_constructible_v<http_transport> && !std::is_copy_assignable_v<http_transport>);
static_assert(!std::is_copy_constructible_v<http_transport::exchange> &&
              std::has_virtual_destructor_v<http_transport::exchange>);

}  // namespace

TEST_CASE("perform: gives the answer of any transport, whether it comes at once or later") {
    const scripted_server at_once{[](const http::request& ask, std::size_t number) {
        return smdebug_test::answer(200 + static_cast<int>(number), {{"x-asked", ask.url}}, "body");
    }};
    CHECK(perform(at_once, {.url = "http://a/"}).find_header("x-asked") == "http://a/");
    CHECK(perform(at_once, {.url = "http://b/"}).status == 201);
    for (int round = 0; round < 50; ++round) {
        CHECK(as_text(perform(late_transport{}, {.url = "http://later/"}).body.view()) == "http://later/");
    }
}

TEST_CASE("perform: an exchange that fails is a response, too") {
    const scripted_server transport{
        smdebug_test::always_answer(smdebug_test::no_answer(http::outcome::stalled, "words"))};
    const http::response got = perform(transport, {});
    CHECK_FALSE(got.answered());
    CHECK(got.failure == "words");
}

TEST_CASE("scripted_server: keeps what it was asked, with the body as it was, and may stay silent") {
    const scripted_server transport{[](const http::request&, std::size_t number) {
        return number == 1 ? std::nullopt : std::optional{smdebug_test::s3_error(404, "NoSuchKey")};
    }};
    const scripted_server copy = transport;
    http::completion_queue answers;
    std::vector<std::unique_ptr<http_transport::exchange>> exchanges;
    {
        const std::string body = "gone soon";
        exchanges.push_back(copy.start(
            {.method = http::method::put, .url = "http://a/", .headers = {{"x-a", "1"}}, .body = as_bytes(body)},
            answers, 7));
    }
    exchanges.push_back(transport.start({.url = "http://b/"}, answers, 8));
    CHECK(answers.take_until(http::completion_queue::clock::now())->ticket == 7);
    CHECK_FALSE(answers.take_until(http::completion_queue::clock::now()).has_value());
    REQUIRE(transport.count() == 2);
    const auto asked = transport.requests();
    CHECK(asked[0].body == "gone soon");
    CHECK(asked[0].header("x-a") == "1");
    CHECK(asked[0].header("x-b").empty());
    CHECK(asked[1].url == "http://b/");
}
