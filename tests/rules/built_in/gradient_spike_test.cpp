#include <smdebug/rules/built_in/gradient_spike.hpp>

#include "rules/built_in/history_runs.hpp"
#include "rules/built_in/listed.hpp"
#include "support/given_text.hpp"
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;
using rules::gradient_spike;
using norms = std::vector<double>;

namespace {

const groups_of_tensors gradients{{"gradients", {"g1", "g2", "g3"}}};
const gradient_spike of_three{.window = 3, .min_history = 3};

/// A step with g1, g2, ...; a negative number: it was not saved.
written_step step_of(step_number step, const norms& values, mode in = mode::train, const std::string& worker = "a") {
    written_step written{.step = step, .mode = in, .worker = worker};
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!(values[i] < 0)) {
            written.tensors.push_back(tensor_of<double>("g" + std::to_string(i + 1), {values[i]}));
        }
    }
    return written;
}
memory_storage steps_of(const std::vector<norms>& all) {
    std::vector<written_step> steps;
    for (std::size_t i = 0; i < all.size(); ++i) {
        steps.push_back(step_of(static_cast<step_number>(i), all[i]));
    }
    return run_of(steps, gradients);
}

}  // namespace

TEST_CASE("gradient_spike: the example of the specification") {
    CHECK(fires_at(of_three, steps_of({{3, 4}, {3, 4}, {3, 4}, {15, 20}})).empty());
    const auto store = steps_of({{3, 4}, {3, 4}, {3, 4}, {15, 24}});
    CHECK(fires_at(of_three, store) == steps_list{3});
    const auto found = findings_of(of_three, store);
    REQUIRE(found.size() == 1);
    CHECK(found[0].tensor == "g2");
    CHECK(found[0].worker == "a");
    CHECK(found[0].value == doctest::Approx(28.3019));
    CHECK(found[0].threshold == 25);
    CHECK(found[0].message ==
          "the norm of all gradients is 28.3019, 5.66039 times 5, the median of its last 3 values; the limit was 25; "
          "largest shares: g2 72%, g1 28%");
}

TEST_CASE("gradient_spike: both limits, the history, and what is not finite") {
    struct row {
        std::vector<norms> steps;
        gradient_spike rule;
        steps_list fires;
    };
    const double nan = not_a_number;
    const std::vector<row> rows{
        {{{1}, {1}, {1}, {1.5}}, {.window = 3, .ratio = 1.5}, {}},
        {{{1}, {1}, {1}, {1.6}}, {.window = 3, .ratio = 1.5}, {3}},
        {{{1}, {1}, {2}, {2.5}}, {.window = 3, .ratio = 1.5, .above_largest = 1.5}, {}},
        {{{1}, {2}, {3}, {12}}, {.window = 3, .ratio = 1}, {}},  // 2 + 7 * 1.4826
        {{{1}, {2}, {3}, {12.5}}, {.window = 3, .ratio = 1}, {3}},
        {{{1}, {2}, {3}, {3.5}}, {.window = 3, .ratio = 1, .z_threshold = 1}, {3}},
        {{{0}, {0}, {0}, {9}}, {.window = 3}, {}},  // a median of 0 is no baseline
        {{{1}, {1}, {9}}, {.window = 3}, {}},
        {{{1}, {1}, {9}}, {.window = 3, .min_history = 2}, {2}},
        {{{1}, {1}, {1}, {1}, {1}, {1}, {1}, {1}, {1}, {9}}, {}, {}},
        {{{1}, {1}, {1}, {1}, {1}, {1}, {1}, {1}, {1}, {1}, {9}}, {}, {10}},
        {{{1}, {nan}, {nan}, {1}, {infinite}}, {}, {1, 4}},
        {{{1}, {nan}}, {.non_finite = false}, {}},
        {{{nan}, {infinite}}, {}, {}},
        {{{1}, {nan}, {1}, {9}}, {.window = 2}, {1, 3}},
        {{{1e200}, {1e200}, {9e200}}, {.window = 2}, {2}},     // squares would not be finite
        {{{1e-200}, {1e-200}, {9e-200}}, {.window = 2}, {2}},  // ... or vanish
    };
    for (std::size_t i = 0; i < rows.size(); ++i) {
        CAPTURE(i);
        CHECK(fires_at(rows[i].rule, steps_of(rows[i].steps)) == rows[i].fires);
    }
}

TEST_CASE("gradient_spike: which tensor, and how many are named") {
    const auto told = [](const norms& now, const gradient_spike& rule = {.window = 1}) {
        const auto found = findings_of(rule, steps_of({{1, 1, 1}, now}));
        REQUIRE(found.size() == 1);
        return std::pair{found[0].tensor, found[0].message.substr(found[0].message.find(": g") + 2)};
    };
    using told_pair = std::pair<std::string, std::string>;
    CHECK(told({90, 90, 1}) == told_pair{"g1", "g1 50%, g2 50%, g3 0.00617246%"});
    CHECK(told({1, 9, 90}, {.window = 1, .top = 1}) == told_pair{"g3", "g3 99%"});
    CHECK(told({1, 9, 90}, {.window = 1, .top = 2}) == told_pair{"g3", "g3 99%, g2 0.989978%"});
    CHECK(told({90, not_a_number, infinite}) == told_pair{"g2", "g2 nan, g3 inf, g1 90"});
    const auto found = findings_of(gradient_spike{.window = 1}, steps_of({{1, 1}, {90, infinite}}));
    CHECK(found[0].value == infinite);
    CHECK(found[0].threshold != found[0].threshold);
    CHECK(contains(found[0].message, "no longer finite: inf, after 1.41421 at step 0"));
}

TEST_CASE("gradient_spike: a norm is compared with those of the same tensors only") {
    // g2 was saved at every second step.
    const gradient_spike rule{.window = 2};
    CHECK(fires_at(rule, steps_of({{1, -1}, {1, 50}, {1, -1}, {1, 50}, {1, -1}, {1, 50}, {1, -1}})).empty());
    CHECK(fires_at(rule, steps_of({{1, -1}, {1, 50}, {1, -1}, {1, 50}, {9, -1}, {1, 50}, {1, 999}})) ==
          steps_list{4, 6});
    CHECK(fires_at(rule, steps_of({{1, -1}, {-1, 1}, {1, -1}, {-1, 1}, {-1, 9}, {9, -1}})) == steps_list{4, 5});
    CHECK(fires_at(rule, steps_of({{1}, {1}, {1, 1, 90}})).empty());
    // One that cannot be read, or lacks its norm, is not in the set; text, complex and empty ones neither.
    memory_storage store = steps_of({{1, 1}, {1, 1}, {1, 1}, {9, 9}});
    damage(store, 2, "a");  // g2, the last of the file
    const auto notes = notes_of(rule, store);
    REQUIRE(notes.size() == 1);
    CHECK(notes[0].damaged);
    CHECK(notes[0].tensor == "g2");
    CHECK(fires_at(rule, store) == steps_list{3});
    std::vector<written_step> steps{step_of(0, {1}), step_of(1, {1}), step_of(2, {9})};
    steps[1].tensors.push_back(saved("l1", "g2", 1));
    steps[2].tensors.push_back(tensor_of<std::complex<double>>("g2", {{1, 1}}));
    steps[2].tensors.push_back(tensor_of<float>("g3", {}));
    CHECK(fires_at(rule, run_of(steps, gradients)) == steps_list{2});
    CHECK(notes_of(rule, run_of(steps, gradients)).size() == 1);
}

TEST_CASE("gradient_spike: norms are those that were saved") {
    std::vector<written_step> steps;
    for (step_number i = 0; i < 3; ++i) {
        steps.push_back({.step = i,
                         .tensors = {tensor_of<float>("g1", {1}), saved("l2", "g1", i == 2 ? 9.F : 1.F),
                                     saved("abs_l2", "g2", 1)}});
    }
    CHECK(fires_at(gradient_spike{.window = 2}, run_of(steps, gradients)) == steps_list{2});
}

TEST_CASE("gradient_spike: integers, bools and halves count; text is as if it was not saved") {
    struct row {
        written_tensor usual;
        written_tensor high;
        bool fires;
    };
    const auto boolean = [](std::size_t trues) {
        return written_tensor{.name = "g1",
                              .type = dtype::boolean,
                              .shape = {trues},
                              .content = std::vector<std::byte>(trues, std::byte{1})};
    };
    const written_tensor text{.name = "g1", .type = dtype::string, .shape = {1}, .strings = {"9"}};
    const std::vector<row> rows{
        {tensor_of<std::int8_t>("g1", {1}), tensor_of<std::int8_t>("g1", {-100}), true},
        {tensor_of<float16>("g1", {float16{1.0F}}), tensor_of<float16>("g1", {float16{9.0F}}), true},
        {tensor_of<bfloat16>("g1", {bfloat16{1.0F}}), tensor_of<bfloat16>("g1", {bfloat16{9.0F}}), true},
        {boolean(1), boolean(26), true},  // sqrt(26) > 5
        {boolean(1), boolean(25), false},
        {text, text, false},
        {tensor_of<float>("g1", {1}), text, false},
        {text, tensor_of<float>("g1", {9}), false},
    };
    for (std::size_t i = 0; i < rows.size(); ++i) {
        CAPTURE(i);
        const auto store =
            run_of({{.step = 0, .tensors = {rows[i].usual}}, {.step = 1, .tensors = {rows[i].high}}}, gradients);
        CHECK(fires_at(gradient_spike{.window = 1}, store).size() == (rows[i].fires ? 1 : 0));
        CHECK(notes_of(gradient_spike{.window = 1}, store).empty());
    }
}

TEST_CASE("gradient_spike: by mode and by worker; or all workers together") {
    std::vector<written_step> steps;
    for (step_number i = 0; i < 8; ++i) {
        const mode in = i % 2 == 0 ? mode::train : mode::eval;
        steps.push_back(step_of(i, {i % 2 == 0 ? 1.0 : 100.0}, in, "a"));
        steps.push_back(step_of(i, {i == 6 ? 90.0 : 1.0, i == 6 ? 9.0 : 1.0}, in, "b"));
    }
    const auto store = run_of(steps, gradients);
    const gradient_spike each{.window = 2};
    CHECK(fires_at(each, store) == steps_list{6});
    CHECK(findings_of(each, store)[0].worker == "b");
    CHECK(findings_of(each, store)[0].tensor == "g1");
    const gradient_spike together{.window = 2, .all_workers = false};  // g1 of a, g2 of b
    CHECK(fires_at(together, store) == steps_list{6});
    const auto found = findings_of(together, store);
    CHECK(found[0].worker == "b");
    CHECK(found[0].tensor == "g2");
    CHECK(found[0].value == doctest::Approx(9.05539));
    steps[steps.size() - 1] = step_of(7, {1e6}, mode::eval, "b");
    steps[steps.size() - 2] = step_of(7, {1e6}, mode::eval, "a");
    CHECK(findings_of(each, run_of(steps, gradients)).size() == 2);  // b has another set at 7
}

TEST_CASE("gradient_spike: bad settings are refused") {
    CHECK_NOTHROW(gradient_spike{.window = 1, .min_history = 1, .ratio = 1, .z_threshold = 0, .top = 1}.check());
    for (const gradient_spike& bad :
         {gradient_spike{.window = 0}, gradient_spike{.min_history = 0}, gradient_spike{.min_history = 21},
          gradient_spike{.ratio = 0.9}, gradient_spike{.ratio = infinite}, gradient_spike{.z_threshold = -1},
          gradient_spike{.z_threshold = not_a_number}, gradient_spike{.top = 0}}) {
        CHECK_THROWS_AS(bad.check(), value_error);
    }
}
