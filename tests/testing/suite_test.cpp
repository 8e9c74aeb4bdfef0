#include <smdebug/testing/suite.hpp>

#include "support/test.hpp"

using suite = smdebug::detail::conformance_suite;

namespace {

std::string refusal(const std::function<void(suite&)>& body) {
    return smdebug_test::what_of<std::runtime_error>([&] { suite::walk(body); });
}

}  // namespace

TEST_CASE("suite: each part runs once, and the common setup again for each") {
    std::vector<std::string> walked;
    CHECK(refusal([&](suite& all) {
              int fresh = 0;
              for (const std::string part : {"a", "b", "c"}) {
                  if (all.part(part)) {
                      walked.push_back(part + std::to_string(++fresh));
                      all.check(true);
                      all.require(true);
                      all.check_throws<int>([] { throw 1; });
                  }
              }
          }).empty());
    CHECK(walked == std::vector<std::string>{"a1", "b1", "c1"});
    CHECK(refusal([](suite&) {}).empty());
}

TEST_CASE("suite: a failure names its part, its subject and its place; later parts still run") {
    const int line = __LINE__;
    const std::string text = refusal([](suite& all) {
        if (all.part("first")) {
            all.about("key");
            all.require(false);  // line + 4
            all.check(false);
        }
        if (all.part("second")) {
            all.check(false);  // line + 8
            all.check_throws<int>([] {});
            throw std::logic_error("no room");
        }
        if (all.part("third")) {
            all.require(false);  // line + 13
        }
    });
    const auto at = [&](int below) { return ", suite_test.cpp:" + std::to_string(line + below); };
    CHECK(text == "the storage does not conform:\n  first (key): does not hold" + at(4) + "\n  second: does not hold" +
                      at(8) + "\n  second: throws nothing" + at(9) +
                      "\n  second: throws \"no room\"\n  third: does not hold" + at(13));
}

TEST_CASE("suite: a failure before the first part ends the run") {
    int calls = 0;
    CHECK(refusal([&](suite& all) {
              ++calls;
              if (calls > 0) {
                  throw std::logic_error("not there");
              }
              static_cast<void>(all.part("never"));
          }) == "the storage does not conform:\n  : throws \"not there\"");
    CHECK(calls == 1);
}
