#include <smdebug/s3/call/request_pipeline.hpp>

#include <smdebug/s3/credentials.hpp>

#include "support/fake_s3.hpp"
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;

namespace {

struct place {
    explicit place(delivery how) : server({.how = how}) {
        for (int i = 0; i < 100; ++i) {
            server.put(std::to_string(i), "content " + std::to_string(i));
        }
    }
    fake_s3 server;
    s3::detail::client client{s3::parse_location("s3://bucket"), smdebug_test::quick_options(), server,
                              std::make_shared<static_credentials>(*fake_s3_options{}.keys)};
};

std::string text_of(const s3::detail::call_result& of) { return std::string{as_text(of.answer.body.view())}; }

}  // namespace

TEST_CASE("request_pipeline: answers are taken in the order in which they are wanted") {
    const place at{delivery::later};
    s3::detail::request_pipeline calls{at.client, 7};
    CHECK(calls.idle());
    std::vector<std::size_t> numbers;
    for (int i = 0; i < 100; ++i) {
        numbers.push_back(calls.start({.key = std::to_string(i)}));
        CHECK((i == 0 || numbers[numbers.size() - 2] < numbers.back()));
    }
    for (const std::size_t i : {std::size_t{99}, std::size_t{0}, std::size_t{50}}) {
        CHECK(text_of(calls.wait(numbers[i])) == "content " + std::to_string(i));
    }
    std::set<std::string> others;
    while (!calls.idle()) {
        const std::size_t number = calls.next();
        const s3::detail::call_result ended = calls.wait(number);
        CHECK(text_of(ended) == "content " + std::to_string(number - numbers.front()));
        CHECK(others.insert(text_of(ended)).second);
    }
    CHECK(others.size() == 97);
    CHECK(at.server.most_under_way() == 7);
}

TEST_CASE("request_pipeline: one at a time, and none counts as one") {
    for (const std::size_t most : {0U, 1U}) {
        const place at{delivery::later};
        s3::detail::request_pipeline calls{at.client, most};
        const std::size_t first = calls.start({.key = "1"});
        const std::size_t second = calls.start({.key = "2"});
        CHECK(text_of(calls.wait(second)) == "content 2");
        CHECK(text_of(calls.wait(first)) == "content 1");
        CHECK(at.server.most_under_way() == 1);
    }
}

TEST_CASE("request_pipeline: what is dropped is not heard of any more, whether it has come or not") {
    const place at{delivery::by_hand};
    s3::detail::request_pipeline calls{at.client, 4};
    std::vector<std::size_t> numbers;
    for (int i = 0; i < 4; ++i) {
        numbers.push_back(calls.start({.key = std::to_string(i)}));
    }
    at.server.deliver(0);  // its answer is in the inbox
    calls.drop(numbers[0]);
    calls.drop(numbers[1]);  // not answered yet
    CHECK(at.server.waiting() == 2);
    at.server.deliver(1);
    at.server.deliver(0);
    CHECK(text_of(calls.wait(numbers[2])) == "content 2");
    calls.drop(numbers[3]);  // its answer has been put aside
    CHECK(calls.idle());
    const std::size_t next = calls.start({.key = "9"});
    at.server.deliver(0);
    CHECK(text_of(calls.wait(next)) == "content 9");
}
