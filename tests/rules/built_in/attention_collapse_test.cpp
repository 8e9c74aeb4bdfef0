#include <smdebug/rules/built_in/attention_collapse.hpp>

#include "rules/built_in/history_runs.hpp"
#include "support/given_text.hpp"
#include "support/test.hpp"
#include "support/thrown_code.hpp"

using namespace smdebug;
using namespace smdebug_test;
using rules::attention_collapse;

namespace {

memory_storage one(const std::vector<double>& values, const shape_type& shape) {
    return run_of({{.tensors = {tensor_of<double>("a", values, shape)}}});
}
std::optional<finding> verdict(attention_collapse rule, const memory_storage& store) {
    rule.tensor_regex = "a";
    const auto found = rule(memory_trial{store}, 0);
    return found.empty() ? std::nullopt : std::optional{found.front()};
}
std::string error_of(attention_collapse rule, const memory_storage& store) {
    return what_of<value_error>([&] { return verdict(std::move(rule), store); });
}

const std::vector<double> example{1, 0, 0, 0, .5, .5, 0, 0};

}  // namespace

TEST_CASE("attention_collapse: the example of the specification") {
    const auto store = one(example, {2, 4});
    CHECK_FALSE(verdict({.min_entropy = 0.25}, store));
    const auto found = verdict({.min_entropy = 0.3}, store);
    REQUIRE(found);
    CHECK(found->met);
    CHECK(found->value == doctest::Approx(0.25));
    CHECK(found->threshold == 0.3);
    CHECK(found->message ==
          "the mean entropy of 2 rows is 0.25, below min_entropy, 0.3: the attention is on few positions");
    // Causal: 3 and 4 positions.
    const auto causal = verdict({.min_entropy = 1, .causal = true}, store);
    REQUIRE(causal);
    CHECK(causal->value == doctest::Approx(0.25));
    CHECK(fires_at(attention_collapse{.tensor_regex = "a", .min_entropy = 0.3}, store) == steps_list{0});
}

TEST_CASE("attention_collapse: the mean of groups of rows") {
    struct row {
        std::vector<double> values;
        shape_type shape;
        attention_collapse rule;
        std::optional<double> value;
        const char* message;
    };
    const double nan = not_a_number;
    const std::vector<row> rows{
        {{.5, .5, .5, .5}, {2, 2}, {}, {}, ""},
        {{.5, .5, .5, .5}, {2, 2}, {.max_entropy = 1}, {}, ""},
        {{.5, .5, .5, .5}, {2, 2}, {.max_entropy = 0.99}, 1, "of 2 rows is 1, above max_entropy, 0.99"},
        {{1, 0, .5, .5}, {2, 2}, {}, {}, ""},
        {{1, 0, .5, .5}, {2, 2}, {.head_axis = 0}, 0, "of the 1 rows of head 0 is 0"},
        {{.5, .5, 1, 0}, {2, 2}, {.head_axis = 0}, 0, "head 1"},
        {{1, 0, 1, 0}, {2, 2}, {.head_axis = 0}, 0, "head 0"},  // ties: the lowest
        {{1, 0, .5, .5}, {2, 2}, {.min_entropy = 0, .max_entropy = 0.9, .head_axis = 0}, 1, "head 1"},
        {{1, 0, .5, .5}, {2, 2}, {.max_entropy = 0.9, .head_axis = 0}, 0, "below"},  // the least comes first
        {{.5, .5, 1, 0, .5, .5, 1, 0}, {2, 2, 2}, {.head_axis = 1}, 0, "of the 2 rows of head 1"},
        {{.5, .5, 1, 0, .5, .5, 1, 0}, {2, 2, 2}, {.head_axis = 0}, {}, ""},
        {{.5, .5, .5, .5, 1, 0, 1, 0}, {2, 2, 1, 2}, {.head_axis = 0}, 0, "of the 2 rows of head 1"},
        {{1, 0}, {2}, {}, 0, "of 1 rows"},
        {{1, 0, nan, 1, 0, 0}, {3, 2}, {}, 0, "of 1 rows"},  // skipped: not finite, masked
        {{1, 0, infinite, 1}, {2, 2}, {}, 0, "of 1 rows"},
        {{1.005, 0}, {1, 2}, {}, 0, ""},
        {{1.005, -0.005}, {1, 2}, {}, 0, ""},  // within the tolerance
        {{0.995, 0}, {1, 2}, {}, 0.995 * 0.00501254 / 0.693147, ""},
        {{1, 0, .5, .5}, {2, 2}, {.min_entropy = 0.9, .causal = true}, {}, ""},  // one position: skipped
        {{1, 0, 0, 1, 0, 0}, {3, 2}, {.causal = true}, {}, "no row"},            // sizes 0, 1, 2; a masked row
        {{1, 0, 1, 0, 1, 0}, {3, 2}, {.causal = true}, 0, "of 1 rows"},
        {{.25, .25, .25, .25}, {1, 4}, {.min_entropy = 0, .max_entropy = 0.99, .causal = true}, 1, ""},
    };
    for (std::size_t i = 0; i < rows.size(); ++i) {
        CAPTURE(i);
        const auto found = verdict(rows[i].rule, one(rows[i].values, rows[i].shape));
        CHECK((found && found->met) == rows[i].value.has_value());
        if (found) {
            CHECK(contains(found->message, rows[i].message));
        }
        if (found && rows[i].value) {
            CHECK(found->value == doctest::Approx(*rows[i].value).epsilon(1e-4));
        }
    }
}

TEST_CASE("attention_collapse: rows that are not probabilities end the rule, with what was found before") {
    const std::vector<std::vector<double>> wrong{{.5, .4}, {1, .5}, {1.2, -.2}, {2, 1}, {-1, 2}};
    for (const auto& row : wrong) {
        std::vector<double> values{1, 0};
        values.insert(values.end(), row.begin(), row.end());
        const std::string text = error_of({}, one(values, {2, 2}));
        CAPTURE(text);
        CHECK(contains(text, "row 1 of tensor a of worker_0 at step 0"));
    }
    CHECK(contains(error_of({}, one({.5, .4}, {2})), "its sum is 0.9"));
    CHECK(error_of({.tolerance = 0.2}, one({.5, .4}, {2})).empty());
    CHECK(error_of({.causal = true}, one({5, 5, 1, 0}, {2, 2})).empty());  // row 0 has one position: skipped first
    const auto store = run_of({{.step = 0, .tensors = {tensor_of<float>("a", {1, 0})}},
                               {.step = 1, .tensors = {tensor_of<float>("a", {1, 1})}},
                               {.step = 2, .tensors = {tensor_of<float>("a", {1, 0})}}});
    const auto results = invoke_rules(memory_trial{store}, {}, attention_collapse{.tensor_regex = "a"});
    CHECK(results[0].outcome.met_at == steps_list{0});
    CHECK(results[0].outcome.end == invoke_end::failed);
    CHECK(contains(results[0].failure, "at step 1"));
}

TEST_CASE("attention_collapse: notes, and what is as if it was not saved") {
    const auto note = [](const attention_collapse& rule, const memory_storage& store) {
        const auto found = verdict(rule, store);
        return found && !found->met ? found->message : std::string{};
    };
    CHECK(contains(note({}, one({1}, {})), "no axes"));
    CHECK(contains(note({.head_axis = 1}, one({1, 0, 1, 0}, {2, 2})), "no axis 1"));
    CHECK(contains(note({.head_axis = 9}, one({1, 0, 1, 0}, {2, 2})), "no axis 9"));
    CHECK(contains(note({.causal = true}, one({1, 0}, {2})), "one axis"));
    CHECK(contains(note({}, one({0, 0}, {2})), "no row"));
    CHECK(contains(note({}, one({1, 1}, {2, 1})), "no row"));
    CHECK(contains(note({}, run_of({{.tensors = {saved("mean", "a", 1)}}})), "reductions"));
    CHECK(note({}, one({}, {2, 0})).empty());
    CHECK(note({}, run_of({{.tensors = {tensor_of<std::complex<float>>("a", {{1, 0}})}}})).empty());
    CHECK_FALSE(
        verdict({}, run_of({{.tensors = {{.name = "a", .type = dtype::string, .shape = {1}, .strings = {"x"}}}}})));
    memory_storage store = one(example, {2, 4});
    damage(store, 0);
    CHECK(verdict({}, store)->damaged);
    CHECK(verdict({}, run_of({{.tensors = {tensor_of<float16>("a", {float16{1.0F}, float16{0.0F}})}}}))->met);
    CHECK(verdict({}, run_of({{.tensors = {tensor_of<std::int64_t>("a", {1, 0})}}}))->met);
}

TEST_CASE("attention_collapse: every worker and every mode, or the first worker by name that saved it") {
    const std::vector<double> all_alike{.5, .5};
    const std::vector<double> on_one{1, 0};
    const auto step = [](step_number at, const std::vector<double>& row, mode in, const std::string& worker) {
        return written_step{.step = at, .tensors = {tensor_of<double>("a", row)}, .mode = in, .worker = worker};
    };
    const auto store = run_of({step(0, all_alike, mode::train, "v"), step(0, on_one, mode::train, "w"),
                               step(1, on_one, mode::eval, "w"), step(2, {}, mode::predict, "v"),
                               step(2, on_one, mode::predict, "w")});
    const auto found = findings_of(attention_collapse{.tensor_regex = "a"}, store);
    REQUIRE(found.size() == 3);
    for (const finding& each : found) {
        CHECK(each.worker == "w");
    }
    // At 0 that of v counts; at 1 and 2 v saved nothing, or nothing that counts.
    CHECK(fires_at(attention_collapse{.tensor_regex = "a", .all_workers = false}, store) == steps_list{1, 2});
}

TEST_CASE("attention_collapse: bad settings are refused") {
    const auto with = [](attention_collapse rule) {
        rule.tensor_regex = "a";
        return rule;
    };
    CHECK_NOTHROW(with({.min_entropy = 0, .max_entropy = 0, .head_axis = 0}).check());
    CHECK_NOTHROW(with({.min_entropy = 1, .max_entropy = 1}).check());
    CHECK(thrown_code([&] { static_cast<void>(attention_collapse{}.check()); }) ==
          error_code::insufficient_information);
    for (const attention_collapse& bad :
         {attention_collapse{.min_entropy = -0.1}, attention_collapse{.min_entropy = 1.1},
          attention_collapse{.max_entropy = 1.1}, attention_collapse{.max_entropy = not_a_number},
          attention_collapse{.head_axis = -1}, attention_collapse{.tolerance = 0},
          attention_collapse{.tolerance = infinite}}) {
        CHECK_THROWS_AS(with(bad).check(), value_error);
    }
}
