#include <smdebug/rules/built_in/learned.hpp>

#include "rules/built_in/history_runs.hpp"
#include "support/given_text.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"
#include "support/thrown_code.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/learn/learn.hpp>
#include <smdebug/rules/rule_result.hpp>

using namespace smdebug;
using namespace smdebug_test;
using rules::learned;

namespace {

/// The tensors of step i of a run.
using training = std::function<std::vector<written_tensor>(int i)>;

std::vector<written_step> steps_of(const training& tensors, int steps = 10, const std::string& worker = "worker_0") {
    std::vector<written_step> all;
    for (int i = 0; i < steps; ++i) {
        all.push_back({.step = 10 * i, .tensors = tensors(i), .worker = worker});
    }
    return all;
}

/// What eight runs have in common, which differ by a factor from 1 to 1.4375.
learned_facts eight_of(const std::function<training(double factor)>& made, int steps = 10) {
    learned_facts all;
    for (int run = 0; run < 8; ++run) {
        all.join(learn(trial{run_of(steps_of(made(1 + run / 16.0), steps)), {.name = "run-" + std::to_string(run)}}));
    }
    return all;
}

training weights(double factor) {
    return [=](int i) { return std::vector{tensor_of<double>("w", {3 * factor, 4 * factor, 0, 0.001 * i})}; };
}

struct outcome {
    std::vector<std::string> findings = {};  // "step kind"
    std::vector<finding> met = {};
    std::vector<std::string> notes = {};
    rule_outcome all = {};
};

outcome judged(const learned& rule, const memory_storage& store) {
    outcome found;
    found.all = invoke_rule(learned{rule}, trial{store});
    for (const finding& each : found.all.findings) {
        found.findings.push_back(std::to_string(each.step) + " " + each.message.substr(0, each.message.find(':')));
        found.met.push_back(each);
    }
    for (const finding& each : found.all.notes) {
        found.notes.push_back(each.message);
    }
    return found;
}
outcome judged(const learned& rule, const training& tensors, int steps = 10) {
    return judged(rule, run_of(steps_of(tensors, steps)));
}

using list = std::vector<std::string>;

}  // namespace

TEST_CASE("learned: the envelope of the specification's example") {
    const learned rule{.facts = eight_of(weights)};
    CHECK(judged(rule, weights(1.2)).findings.empty());
    const auto scaled = [&](double factor) {
        return judged(rule, [=](int i) {
            auto tensors = weights(1)(i);
            return i == 3 ? weights(factor)(i) : tensors;
        });
    };
    CHECK(scaled(2.0).findings.empty());  // 10 of at most 10.06
    CHECK(scaled(2.02).findings == list{"30 high", "30 high"});
    CHECK(scaled(0.56).findings.empty());  // 2.8 of at least 2.78
    CHECK(scaled(0.55).findings == list{"30 low", "30 low"});
    const auto high = scaled(4).met;
    REQUIRE(high.size() == 2);
    CHECK(high[0].message ==
          "high: abs_max is 16 at TRAIN step 30, above 8.05; in 8 healthy runs 4 to 5.75 in steps 28 to 31");
    CHECK(high[1].message ==
          "high: l2 is 20 at TRAIN step 30, above 10.0625; in 8 healthy runs 5 to 7.1875 in steps 28 to 31");
    CHECK(high[1].tensor == "w");
    CHECK(high[1].worker == "worker_0");
    CHECK(std::abs(high[1].threshold - 7.1875 * 1.4) < 1e-5);
}

TEST_CASE("learned: patience, widen, kinds, and names") {
    const auto out_at = [](const std::vector<int>& steps) {
        return training{[=](int i) {
            const bool is_out = std::find(steps.begin(), steps.end(), i) != steps.end();
            return weights(is_out ? 9 : 1)(i);
        }};
    };
    learned rule{.facts = eight_of(weights), .patience = 2};
    CHECK(judged(rule, out_at({2, 4, 6})).findings.empty());
    CHECK(judged(rule, out_at({2, 4, 5, 7, 8})).findings == list{"50 high", "50 high"});
    rule.patience = 1;
    rule.widen = 100;
    CHECK(judged(rule, out_at({2})).findings.empty());
    rule.widen = 1;
    rule.kinds = {"low", "missing"};
    CHECK(judged(rule, out_at({2})).findings.empty());
    rule.kinds = {};
    rule.exclude_regex = "^w";
    CHECK(judged(rule, out_at({2})).findings.empty());
    CHECK_FALSE(judged(rule, out_at({2})).all.has_selected);
    rule.exclude_regex = {};
    rule.tensor_regex = "v";
    CHECK(judged(rule, out_at({2})).findings.empty());
    rule.tensor_regex = {"v", "w"};
    CHECK(judged(rule, out_at({2})).findings.size() == 2);
}

TEST_CASE("learned: missing, by both counts, until it is saved again or for good") {
    const auto with_g = [](double factor) {
        return training{[=](int i) {
            auto tensors = weights(factor)(i);
            tensors.push_back(tensor_of<double>("g", {1.0 * i, 2}));
            return tensors;
        }};
    };
    const learned rule{.facts = eight_of(with_g, 8)};
    const outcome never = judged(rule, weights(1), 8);
    CHECK(never.findings == list{"30 missing"});
    CHECK(never.met[0].tensor == "g");
    CHECK(never.met[0].worker.empty());
    CHECK(never.met[0].value == 4);
    CHECK(never.met[0].threshold == 2);
    CHECK(never.met[0].message == "missing: never saved; in 8 healthy runs at every 10 steps");
    const outcome late = judged(
        rule, [&](int i) { return i < 3 ? with_g(1)(i) : weights(1)(i); }, 8);
    CHECK(late.findings == list{"50 missing"});
    CHECK(late.met[0].message == "missing: not saved since TRAIN step 20; in 8 healthy runs at every 10 steps");
    CHECK(judged(
              rule, [&](int i) { return i > 5 ? weights(1)(i) : with_g(1)(i); }, 40)
              .findings.empty());  // the end
    CHECK(judged(
              rule, [&](int i) { return i < 2 ? std::vector{tensor_of<double>("other", {1})} : with_g(1)(i); }, 8)
              .findings.empty());
}

TEST_CASE("learned: dtype, shape, values that are not finite, signs") {
    const auto positive = [](double factor) {
        return training{[=](int i) { return std::vector{tensor_of<double>("w", {factor, factor + i})}; }};
    };
    const learned rule{.facts = eight_of(positive)};
    const auto at_5 = [&](const written_tensor& odd) {
        return judged(rule, [&](int i) { return i == 5 ? std::vector{odd} : positive(1)(i); });
    };
    const outcome narrow = at_5(tensor_of<float>("w", {1, 6}));
    CHECK(narrow.findings == list{"50 dtype"});
    CHECK(narrow.met[0].message == "dtype: float32, float64 in healthy runs");
    CHECK(std::isnan(narrow.met[0].value));
    CHECK(at_5(tensor_of<double>("w", {1, 6, 6})).met[0].message == "shape: 3, 2 in healthy runs");
    CHECK(at_5(tensor_of<double>("w", {1, 6}, {1, 2})).met[0].message == "shape: 1x2, 2 in healthy runs");
    const outcome bad = at_5(tensor_of<double>("w", {not_a_number, 6}));
    CHECK(bad.findings == list{"50 non_finite"});
    CHECK(bad.met[0].value == 0.5);
    CHECK(bad.met[0].threshold == 0);
    const outcome below = at_5(tensor_of<double>("w", {-0.5, 6}));
    CHECK(below.findings.front() == "50 negative");
    CHECK(below.met[0].value == -0.5);
    learned more = rule;
    more.min_support = 9;
    CHECK(judged(more, [&](int i) { return std::vector{tensor_of<double>("w", {-0.5, 1.0 + i})}; }).findings.empty());
}

TEST_CASE("learned: changed and unchanged") {
    const auto made = [](double factor) {
        return training{[=](int i) {
            return std::vector{tensor_of<double>("frozen", {1, 2}), tensor_of<double>("w", {factor, 1.0 * i})};
        }};
    };
    const learned rule{.facts = eight_of(made), .kinds = {"changed", "unchanged"}};
    const outcome stuck = judged(rule, [&](int i) { return made(1)(std::min(i, 3)); });
    CHECK(stuck.findings == list{"50 unchanged"});
    CHECK(stuck.met[0].value == 2);
    CHECK(stuck.met[0].message == "unchanged: the same in its last 3 saves; changed at each of 72 in healthy runs");
    learned patient = rule;
    patient.unchanged_for = 4;
    CHECK(judged(patient, [&](int i) { return made(1)(std::min(i, 3)); }).findings == list{"70 unchanged"});
    const outcome moved = judged(rule, [&](int i) {
        auto tensors = made(1)(i);
        tensors[0] = tensor_of<double>("frozen", {i < 4 ? 1.0 : 1.01, 2});
        return tensors;
    });
    CHECK(moved.findings == list{"40 changed"});
    CHECK(moved.met[0].tensor == "frozen");
}

TEST_CASE("learned: replicas and tied tensors") {
    const auto run = [](const std::string& odd_worker, const std::string& odd_tensor, int odd_step) {
        std::vector<written_step> all;
        for (int i = 0; i < 10; ++i) {
            for (const std::string worker : {"worker_0", "worker_1", "worker_2"}) {
                written_step one{.step = i, .tensors = {}, .worker = worker};
                for (const std::string name : {"embedding", "lm_head"}) {
                    const bool is_odd = i == odd_step && worker == odd_worker && name == odd_tensor;
                    one.tensors.push_back(tensor_of<double>(name, {1.0 * i, is_odd ? 2.001 : 2}));
                }
                all.push_back(one);
            }
        }
        return run_of(all);
    };
    learned_facts facts;
    for (int i = 0; i < 2; ++i) {
        facts.join(learn(trial{run("", "", 0), {.name = "run-" + std::to_string(i)}}));
    }
    const learned rule{.facts = facts};
    CHECK(judged(rule, run("", "", 0)).findings.empty());
    const outcome odd = judged(rule, run("worker_1", "lm_head", 4));
    CHECK(odd.findings == list{"4 replicas", "4 tied"});
    CHECK(odd.met[0].message == "replicas: worker_1 differs");
    CHECK(odd.met[0].worker == "worker_1");
    CHECK(odd.met[0].value == 1);
    CHECK(odd.met[1].message == "tied: differs from embedding; equal in all 2 healthy runs");
    CHECK(odd.met[1].tensor == "lm_head");
    CHECK(judged(rule, run("worker_0", "lm_head", 4)).met[0].worker == "worker_0");  // most are right
}

TEST_CASE("learned: notes say what was not looked at") {
    const learned rule{.facts = eight_of(weights)};
    const outcome longer = judged(
        rule,
        [](int i) {
            auto tensors = weights(1)(i);
            tensors.push_back(tensor_of<double>("new", {1}));
            return tensors;
        },
        20);
    CHECK(longer.findings.empty());
    REQUIRE(longer.notes.size() == 2);
    CHECK(contains(longer.notes[0],
                   "1 tensor of this run, by name and mode, was not learned, and not looked at: first new"));
    CHECK(contains(longer.notes[1], "saves after TRAIN step 90"));
    const outcome other =
        judged(rule, run_of({{.step = 0, .tensors = {tensor_of<double>("w", {1})}, .mode = mode::eval}}));
    CHECK_FALSE(other.all.has_selected);
    CHECK(contains(other.notes[0], "w in EVAL"));
    CHECK(contains(other.notes[1], "was never saved by this run"));
    CHECK(contains(other.notes[2], "this run has steps of EVAL"));
    CHECK(contains(other.notes[3], "healthy runs have steps of TRAIN"));
    memory_storage damaged = run_of(steps_of(weights(1)));
    damage(damaged, 30);
    const outcome lost = judged(rule, damaged);
    CHECK(lost.findings.empty());
    CHECK(lost.all.unread == 1);
}

TEST_CASE("learned: settings, and the file, are checked before anything is read") {
    CHECK(thrown_code([&] { static_cast<void>(learned{}.check()); }) == error_code::insufficient_information);
    const learned_facts facts = eight_of(weights);
    CHECK_NOTHROW(learned{.facts = facts}.check());
    CHECK_THROWS_AS((learned{.facts = facts, .patience = 0}.check()), value_error);
    CHECK_THROWS_AS((learned{.facts = facts, .unchanged_for = 0}.check()), value_error);
    CHECK_THROWS_AS((learned{.facts = facts, .widen = 0}.check()), value_error);
    CHECK_THROWS_AS((learned{.facts = facts, .widen = not_a_number}.check()), value_error);
    CHECK_THROWS_AS((learned{.facts = facts, .min_support = 0}.check()), value_error);
    CHECK_THROWS_WITH_AS((learned{.facts = facts, .kinds = "hihg"}.check()), doctest::Contains("high"), value_error);
    const temporary_folder folder;
    const std::string path = folder.path() + "/normal.json";
    CHECK_THROWS_AS(learned{.file = path}.check(), not_found);
    folder.write("normal.json", "{}");
    CHECK_THROWS_WITH_AS(learned{.file = path}.check(), doctest::Contains(path.c_str()), value_error);
    facts.save(path);
    CHECK(judged({.file = path}, weights(9)).findings.size() == 2);
}

TEST_CASE("learned: the same findings alone and in a walk with others, and from saved reductions") {
    const learned_facts facts = eight_of(weights);
    const memory_storage store = run_of(steps_of([](int i) { return weights(i == 4 ? 9 : 1)(i); }));
    const auto together = invoke_rules(
        trial{store}, std::vector<any_rule<trial>>{learned{.facts = facts}, learned{.facts = facts, .widen = 0.5}});
    CHECK(together[0].outcome.findings.size() == 2);
    CHECK(together[0].outcome.findings[0].message == judged({.facts = facts}, store).met[0].message);
    CHECK(together[0].outcome.unread == 0);
    auto reduced = steps_of(weights(1));
    for (written_step& each : reduced) {
        each.tensors = {tensor_of<float>("smdebug/reductions/l2/w",
                                         {each.step == 40 ? 50.0F : 5 + 0.01F * static_cast<float>(each.step)}, {})};
    }
    const outcome by_l2 = judged({.facts = facts}, run_of(reduced));
    CHECK(by_l2.findings == list{"40 high"});
}

TEST_CASE("learned: bands of the envelopes, as widened, where the options want them") {
    const learned rule{.facts = eight_of(weights), .widen = 2};
    const trial run{run_of(steps_of(weights(9)))};
    CHECK(invoke_rule(learned{rule}, run).bands.empty());
    const rule_outcome found = invoke_rule(learned{rule}, run, {.keep_bands = true});
    REQUIRE(found.bands.size() == 3);
    const auto& l2 = found.bands[1];
    CHECK(l2.tensor == "w");
    CHECK(l2.mode == mode::train);
    CHECK(l2.number == "l2");
    const auto envelope = rule.facts->envelope("w", mode::train, "l2", 30, 2);
    const auto at =
        std::find_if(l2.windows.begin(), l2.windows.end(), [](const auto& each) { return each.last >= 30; });
    REQUIRE(at != l2.windows.end());
    CHECK(at->first <= 30);
    CHECK(at->runs == 8);
    CHECK(at->least == envelope->a);
    CHECK(at->greatest == envelope->b);
    CHECK(at->lower == envelope->lower);
    CHECK(at->upper == envelope->upper);
    REQUIRE(!found.findings.empty());
    CHECK(found.findings[1].threshold == l2.windows[0].upper);  // by this a report knows whose it is
}
