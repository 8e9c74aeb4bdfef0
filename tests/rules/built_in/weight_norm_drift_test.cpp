#include <smdebug/rules/built_in/weight_norm_drift.hpp>

#include "rules/built_in/history_runs.hpp"
#include "rules/built_in/listed.hpp"
#include "support/given_text.hpp"
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;
using rules::weight_norm_drift;

namespace {

const groups_of_tensors weights{{"weights", {"w"}}};

steps_list fires(const std::vector<double>& norms, const weight_norm_drift& rule) {
    return fires_at(rule, run_of(numbers_of("w", norms), weights));
}

}  // namespace

TEST_CASE("weight_norm_drift: the example of the specification") {
    CHECK(fires({1, 2, 4, 8, 8.5}, {.window = 2}).empty());
    CHECK(fires({1, 2, 4, 8, 8.5, 1.9}, {.window = 2}) == steps_list{5});
    CHECK(fires({1, 2, 4, 8, 8.5}, {.window = 3}) == steps_list{3, 4});  // and 8.5 > 4 * 2
    const auto shrank = findings_of(weight_norm_drift{.window = 2}, run_of(numbers_of("w", {8, 8.5, 1.9}), weights));
    REQUIRE(shrank.size() == 1);
    CHECK(shrank[0].value == doctest::Approx(1.9 / 8.5));
    CHECK(shrank[0].threshold == 0.25);
    CHECK(shrank[0].message == "the norm shrank from 8.5 at step 1 to 1.9: to 0.223529 times that, below 0.25");
    const auto grew = findings_of(weight_norm_drift{.window = 3}, run_of(numbers_of("w", {1, 2, 4, 8}), weights));
    REQUIRE(grew.size() == 1);
    CHECK(grew[0].value == 8);
    CHECK(grew[0].threshold == 4);
    CHECK(grew[0].message == "the norm grew from 1 at step 0 to 8: to 8 times that, above 4");
}

TEST_CASE("weight_norm_drift: which norms count") {
    struct row {
        std::vector<double> norms;
        weight_norm_drift rule;
        steps_list fires;
    };
    const std::vector<row> rows{
        {{0, 0, 5}, {}, {}},  // weights that begin as zeros may grow
        {{1e-6, 5}, {}, {}},  // at min_norm: passed over
        {{2e-6, 5}, {}, {1}},
        {{0.5, 5}, {.min_norm = 0.5}, {}},
        {{0.5, 5}, {.min_norm = 0}, {1}},
        {{0, 5}, {.min_norm = 0}, {}},          // 0 is not above 0
        {{5, 0}, {}, {1}},                      // a weight that became 0
        {{5, 0, 0, 5}, {.window = 1}, {1, 2}},  // what is passed over makes room for older ones
        {{4, 1}, {}, {}},                       // 1 * 4 is not below 4
        {{1, 2, 8, 33}, {.warm_up = 1}, {3}},   // the first is not compared with
        {{1, 9, 37, 37}, {.warm_up = 2}, {}},
        {{1, 9, 9, 37}, {.warm_up = 2}, {3}},
        {{0, 1, 2, 9}, {.warm_up = 1}, {3}},  // 0 does not count among the first ones either
        {{1, 8, 9, 9, 37}, {.window = 2, .warm_up = 2}, {4}},
        {{4.1, 1}, {}, {1}},
        {{1, 4}, {}, {}},
        {{1, 3}, {.growth = 2}, {1}},
        {{3, 1}, {.shrink = 2}, {1}},
        {{3, 1}, {.growth = 2}, {}},
        {{10, 1, 5, 5}, {.growth = 4.5, .shrink = 20}, {2, 3}},
        {{1, 100, 10}, {}, {1, 2}},  // growing comes first: 10 > 4 * 1
        {{1, not_a_number, 5}, {.window = 1}, {2}},
        {{1, infinite, 5}, {.window = 1}, {2}},
    };
    for (const row& each : rows) {
        CAPTURE(listed(each.norms));
        CHECK(fires(each.norms, each.rule) == each.fires);
    }
    CHECK(findings_of(weight_norm_drift{.window = 2}, run_of(numbers_of("w", {1, 100, 10}), weights))[1].value == 10);
    std::vector<double> many(30, 1);
    many[0] = 0.01;
    many[11] = 3.9;  // 11 back is beyond the window of 10
    CHECK(fires(many, {.growth = 350}).empty());
    many[11] = 4.1;
    CHECK(fires(many, {}).size() > 1);
}

TEST_CASE("weight_norm_drift: norms come from saved l2, then abs_l2, then the values, of any shape and dtype") {
    const auto grows = [](const written_step& before, const written_step& now) {
        std::vector<written_step> steps{before, now};
        steps[1].step = 1;
        return !fires_at(weight_norm_drift{}, run_of(steps, weights)).empty();
    };
    const auto of = [](const std::vector<float>& values) { return written_step{.tensors = {tensor_of("w", values)}}; };
    CHECK(grows(of({1}), of({3, 3, 3})));  // another shape: sqrt(27)
    CHECK_FALSE(grows(of({1}), of({2, 2, 2})));
    CHECK(grows({.tensors = {saved("l2", "w", 1)}}, {.tensors = {saved("l2", "w", 5)}}));
    CHECK(grows({.tensors = {saved("abs_l2", "w", 1)}}, {.tensors = {saved("l2", "w", 5)}}));
    CHECK_FALSE(grows({.tensors = {saved("l2", "w", 1)}}, {.tensors = {saved("l1", "w", 5)}}));
    CHECK(grows({.tensors = {tensor_of<float>("w", {100}), saved("l2", "w", 1)}}, of({5})));
    CHECK(grows({.tensors = {tensor_of<float>("w", {100}), saved("abs_l2", "w", 1)}}, of({5})));
    CHECK(grows({.tensors = {tensor_of<float>("w", {100}), saved("abs_l2", "w", 50), saved("l2", "w", 1)}}, of({5})));
    CHECK(grows({.tensors = {tensor_of<std::int8_t>("w", {1})}}, {.tensors = {tensor_of<std::int8_t>("w", {-128})}}));
    CHECK(grows({.tensors = {tensor_of<float16>("w", {float16{1.0F}})}},
                {.tensors = {tensor_of<float16>("w", {float16{5.0F}})}}));
    CHECK_FALSE(grows({.tensors = {tensor_of<bfloat16>("w", {bfloat16{1.0F}})}},
                      {.tensors = {tensor_of<bfloat16>("w", {bfloat16{4.0F}})}}));  // at the limit
    const auto trues = [](std::size_t count) {
        return written_step{.tensors = {{.name = "w",
                                         .type = dtype::boolean,
                                         .shape = {count},
                                         .content = std::vector<std::byte>(count, std::byte{1})}}};
    };
    CHECK(grows(trues(1), trues(17)));
    CHECK_FALSE(grows(trues(1), trues(16)));
    CHECK(grows({.tensors = {tensor_of<double>("w", {1e-3})}}, {.tensors = {tensor_of<double>("w", {1e200})}}));
}

TEST_CASE("weight_norm_drift: notes what cannot be judged; text, complex and empty saves are as if not there") {
    const auto notes = [](const written_tensor& tensor) {
        return notes_of(weight_norm_drift{}, run_of({{.tensors = {tensor}}}, weights));
    };
    CHECK(notes(saved("l1", "w", 1)).size() == 1);
    CHECK(notes(tensor_of<double>("w", {not_a_number})).size() == 1);
    CHECK(notes(tensor_of<double>("w", {infinite, 1})).size() == 1);
    CHECK(notes(saved("l2", "w", std::numeric_limits<float>::infinity())).size() == 1);
    CHECK(notes(tensor_of<float>("w", {})).empty());
    CHECK(notes(tensor_of<std::complex<float>>("w", {{1, 1}})).empty());
    CHECK(notes({.name = "w", .type = dtype::string, .shape = {1}, .strings = {"text"}}).empty());
    std::vector<written_step> steps = numbers_of("w", {1, 0, 0, 9});
    steps[1].tensors = {tensor_of<std::complex<float>>("w", {{100, 1}})};
    steps[2].tensors = {tensor_of<float>("w", {})};
    CHECK(fires_at(weight_norm_drift{.window = 1}, run_of(steps, weights)) == steps_list{3});
    memory_storage store = run_of(numbers_of("w", {1, 1, 9}), weights);
    damage(store, 1);
    const auto damaged = notes_of(weight_norm_drift{}, store);
    REQUIRE(damaged.size() == 1);
    CHECK(damaged[0].damaged);
    CHECK(fires_at(weight_norm_drift{}, store) == steps_list{2});
}

TEST_CASE("weight_norm_drift: by mode and by worker") {
    std::vector<written_step> steps;
    for (step_number i = 0; i < 8; ++i) {
        for (const std::string worker : {"a", "b"}) {
            const bool training = i % 2 == 0;
            const double norm = (training ? 1 : 10) * (worker == "a" ? 1 : 100) * (i == 6 && worker == "b" ? 5 : 1);
            steps.push_back({.step = i,
                             .tensors = {tensor_of<double>("w", {norm})},
                             .mode = training ? mode::train : mode::eval,
                             .mode_step = i / 2,
                             .worker = worker});
        }
    }
    const auto store = run_of(steps, weights);
    CHECK(fires_at(weight_norm_drift{}, store) == steps_list{6});
    CHECK(findings_of(weight_norm_drift{}, store)[0].worker == "b");
    CHECK(fires_at(weight_norm_drift{.all_workers = false}, store).empty());
}

TEST_CASE("weight_norm_drift: bad settings are refused") {
    CHECK_NOTHROW(weight_norm_drift{.window = 1, .growth = 1.01, .shrink = 1.01, .min_norm = 0}.check());
    for (const weight_norm_drift& bad :
         {weight_norm_drift{.window = 0}, weight_norm_drift{.growth = 1}, weight_norm_drift{.growth = infinite},
          weight_norm_drift{.shrink = 1}, weight_norm_drift{.shrink = not_a_number}, weight_norm_drift{.min_norm = -1},
          weight_norm_drift{.min_norm = infinite}, weight_norm_drift{.warm_up = -1}}) {
        CHECK_THROWS_AS(bad.check(), value_error);
    }
    CHECK_THROWS_WITH_AS(weight_norm_drift{.growth = 1}.check(),
                         doctest::Contains("growth is 1; it must be a number above 1"), value_error);
}
