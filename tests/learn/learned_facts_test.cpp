#include <smdebug/learn/learned_facts.hpp>

#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/learn/facts/all_facts.hpp>

using namespace smdebug;
using namespace smdebug_test;
namespace data = smdebug::detail::learn;

namespace {

/// One run, with l2 of "w" at TRAIN step 0.
learned_facts one_run(const std::string& run, double number) {
    data::all_facts facts{.runs = {run}};
    facts.reductions.insert(data::number::l2);
    facts.modes[mode::train] = {1, 40};
    data::entry_facts& entry = facts.tensors["w"].by_mode[mode::train];
    entry.runs = 1;
    data::number_series& series = entry.numbers[data::number::l2];
    series.runs = 1;
    data::window_facts window{.window = 0, .runs = 1};
    window.low.push_back({number, 0});
    window.high.push_back({number, 0});
    series.windows.push_back(window);
    return data::facts_access::made_of(std::move(facts));
}

learned_facts eight_runs() {
    learned_facts all;
    for (int i = 0; i < 8; ++i) {
        all.join(one_run("run-" + std::to_string(i), 5 * (1 + i / 16.0)));
    }
    return all;
}

}  // namespace

TEST_CASE("learned facts: the envelope of the specification's example") {
    const learned_facts all = eight_runs();
    CHECK(all.runs().size() == 8);
    CHECK(all.suspects().empty());
    CHECK(all.tensors() == std::vector<std::string>{"w"});
    const auto envelope = all.envelope("w", mode::train, "l2", 0);
    REQUIRE(envelope.has_value());
    CHECK(envelope->a == 5);
    CHECK(envelope->b == 7.1875);
    CHECK(envelope->lower == 5 / 1.8);
    CHECK(envelope->upper == 7.1875 * 1.4);
    CHECK(all.envelope("w", mode::train, "l2", 0, 2)->upper == 7.1875 * 1.8);
    CHECK_FALSE(all.envelope("w", mode::train, "l2", 1).has_value());
    CHECK_FALSE(all.envelope("w", mode::train, "l3", 0).has_value());
    CHECK_FALSE(all.envelope("w", mode::train, "zeros", 0).has_value());
    CHECK_FALSE(all.envelope("w", mode::eval, "l2", 0).has_value());
    CHECK_FALSE(all.envelope("v", mode::train, "l2", 0).has_value());
}

TEST_CASE("learned facts: a side without a margin is not bounded") {
    learned_facts all = one_run("a", 0);
    all.join(one_run("b", 1));
    const auto envelope = all.envelope("w", mode::train, "l2", 0);
    REQUIRE(envelope.has_value());
    CHECK(envelope->lower == -std::numeric_limits<double>::infinity());
    CHECK(envelope->upper == std::numeric_limits<double>::infinity());
}

TEST_CASE("learned facts: joined in any order they are the same text") {
    learned_facts forward;
    learned_facts backward;
    learned_facts left;
    learned_facts right;
    for (int i = 0; i < 6; ++i) {
        forward.join(one_run("run-" + std::to_string(i), i * i));
        backward.join(one_run("run-" + std::to_string(5 - i), (5 - i) * (5 - i)));
        (i % 2 == 0 ? left : right).join(one_run("run-" + std::to_string(i), i * i));
    }
    left.join(right);
    CHECK(forward.to_json() == backward.to_json());
    CHECK(forward.to_json() == left.to_json());
    CHECK_THROWS_AS(left.join(right), value_error);
    CHECK(forward.to_json() == left.to_json());
}

TEST_CASE("learned facts: what was edited stays, margins are found anew") {
    std::string text = eight_runs().to_json();
    text.replace(text.find("\"down\": 0.8"), 11, "\"down\": 9, \"widen\": 2");
    text.replace(text.find("    \"finite\": 0,\n"), 17, "");
    learned_facts edited = learned_facts::from_json(text);
    CHECK(edited.envelope("w", mode::train, "l2", 0)->lower == 5 / (1 + 9.0 * 2));
    edited.join({});  // no run: nothing changes
    CHECK(edited.envelope("w", mode::train, "l2", 0)->lower == 5 / (1 + 9.0 * 2));
    edited.join(one_run("run-8", 6));
    CHECK(edited.envelope("w", mode::train, "l2", 0)->lower == 5 / (1 + 0.8 * 2));
    CHECK_FALSE(data::facts_access::data(edited).find("w", mode::train)->finite.has_value());
}

TEST_CASE("learned facts: extremes that were put in another order are sorted when they are read") {
    data::all_facts without_w{.runs = {"run-8"}};
    without_w.reductions.insert(data::number::l2);
    const learned_facts other = data::facts_access::made_of(std::move(without_w));
    std::string text = eight_runs().to_json();
    const std::string low = "\"low\": [[5,0],[5.3125,1],[5.625,2]]";
    REQUIRE(text.find(low) != std::string::npos);
    text.replace(text.find(low), low.size(), "\"low\": [[5.625,2],[5,0],[5.3125,1]]");
    learned_facts edited = learned_facts::from_json(text);
    CHECK(edited.envelope("w", mode::train, "l2", 0)->a == 5);
    edited.join(other);
    learned_facts plain = eight_runs();
    plain.join(other);
    CHECK(edited.envelope("w", mode::train, "l2", 0)->lower == plain.envelope("w", mode::train, "l2", 0)->lower);
    CHECK(edited.suspects() == plain.suspects());
}

TEST_CASE("learned facts: a file") {
    const temporary_folder folder;
    const std::string path = folder.path() + "/normal.json";
    const learned_facts all = eight_runs();
    all.save(path);
    CHECK(learned_facts::load(path).to_json() == all.to_json());
    CHECK_THROWS_AS(static_cast<void>(learned_facts::load(folder.path() + "/none.json")), not_found);
    CHECK_THROWS_WITH_AS(static_cast<void>(learned_facts::from_json("{}", "some.json")),
                         doctest::Contains("some.json: it is not what"), value_error);
    one_run("a", 1).save(path);
    CHECK(learned_facts::load(path).runs() == std::vector<std::string>{"a"});
    CHECK_THROWS_AS(one_run("a", 1).save(path + "/below"), error);
}
