#include <smdebug/rules/built_in/nan_origin.hpp>

#include "rules/built_in/history_runs.hpp"
#include "support/given_text.hpp"
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;
using rules::nan_origin;
using names = std::vector<std::string>;

namespace {

steps_list fires(const nan_origin& rule, const memory_storage& store) { return fires_at(rule, store, false); }

/// What is found at one step of tensors in the order of the file.
std::vector<finding> at_once(const std::vector<written_tensor>& tensors, const nan_origin& rule = {}) {
    return findings_of(rule, run_of({{.tensors = tensors}}));
}

}  // namespace

TEST_CASE("nan_origin: the example of the specification") {
    const auto store = run_of(
        {{.step = 3, .tensors = {tensor_of<double>("z", {2, -7}), tensor_of<double>("a", {1})}},
         {.step = 4, .tensors = {tensor_of<double>("z", {1, not_a_number}), tensor_of<double>("a", {not_a_number})}},
         {.step = 5, .tensors = {tensor_of<double>("z", {not_a_number}), tensor_of<double>("a", {not_a_number})}}});
    CHECK(fires({}, store) == steps_list{4});
    const auto found = findings_of(nan_origin{}, store);
    REQUIRE(found.size() == 1);
    CHECK(found[0].tensor == "z");
    CHECK(found[0].worker == "worker_0");
    CHECK(found[0].value == 0.5);
    CHECK(found[0].threshold == 0);
    CHECK(found[0].message == "1 NaN, 0 +Inf, 0 -Inf of 2 values; before: largest magnitude 7 at step 3");
    // A walk that starts late shows that it came late.
    const auto late = invoke_rule(nan_origin{}, memory_trial{store}, {.start_step = 5}).findings;
    REQUIRE(late.size() == 1);
    CHECK(contains(late[0].message, "before: largest magnitude not finite at step 4"));
}

TEST_CASE("nan_origin: the first in the file, by values or reductions") {
    const auto first = [](const std::vector<written_tensor>& tensors) {
        const auto found = at_once(tensors);
        REQUIRE(found.size() == 1);
        return found[0].tensor;
    };
    const auto bad = [](const char* name) { return tensor_of<double>(name, {not_a_number}); };
    const float inf = std::numeric_limits<float>::infinity();
    CHECK(first({bad("c"), bad("a"), bad("b")}) == "c");
    CHECK(first({tensor_of<double>("z", {1}), bad("b"), bad("a")}) == "b");
    CHECK(first({saved("max", "c", inf), bad("a")}) == "c");
    CHECK(first({saved("l1", "c", 1), bad("a"), bad("c")}) == "c");  // the least place of its records
    CHECK(first({bad("b"), saved("min", "a", inf)}) == "b");
}

TEST_CASE("nan_origin: what is bad") {
    const float inf = std::numeric_limits<float>::infinity();
    const float f_nan = std::numeric_limits<float>::quiet_NaN();
    const auto is_bad = [](const std::vector<written_tensor>& tensors, bool only_nan = false) {
        return !at_once(tensors, {.only_nan = only_nan}).empty();
    };
    CHECK(is_bad({tensor_of<double>("x", {1, -infinite})}));
    CHECK_FALSE(is_bad({tensor_of<double>("x", {1, -infinite})}, true));
    CHECK(is_bad({tensor_of<double>("x", {infinite, not_a_number})}, true));
    CHECK(at_once({tensor_of<double>("x", {infinite, not_a_number, 1, 1})}, {.only_nan = true})[0].value == 0.25);
    CHECK(at_once({tensor_of<double>("x", {infinite, not_a_number, -infinite, 1})})[0].value == 0.75);
    CHECK(is_bad({tensor_of<float16>("x", {float16{1e9F}})}));
    CHECK_FALSE(is_bad({tensor_of<std::int32_t>("x", {1})}));
    CHECK_FALSE(is_bad({tensor_of<std::complex<double>>("x", {{not_a_number, 0}})}));
    CHECK_FALSE(is_bad({tensor_of<double>("x", {})}));
    for (const char* what : {"min", "max", "abs_min", "abs_max"}) {
        CAPTURE(what);
        CHECK(is_bad({saved(what, "x", f_nan)}));
        CHECK(is_bad({saved(what, "x", f_nan)}, true));
        CHECK(is_bad({saved(what, "x", -inf)}));
        CHECK_FALSE(is_bad({saved(what, "x", -inf)}, true));
        CHECK_FALSE(is_bad({saved(what, "x", 1)}));
        CHECK_FALSE(is_bad({tensor_of<float>("x", {1}), saved(what, "x", f_nan)}));  // values decide
    }
    for (const char* what : {"mean", "sum", "l1", "l2", "std", "abs_mean", "variance"}) {
        CHECK_FALSE(is_bad({saved(what, "x", f_nan)}));
        CHECK(notes_of(nan_origin{}, run_of({{.tensors = {saved(what, "x", f_nan)}}})).size() == 1);
    }
    const auto reduced = at_once({saved("max", "x", inf)});
    CHECK(reduced[0].value != reduced[0].value);
    CHECK(reduced[0].message == "the saved max is inf; before: none");
}

TEST_CASE("nan_origin: fires once, or again after so many clean steps") {
    struct row {
        std::vector<double> values;
        std::int64_t rearm_after;
        steps_list fires;
    };
    const std::vector<row> rows{
        {{1, not_a_number, 1, not_a_number}, 0, {1}},
        {{1, not_a_number, 1, not_a_number}, 1, {1, 3}},
        {{not_a_number, not_a_number, not_a_number}, 1, {0}},
        {{not_a_number, 1, not_a_number, 1, 1, not_a_number}, 2, {0, 5}},
        {{not_a_number, 1, not_a_number, 1, not_a_number, 1}, 2, {0}},
        {{1, 1, 1}, 1, {}},
    };
    for (const row& each : rows) {
        CHECK(fires({.rearm_after = each.rearm_after}, run_of(numbers_of("x", each.values))) == each.fires);
    }
    // Every mode counts alike; a step at which it saved nothing that is selected does not count.
    const auto store = run_of({{.step = 0, .tensors = {tensor_of<double>("x", {not_a_number})}},
                               {.step = 1, .tensors = {tensor_of<double>("x", {1})}, .mode = mode::eval},
                               {.step = 2, .tensors = {tensor_of<double>("other", {1})}},
                               {.step = 3, .tensors = {tensor_of<double>("x", {not_a_number})}}});
    CHECK(fires({.tensor_regex = "x", .rearm_after = 1}, store) == steps_list{0, 3});
    CHECK(fires({.tensor_regex = "x", .rearm_after = 2}, store) == steps_list{0});
    CHECK(fires({.rearm_after = 2}, store) == steps_list{0, 3});
    CHECK(contains(findings_of(nan_origin{.rearm_after = 2}, store)[1].message, "magnitude 1 at step 1"));  // any mode
    // A mean alone does not say whether a step was clean.
    const auto unknown = run_of({{.step = 0, .tensors = {tensor_of<double>("x", {not_a_number})}},
                                 {.step = 1, .tensors = {saved("mean", "x", 1)}},
                                 {.step = 2, .tensors = {tensor_of<double>("x", {not_a_number})}}});
    CHECK(fires({.rearm_after = 1}, unknown) == steps_list{0});
}

TEST_CASE("nan_origin: each worker, or all together") {
    std::vector<written_step> steps;
    for (step_number i = 0; i < 3; ++i) {
        for (const std::string worker : {"a", "b"}) {
            const double value = i >= (worker == "a" ? 2 : 1) ? not_a_number : 5;
            steps.push_back({.step = i,
                             .tensors = {tensor_of<double>("y", {value}), tensor_of<double>("x", {value})},
                             .worker = worker});
        }
    }
    steps[5].tensors.push_back(tensor_of<double>("m", {not_a_number}));
    const auto store = run_of(steps);
    const auto found = findings_of(nan_origin{}, store);
    REQUIRE(found.size() == 2);
    CHECK(found[0].worker == "b");
    CHECK(found[0].step == 1);
    CHECK(found[0].tensor == "y");
    CHECK(found[1].worker == "a");
    CHECK(found[1].step == 2);
    const auto together = findings_of(nan_origin{.all_workers = false}, store);
    REQUIRE(together.size() == 1);  // m of b is bad, too; a comes first
    CHECK(together[0].worker == "a");
    CHECK(together[0].step == 2);
    CHECK(together[0].tensor == "y");
    CHECK(contains(together[0].message, "magnitude 5 at step 1"));
}

TEST_CASE("nan_origin: selects all, or those that match, without the excluded ones") {
    const std::vector<written_tensor> tensors{tensor_of<double>("mask", {-infinite}),
                                              tensor_of<double>("b", {not_a_number}),
                                              tensor_of<double>("c", {not_a_number})};
    const auto store = run_of({{.tensors = tensors}}, {{"group", {"c", "mask"}}});
    const auto tensor = [&](const nan_origin& rule) { return tensors_in(findings_of(rule, store), true); };
    CHECK(tensor({}) == names{"mask"});
    CHECK(tensor({.exclude_regex = "^mask"}) == names{"b"});
    CHECK(tensor({.collection_names = "group", .exclude_regex = "^mask"}) == names{"c"});
    CHECK(tensor({.tensor_regex = "^c$"}) == names{"c"});
    CHECK(tensor({.exclude_regex = {"mask", "b", "c"}}).empty());
    CHECK(tensor({.tensor_regex = "mask", .exclude_regex = "mask"}).empty());
}

TEST_CASE("nan_origin: an unreadable save is noted; what was before may be unreadable, too") {
    memory_storage store = run_of(numbers_of("x", {not_a_number, 1, 1, not_a_number}));
    damage(store, 1);
    damage(store, 2);
    const auto notes = notes_of(nan_origin{.rearm_after = 1}, store);
    CHECK(notes.size() == 2);
    CHECK(notes[0].damaged);
    CHECK(fires({.rearm_after = 1}, store) == steps_list{0});  // it is unknown whether they were clean
    memory_storage before = run_of(numbers_of("x", {1, not_a_number}));
    damage(before, 0);
    CHECK(contains(findings_of(nan_origin{}, before)[0].message, "before: largest magnitude not known at step 0"));
    CHECK_THROWS_AS(nan_origin{.rearm_after = -1}.check(), value_error);
    CHECK_NOTHROW(nan_origin{.rearm_after = 0}.check());
}
