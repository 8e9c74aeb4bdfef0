#include <smdebug/http/transport.hpp>

#include "support/test.hpp"

using namespace smdebug;

namespace {

http::arrival with_status(std::size_t ticket, int status) {
    http::arrival made{.ticket = ticket};
    made.response.status = status;
    return made;
}

constexpr auto for_ever = http::completion_queue::clock::time_point::max();

}  // namespace

TEST_CASE("completion_queue: gives answers in the order in which they came, with their tickets") {
    http::completion_queue answers;
    for (int number = 0; number < 5; ++number) {
        answers.put(with_status(10 - static_cast<std::size_t>(number), 200 + number));
    }
    for (int number = 0; number < 5; ++number) {
        const auto taken = answers.take_until(for_ever);
        REQUIRE(taken.has_value());
        CHECK(taken->ticket == 10 - static_cast<std::size_t>(number));
        CHECK(taken->response.status == 200 + number);
    }
}

TEST_CASE(
    "completion_queue: gives nothing when nothing has come by the time, and what is there even when that is over") {
    http::completion_queue answers;
    const auto soon = http::completion_queue::clock::now() + std::chrono::milliseconds{5};
    CHECK_FALSE(answers.take_until(soon).has_value());
    CHECK(http::completion_queue::clock::now() >= soon);
    CHECK_FALSE(answers.take_until(http::completion_queue::clock::time_point::min()).has_value());
    answers.put(with_status(1, 200));
    CHECK(answers.take_until(http::completion_queue::clock::time_point::min()).has_value());
    CHECK_FALSE(answers.take_until(http::completion_queue::clock::time_point::min()).has_value());
}

TEST_CASE("completion_queue: takes answers from many threads, and loses none") {
    constexpr std::size_t threads = 4;
    constexpr std::size_t each = 500;
    http::completion_queue answers;
    std::vector<int> seen(threads * each, 0);
    {
        std::vector<std::jthread> senders;
        for (std::size_t which = 0; which < threads; ++which) {
            senders.emplace_back([&answers, which] {
                for (std::size_t number = 0; number < each; ++number) {
                    answers.put(with_status(which * each + number, 200));
                }
            });
        }
        for (std::size_t count = 0; count < seen.size(); ++count) {
            ++seen.at(answers.take_until(for_ever)->ticket);
        }
    }
    CHECK(seen == std::vector<int>(threads * each, 1));
    CHECK_FALSE(answers.take_until(http::completion_queue::clock::now()).has_value());
}

TEST_CASE("completion_queue: the thread that takes the last answer may destroy it at once") {
    for (int round = 0; round < 200; ++round) {
        auto answers = std::make_unique<http::completion_queue>();
        const std::jthread sender{[&to = *answers] { to.put(with_status(7, 200)); }};
        CHECK(answers->take_until(for_ever)->ticket == 7);
        answers.reset();
    }
}
