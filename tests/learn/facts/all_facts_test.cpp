#include <smdebug/learn/facts/all_facts.hpp>

#include "support/given_text.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>

using namespace smdebug;
using namespace smdebug::detail::learn;

namespace {

all_facts facts_of(const std::string& run, double number, step_number last = 40) {
    all_facts facts{.runs = {run}};
    facts.reductions.insert(number::l2);
    facts.modes[mode::train] = {1, last};
    entry_facts& entry = facts.tensors["w"].by_mode[mode::train];
    entry.runs = 1;
    number_series& series = entry.numbers[number::l2];
    series.runs = 1;
    window_facts window{.window = 0, .runs = 1};
    window.low.push_back({number, 0});
    window.high.push_back({number, 0});
    series.windows.push_back(window);
    return facts;
}

run_place first_low(const all_facts& facts) {
    return facts.find("w", mode::train)->numbers.at(number::l2).windows[0].low[0].run;
}

}  // namespace

TEST_CASE("all facts: joined with their runs, whose places follow the names") {
    all_facts all = facts_of("b", 1, 40);
    all.join(facts_of("a", 2, 30));
    CHECK(all.runs == std::vector<std::string>{"a", "b"});
    CHECK(all.modes.at(mode::train).runs == 2);
    CHECK(all.modes.at(mode::train).last == 40);
    CHECK(first_low(all) == 1);
    all.join(facts_of("aa", 0.5));
    CHECK(all.runs == std::vector<std::string>{"a", "aa", "b"});
    CHECK(first_low(all) == 1);
    CHECK(all.find("w", mode::train)->runs == 3);
    CHECK(all.find("w", mode::eval) == nullptr);
    CHECK(all.find("v", mode::train) == nullptr);
}

TEST_CASE("all facts: those of no run change nothing") {
    all_facts none;
    none.join(facts_of("a", 1));
    CHECK(none.runs == std::vector<std::string>{"a"});
    none.join({});
    CHECK(none.runs == std::vector<std::string>{"a"});
}

TEST_CASE("all facts: a run that is in both, and other numbers, are refused") {
    all_facts all = facts_of("a", 1);
    CHECK_THROWS_WITH_AS(all.join(facts_of("a", 2)), doctest::Contains("the run a is in both"), value_error);
    all_facts other = facts_of("b", 2);
    other.reductions.insert(number::zeros);
    CHECK_THROWS_WITH_AS(all.join(std::move(other)), doctest::Contains("keeps l2, the other l2,zeros"), value_error);
    CHECK(all.runs == std::vector<std::string>{"a"});
    CHECK(all.find("w", mode::train)->runs == 1);
}

TEST_CASE("all facts: margins and suspects are found at the end") {
    all_facts all;
    for (const auto& [name, number] : {std::pair{"a", 1.0}, {"b", 1.01}, {"c", 1.02}, {"d", 100.0}}) {
        all.join(facts_of(name, number));
    }
    CHECK(all.suspects.empty());
    all.settle();
    CHECK(all.suspects == std::vector<std::string>{"d"});
    const number_series& series = all.find("w", mode::train)->numbers.at(number::l2);
    CHECK(series.down == 0.4);
    CHECK_FALSE(series.up.has_value());
}
