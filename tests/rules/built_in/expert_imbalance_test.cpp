#include <smdebug/rules/built_in/expert_imbalance.hpp>

#include "rules/built_in/history_runs.hpp"
#include "support/given_text.hpp"
#include "support/test.hpp"
#include "support/thrown_code.hpp"

using namespace smdebug;
using namespace smdebug_test;
using rules::expert_imbalance;

namespace {

memory_storage loads(const std::vector<std::vector<double>>& values) { return run_of(series_of<double>("e", values)); }
expert_imbalance with(expert_imbalance rule) {
    rule.tensor_regex = "e";
    return rule;
}
memory_storage one(const std::vector<double>& values, const shape_type& shape) {
    return run_of({{.tensors = {tensor_of<double>("e", values, shape)}}});
}
std::string error_of(const expert_imbalance& rule, const memory_storage& store) {
    return what_of<value_error>([&] { return with(rule)(memory_trial{store}, 0); });
}

}  // namespace

TEST_CASE("expert_imbalance: the example of the specification") {
    CHECK(fires_at(with({}), loads({{8, 4, 2, 2}})).empty());
    CHECK(fires_at(with({}), loads({{12, 2, 2, 0}})).empty());
    const auto found = findings_of(with({}), loads({{13, 1, 2, 0}}));
    REQUIRE(found.size() == 1);
    CHECK(found[0].value == 3.25);
    CHECK(found[0].threshold == 3);
    CHECK(found[0].message == "expert 0 of 4 has 81.25% of the load, 3.25 times its fair share, above 3");
    const auto dead = loads({{5, 5, 5, 0}, {5, 5, 5, 0}, {5, 5, 5, 0}});
    CHECK(fires_at(with({}), dead) == steps_list{2});
    const auto starved = findings_of(with({}), dead);
    CHECK(starved[0].value == 0);
    CHECK(starved[0].threshold == 0.05);
    CHECK(starved[0].message ==
          "expert 3 of 4 has 0% of the load, 0 times its fair share, below 0.05 in 3 saves in a row");
}

TEST_CASE("expert_imbalance: rows of saves, of the same expert among as many") {
    const std::vector<double> dead3{5, 5, 5, 0};
    const std::vector<double> dead0{0, 5, 5, 5};
    struct row {
        std::vector<std::vector<double>> saves;
        expert_imbalance rule;
        steps_list fires;
    };
    const std::vector<row> rows{
        {{dead3, dead0, dead3, dead3}, {}, {}},  // not the same expert
        {{dead3, dead3, {5, 5, 5, 5}, dead3, dead3, dead3}, {}, {5}},
        {{dead3, {}, dead3, {}, {}, dead3}, {}, {5}},    // saves, not steps
        {{dead3, dead3, {5, 5, 0}, {5, 5, 0}}, {}, {}},  // another number of experts
        {{dead3, dead3, {5, 5, 5, 5, 0}, dead3}, {.patience = 2}, {1}},
        {{dead3, {not_a_number, 1}, dead3}, {.patience = 2}, {}},  // one that cannot be judged
        {{dead3, {0, 0, 0, 0}, dead3}, {.patience = 2}, {}},
        {{dead3}, {.patience = 1}, {0}},
        {{{19, 1}}, {.dead_share = 0.1, .patience = 1}, {}},  // 0.1 is not below 0.1
        {{{19, 0.9}}, {.dead_share = 0.1, .patience = 1}, {0}},
        {{{10, 0}}, {.dead_share = 0, .patience = 1}, {}},
        {{{10, 0}}, {.threshold = 1, .dead_share = 0}, {0}},
        {{{5, 5}}, {.threshold = 1}, {}},
    };
    for (std::size_t i = 0; i < rows.size(); ++i) {
        CAPTURE(i);
        CHECK(fires_at(with(rows[i].rule), loads(rows[i].saves)) == rows[i].fires);
    }
    // The least load of the dead, of equal ones the first; both where both.
    const auto least = findings_of(with({.dead_share = 0.5, .patience = 1}), loads({{9, 1, 0.5, 0.5, 9}}));
    CHECK(least[0].value == doctest::Approx(0.125));
    CHECK(contains(least[0].message, "expert 2 "));
    const auto both = findings_of(with({.patience = 1}), loads({{16, 0, 0, 0}}));
    CHECK(both[0].value == 4);
    CHECK(contains(both[0].message, "above 3; expert 1 of 4 has 0%"));
}

TEST_CASE("expert_imbalance: the axes before the last are summed; or elements are numbers of experts") {
    const auto greatest = [](const expert_imbalance& rule, const memory_storage& store) {
        const auto found = findings_of(with(rule), store);
        return found.empty() ? 0 : found[0].value;
    };
    const expert_imbalance low{.threshold = 1.4, .dead_share = 0};
    CHECK(greatest(low, one({1, 0, 1, 0, 0, 1, 1, 0}, {2, 2, 2})) == 1.5);
    CHECK(greatest(low, run_of({{.tensors = {tensor_of<std::int32_t>("e", {3, 1})}}})) == 1.5);
    CHECK(
        greatest(low, run_of({{.tensors = {{.name = "e",
                                            .type = dtype::boolean,
                                            .shape = {4, 1, 2},
                                            .content = {std::byte{1}, std::byte{0}, std::byte{1}, std::byte{0},
                                                        std::byte{1}, std::byte{0}, std::byte{0}, std::byte{1}}}}}})) ==
        1.5);
    expert_imbalance numbers = low;
    numbers.experts = 2;
    CHECK(greatest(numbers, one({0, 0, 0, 1}, {2, 2})) == 1.5);
    CHECK(greatest(numbers, one({0, 0, -1, 0, 1, -7}, {6})) == 1.5);  // dropped tokens
    CHECK(greatest(numbers, one({1}, {})) == 2);
    numbers.experts = 4;
    CHECK(greatest(numbers, run_of({{.tensors = {tensor_of<std::uint8_t>("e", {3, 3, 1})}}})) ==
          doctest::Approx(8. / 3));
}

TEST_CASE("expert_imbalance: elements that are no loads end the rule; in earlier saves they are not judged") {
    CHECK(contains(error_of({}, one({3, -1}, {2})), "tensor e of worker_0 at step 0"));
    CHECK(contains(error_of({}, one({3, -1}, {2})), "an element is -1"));
    CHECK(error_of({}, one({3, -0.0}, {2})).empty());
    CHECK(contains(error_of({.experts = 2}, one({0, 2}, {2})), "not the number of one of 2 experts"));
    CHECK(contains(error_of({.experts = 2}, one({0, 0.5}, {2})), "0.5"));
    CHECK(contains(error_of({.experts = 2}, one({0, -0.5}, {2})), "-0.5"));
    CHECK(error_of({}, one({not_a_number, -1}, {2})).empty());  // not finite comes first
    const auto store = loads({{5, 0}, {5, -1}, {5, 0}, {5, 0}});
    CHECK(with({.patience = 2})(memory_trial{store}, 2).empty());
    CHECK(with({.patience = 2})(memory_trial{store}, 3).size() == 1);
    const auto results = invoke_rules(memory_trial{store}, {}, with({.patience = 1}));
    CHECK(results[0].outcome.met_at == steps_list{0});
    CHECK(results[0].outcome.end == invoke_end::failed);
}

TEST_CASE("expert_imbalance: notes, and what is as if it was not saved") {
    const auto notes = [](const memory_storage& store, const expert_imbalance& rule = {}) {
        return notes_of(with(rule), store).size();
    };
    CHECK(notes(one({5}, {})) == 1);
    CHECK(notes(one({5, 5}, {2, 1})) == 1);
    CHECK(notes(one({5, not_a_number}, {2})) == 1);
    CHECK(notes(one({5, infinite}, {2})) == 1);
    CHECK(notes(one({0, 0}, {2})) == 1);
    CHECK(notes(one({-1, -1}, {2}), {.experts = 2}) == 1);  // every token was dropped
    CHECK(notes(run_of({{.tensors = {saved("mean", "e", 1)}}})) == 1);
    CHECK(notes(one({}, {0})) == 0);
    CHECK(notes(run_of({{.tensors = {tensor_of<std::complex<float>>("e", {{1, 0}})}}})) == 0);
    memory_storage store = loads({{5, 0}, {5, 0}});
    damage(store, 0);
    CHECK(notes_of(with({}), store)[0].damaged);
    CHECK(fires_at(with({.patience = 1}), store) == steps_list{1});
    CHECK(fires_at(with({.patience = 2}), store).empty());
}

TEST_CASE("expert_imbalance: modes are series apart, and so are workers") {
    std::vector<written_step> steps;
    for (step_number i = 0; i < 6; ++i) {
        for (const std::string worker : {"a", "b"}) {
            const bool is_dead = i % 2 == 0 && worker == "b";
            steps.push_back({.step = i,
                             .tensors = {tensor_of<double>("e", {5, is_dead ? 0.0 : 5.0})},
                             .mode = i % 2 == 0 ? mode::train : mode::eval,
                             .mode_step = i / 2,
                             .worker = worker});
        }
    }
    CHECK(fires_at(with({}), run_of(steps)) == steps_list{4});
    CHECK(findings_of(with({}), run_of(steps))[0].worker == "b");
    CHECK(fires_at(with({.all_workers = false}), run_of(steps)).empty());
}

TEST_CASE("expert_imbalance: bad settings are refused") {
    CHECK_NOTHROW(with({.threshold = 1, .dead_share = 0, .patience = 1, .experts = 2}).check());
    CHECK(thrown_code([&] { static_cast<void>(expert_imbalance{}.check()); }) == error_code::insufficient_information);
    for (const expert_imbalance& bad :
         {expert_imbalance{.threshold = 0.9}, expert_imbalance{.threshold = infinite},
          expert_imbalance{.dead_share = -0.1}, expert_imbalance{.dead_share = 1.1}, expert_imbalance{.patience = 0},
          expert_imbalance{.experts = 1}, expert_imbalance{.experts = -4}}) {
        CHECK_THROWS_AS(with(bad).check(), value_error);
    }
}
