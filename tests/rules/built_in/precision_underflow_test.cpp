#include <smdebug/rules/built_in/precision_underflow.hpp>

#include "rules/built_in/history_runs.hpp"

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;
using rules::precision_underflow;
using values_list = std::vector<std::vector<double>>;

namespace {

const groups_of_tensors gradients{{"gradients", {"g"}}};
const std::vector<double> zeros(4, 0);
const std::vector<double> low{0, 0, 1e-6, 1};  // 1e-6 is subnormal in float16
const std::vector<double> fine{1, 1, 1, 1};

template <class T = float16>
written_tensor narrow(const std::vector<double>& values) {
    std::vector<T> converted;
    for (const double each : values) {
        converted.push_back(T{each});
    }
    return tensor_of<T>("g", converted);
}

template <class T = float16>
memory_storage saves(const values_list& values) {
    std::vector<written_step> steps;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!values[i].empty()) {
            steps.push_back({.step = static_cast<step_number>(i), .tensors = {narrow<T>(values[i])}});
        }
    }
    return run_of(steps, gradients);
}

}  // namespace

TEST_CASE("precision_underflow: the example of the specification") {
    CHECK(fires_at(precision_underflow{.patience = 1}, saves({{0, 0, 0, 1}})).empty());
    const auto store = saves({low});
    CHECK(fires_at(precision_underflow{.patience = 1}, store) == steps_list{0});
    const auto found = findings_of(precision_underflow{.patience = 1}, store);
    REQUIRE(found.size() == 1);
    CHECK(found[0].value == 0.75);
    CHECK(found[0].threshold == 0.5);
    CHECK(found[0].message ==
          "2 zeros and 1 subnormal numbers among 4 of float16, whose least normal number is 6.10352e-05");
}

TEST_CASE("precision_underflow: shares, patience, and tensors of zeros alone") {
    struct row {
        values_list values;
        precision_underflow rule;
        steps_list fires;
    };
    const std::vector<row> rows{
        {{low, low, low, low}, {}, {2, 3}},
        {{low, low, fine, low, low, low}, {}, {5}},
        {{low, {}, low, {}, {}, low}, {}, {5}},  // saves, not steps
        {{low}, {.threshold = 0.75, .patience = 1}, {}},
        {{low}, {.subnormal_share = 0.5, .patience = 1}, {0}},  // 1 of 2
        {{low}, {.subnormal_share = 0.51, .patience = 1}, {}},
        {{{0, 0, 0, 1}}, {.subnormal_share = 0, .patience = 1}, {0}},
        {{{1e-6, 1e-6, 1, 1}}, {.patience = 1}, {}},  // 0.5 is not above 0.5
        {{{1e-6, -1e-6, 1e-6, 1}}, {.patience = 1}, {0}},
        {{{-0.0, 0, 1e-7, infinite}}, {.patience = 1}, {0}},
        {{{not_a_number, not_a_number, 1e-7, 0}}, {.patience = 1}, {}},
        {{zeros, zeros, zeros, zeros}, {.patience = 1}, {}},  // frozen
        {{fine, zeros, zeros}, {.patience = 1}, {1, 2}},
        {{fine, zeros, zeros, zeros}, {}, {3}},
        {{zeros, fine, zeros, zeros, zeros}, {}, {4}},
        {{low, zeros, low, zeros}, {}, {2, 3}},
        {{zeros, low, zeros, zeros}, {}, {3}},  // the first was frozen
        {{zeros, zeros, low}, {.patience = 2}, {}},
        {{zeros, low, zeros}, {.patience = 2}, {2}},
        {{zeros}, {.threshold = 1, .patience = 1}, {}},
        {{fine, zeros}, {.threshold = 0.99, .patience = 1}, {1}},
    };
    for (std::size_t i = 0; i < rows.size(); ++i) {
        CAPTURE(i);
        CHECK(fires_at(rows[i].rule, saves(rows[i].values)) == rows[i].fires);
    }
}

TEST_CASE("precision_underflow: the four narrow dtypes, each by its own least normal number") {
    const precision_underflow rule{.threshold = 0.2, .patience = 1};
    CHECK(fires_at(rule, saves<bfloat16>({{1e-39, 1, 1}})).size() == 1);
    CHECK(fires_at(rule, saves<bfloat16>({{1e-37, 1, 1}})).empty());
    CHECK(fires_at(rule, saves<float8_e5m2>({{0x1p-15, 1, 1}})).size() == 1);
    CHECK(fires_at(rule, saves<float8_e5m2>({{0x1p-14, 1, 1}})).empty());
    CHECK(fires_at(rule, saves<float8_e4m3fn>({{0x1p-7, 1, 1}})).size() == 1);
    CHECK(fires_at(rule, saves<float8_e4m3fn>({{0x1p-6, 1, 1}})).empty());
    CHECK(fires_at(rule, saves<float16>({{0x1p-15, 1, 1}})).size() == 1);
    CHECK(fires_at(rule, saves<float16>({{0x1p-14, 1, 1}})).empty());
}

TEST_CASE("precision_underflow: other dtypes are skipped, but may show that a tensor was not always zero") {
    const precision_underflow rule{.patience = 1};
    const auto of = [](const std::vector<written_tensor>& tensors) {
        std::vector<written_step> steps;
        for (std::size_t i = 0; i < tensors.size(); ++i) {
            steps.push_back({.step = static_cast<step_number>(i), .tensors = {tensors[i]}});
        }
        return run_of(steps, gradients);
    };
    CHECK(fires_at(rule, of({tensor_of<float>("g", {0, 0, 1e-40F})})).empty());
    CHECK(notes_of(rule, of({tensor_of<float>("g", {0, 0, 1e-40F})})).empty());
    CHECK(fires_at(rule, of({tensor_of<float>("g", {1}), narrow(zeros)})) == steps_list{1});
    CHECK(fires_at(rule, of({tensor_of<std::int32_t>("g", {0, 1}), narrow(zeros)})) == steps_list{1});
    CHECK(fires_at(rule, of({tensor_of<float>("g", {0}), narrow(zeros)})).empty());
    CHECK(fires_at(rule, of({tensor_of<std::complex<float>>("g", {{1, 0}}), narrow(zeros)})).empty());
    CHECK(fires_at(precision_underflow{.patience = 2}, of({narrow(low), tensor_of<float>("g", {0, 0}), narrow(low)}))
              .empty());
    CHECK(fires_at(precision_underflow{.patience = 2}, of({narrow(low), narrow<float16>({}), narrow(low)})) ==
          steps_list{2});
}

TEST_CASE("precision_underflow: reductions decide nothing; an unreadable save breaks a row") {
    const precision_underflow rule{.patience = 2};
    CHECK(notes_of(rule, run_of({{.tensors = {saved("l2", "g", 0)}}}, gradients)).size() == 1);
    CHECK(notes_of(rule, run_of({{.tensors = {saved("l2", "g", 0)}, .shapes = {{"g", "g", {0}}}}}, gradients)).empty());
    memory_storage store = saves({low, low, low, low, low});
    damage(store, 2);
    const auto notes = notes_of(rule, store);
    REQUIRE(notes.size() == 1);
    CHECK(notes[0].damaged);
    CHECK(fires_at(rule, store) == steps_list{1, 4});
    CHECK(findings_of(rule, store)[0].message.ends_with("; so in 2 saves in a row"));
}

TEST_CASE("precision_underflow: by mode and by worker") {
    std::vector<written_step> steps;
    for (step_number i = 0; i < 6; ++i) {
        for (const std::string worker : {"a", "b"}) {
            const bool is_low = i % 2 == 0 && worker == "b";
            steps.push_back({.step = i,
                             .tensors = {narrow(is_low ? low : fine)},
                             .mode = i % 2 == 0 ? mode::train : mode::eval,
                             .mode_step = i / 2,
                             .worker = worker});
        }
    }
    const auto store = run_of(steps, gradients);
    CHECK(fires_at(precision_underflow{}, store) == steps_list{4});
    CHECK(findings_of(precision_underflow{}, store)[0].worker == "b");
    CHECK(fires_at(precision_underflow{.all_workers = false}, store).empty());
}

TEST_CASE("precision_underflow: bad settings are refused") {
    CHECK_NOTHROW(precision_underflow{.threshold = 0, .subnormal_share = 0, .patience = 1}.check());
    CHECK_NOTHROW(precision_underflow{.threshold = 1, .subnormal_share = 1}.check());
    for (const precision_underflow& bad :
         {precision_underflow{.threshold = -0.1}, precision_underflow{.threshold = 1.1},
          precision_underflow{.threshold = not_a_number}, precision_underflow{.subnormal_share = -0.1},
          precision_underflow{.subnormal_share = 2}, precision_underflow{.patience = 0}}) {
        CHECK_THROWS_AS(bad.check(), value_error);
    }
}
