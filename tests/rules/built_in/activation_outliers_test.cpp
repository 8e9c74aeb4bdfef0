#include <smdebug/rules/built_in/activation_outliers.hpp>

#include "rules/built_in/history_runs.hpp"
#include "support/test.hpp"
#include "support/thrown_code.hpp"

using namespace smdebug;
using namespace smdebug_test;
using rules::activation_outliers;

namespace {

activation_outliers rule_of(double threshold, double min_abs) {
    return {.tensor_regex = ".", .threshold = threshold, .min_abs = min_abs};
}

memory_storage one(const written_tensor& tensor, const std::vector<written_shape>& shapes = {}) {
    return run_of({{.tensors = {tensor}, .shapes = shapes}});
}
bool fires(const memory_storage& store, double threshold, double min_abs) {
    return !fires_at(rule_of(threshold, min_abs), store).empty();
}
std::vector<float> with_outlier(std::size_t ones, float outlier) {
    std::vector<float> values(ones, 1);
    values.push_back(outlier);
    return values;
}

}  // namespace

TEST_CASE("activation_outliers: the example of the specification") {
    const auto store = one(tensor_of("x", with_outlier(9, 4)));
    CHECK_FALSE(fires(store, 4, 3));
    CHECK(fires(store, 3.9, 3));
    CHECK_FALSE(fires(store, 3.9, 4));  // at min_abs
    const auto found = findings_of(rule_of(3.9, 3), store);
    REQUIRE(found.size() == 1);
    CHECK(found[0].value == 4);
    CHECK(found[0].threshold == 3.9);
    CHECK(found[0].message ==
          "the largest magnitude, 4, is 4 times 1, the root mean square of the others; 10 elements");
}

TEST_CASE("activation_outliers: a lone value, negative outliers, other dtypes, defaults") {
    // A lone value has at most 1000 * sqrt(n - 1).
    const auto lone = findings_of(rule_of(1, 0), one(tensor_of<double>("x", {0, 0, 0, 0, 5})));
    REQUIRE(lone.size() == 1);
    CHECK(lone[0].value == doctest::Approx(2000));
    CHECK_FALSE(fires(one(tensor_of<double>("x", {0, 0})), 1, 0));
    CHECK(fires(one(tensor_of<double>("x", {1, 1, -4})), 3.9, 3));
    CHECK(fires(one(tensor_of<std::int16_t>("x", {1, 1, -400})), 100, 100));
    CHECK(fires(one(tensor_of<float16>("x", {float16{1.0F}, float16{1.0F}, float16{400.0F}})), 100, 100));
    CHECK(fires(one({.name = "x", .type = dtype::boolean, .shape = {2}, .content = {std::byte{1}, std::byte{0}}}), 1,
                0.5));
    CHECK(fires_at(activation_outliers{.tensor_regex = "x"}, one(tensor_of("x", with_outlier(99, 101)))).size() == 1);
    CHECK(fires_at(activation_outliers{.tensor_regex = "x"}, one(tensor_of("x", with_outlier(99, 100)))).empty());
    // Tiny values whose squares vanish: r is 0, the ratio infinite.
    const auto tiny = findings_of(rule_of(1, 0), one(tensor_of<double>("x", {1e-200, 1e-200})));
    REQUIRE(tiny.size() == 1);
    CHECK(tiny[0].value == infinite);
}

TEST_CASE("activation_outliers: reductions and the shape suffice, and win over values") {
    const std::vector<written_shape> ten{{"x", "x", {10}}};
    const auto reduced = [](const std::vector<written_tensor>& tensors, const std::vector<written_shape>& shapes) {
        return !fires_at(rule_of(3.9, 3), run_of({{.tensors = tensors, .shapes = shapes}})).empty();
    };
    CHECK(reduced({saved("abs_max", "x", 4), saved("l2", "x", 5)}, ten));
    CHECK(reduced({saved("abs_max", "x", 4), saved("abs_l2", "x", 5)}, ten));
    CHECK(reduced({saved("min", "x", -4), saved("max", "x", 1), saved("l2", "x", 5)}, ten));
    CHECK(reduced({saved("min", "x", -1), saved("max", "x", 4), saved("l2", "x", 5)}, ten));
    CHECK_FALSE(reduced({saved("max", "x", 4), saved("l2", "x", 5)}, ten));
    CHECK_FALSE(reduced({saved("abs_max", "x", 4), saved("l2", "x", 5)}, {}));
    CHECK_FALSE(reduced({saved("abs_max", "x", 4)}, ten));
    CHECK(reduced({tensor_of("x", with_outlier(9, 1)), saved("abs_max", "x", 4), saved("l2", "x", 5)}, {}));
    CHECK(reduced(
        {tensor_of("x", with_outlier(9, 1)), saved("min", "x", -4), saved("max", "x", 1), saved("l2", "x", 5)}, {}));
}

TEST_CASE("activation_outliers: notes what it lacks; as if not saved: text, complex, empty") {
    const auto notes = [](const memory_storage& store) { return notes_of(rule_of(1, 0), store).size(); };
    CHECK(notes(one(tensor_of<float>("x", {5}))) == 1);
    CHECK(notes(one(tensor_of<double>("x", {5, not_a_number}))) == 1);
    CHECK(notes(one(tensor_of<double>("x", {5, infinite}))) == 1);
    CHECK(notes(one(tensor_of<double>("x", {5, 1e200}))) == 1);  // too large to square
    CHECK(notes(one(saved("l2", "x", 5), {{"x", "x", {10}}})) == 1);
    CHECK(notes(one(saved("abs_max", "x", 5), {{"x", "x", {10}}})) == 1);
    CHECK(notes(one(tensor_of<float>("x", {}))) == 0);
    CHECK(notes(one(tensor_of<std::complex<float>>("x", {{9, 0}, {1, 0}}))) == 0);
    CHECK(notes(one({.name = "x", .type = dtype::string, .shape = {1}, .strings = {"text"}})) == 0);
    memory_storage store = one(tensor_of("x", with_outlier(9, 4)));
    damage(store, 0);
    const auto damaged = notes_of(rule_of(1, 0), store);
    REQUIRE(damaged.size() == 1);
    CHECK(damaged[0].damaged);
}

TEST_CASE("activation_outliers: every worker, or the first; every mode") {
    std::vector<written_step> steps;
    for (const std::string worker : {"a", "b"}) {
        steps.push_back({.step = 0,
                         .tensors = {tensor_of("x", with_outlier(9, worker == "b" ? 4 : 1))},
                         .mode = mode::predict,
                         .worker = worker});
    }
    const auto store = run_of(steps);
    activation_outliers rule = rule_of(3.9, 3);
    CHECK(findings_of(rule, store)[0].worker == "b");
    rule.all_workers = false;
    CHECK(findings_of(rule, store).empty());
}

TEST_CASE("activation_outliers: bad settings are refused") {
    CHECK_NOTHROW(rule_of(1e-9, 0).check());
    CHECK(thrown_code([&] { static_cast<void>(activation_outliers{}.check()); }) ==
          error_code::insufficient_information);
    for (const auto& [threshold, min_abs] : std::vector<std::pair<double, double>>{
             {0, 0}, {-1, 0}, {not_a_number, 0}, {infinite, 0}, {1, -1}, {1, infinite}}) {
        CHECK_THROWS_AS(rule_of(threshold, min_abs).check(), value_error);
    }
}
