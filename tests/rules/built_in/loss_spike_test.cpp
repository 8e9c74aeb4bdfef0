#include <smdebug/rules/built_in/loss_spike.hpp>

#include "rules/built_in/history_runs.hpp"
#include "rules/built_in/listed.hpp"
#include "support/given_text.hpp"
#include "support/small_run.hpp"
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;
using rules::loss_spike;

namespace {

const groups_of_tensors losses{{"losses", {"loss"}}};
const loss_spike of_five{.window = 5, .min_history = 5};

steps_list fires(const std::vector<double>& values, const loss_spike& rule) {
    return fires_at(rule, run_of(numbers_of("loss", values), losses));
}

}  // namespace

TEST_CASE("loss_spike: the example of the specification") {
    CHECK(fires({2.0, 2.1, 1.9, 2.2, 2.0, 3.0}, of_five).empty());
    const auto store = run_of(numbers_of("loss", {2.0, 2.1, 1.9, 2.2, 2.0, 3.1}), losses);
    CHECK(fires_at(of_five, store) == steps_list{5});
    const auto found = findings_of(of_five, store);
    REQUIRE(found.size() == 1);
    CHECK(found[0].tensor == "loss");
    CHECK(found[0].worker == "worker_0");
    CHECK(found[0].value == 3.1);
    CHECK(found[0].threshold == doctest::Approx(3.03782));
    CHECK(found[0].message ==
          "the loss 3.1 is 1.1 above 2, the median of its last 5 values, whose robust deviation is 0.14826; the limit "
          "was 3.03782");
}

TEST_CASE("loss_spike: each guard, and the borders of each setting") {
    struct row {
        std::vector<double> values;
        loss_spike rule;
        steps_list fires;
    };
    const std::vector<row> rows{
        {{1, 1, 1, 1, 1, 1.1}, {.window = 5}, {}},  // at m + 0.1 |m|: not above
        {{1, 1, 1, 1, 1, 1.11}, {.window = 5}, {5}},
        {{1, 1, 1, 1, 1, 1.0001}, {.window = 5, .relative = 0}, {5}},
        {{1, 1, 1, 1, 1, 1}, {.window = 5, .relative = 0}, {}},
        {{1, 1, 1, 1, 1, 1.5}, {.window = 5, .min_increase = 0.5}, {}},
        {{1, 1, 1, 1, 1, 1.75}, {.window = 5, .min_increase = 0.5}, {5}},
        {{1, 1, 1, 1, 3, 4}, {.window = 5, .above_largest = 1.5}, {}},  // at 1 + 1.5 * 2
        {{1, 1, 1, 1, 3, 4.1}, {.window = 5, .above_largest = 1.5}, {5}},
        {{-2, -2, -2, -1.75}, {.window = 3, .relative = 0.125}, {}},  // |m|
        {{-2, -2, -2, -1.5}, {.window = 3, .relative = 0.125}, {3}},
        {{1, 2, 3, 4, 5, 9}, {.window = 5, .z_threshold = 0, .relative = 2}, {}},
        {{1, 2, 3, 4, 5, 9.5}, {.window = 5, .z_threshold = 0, .relative = 2}, {5}},
        {{1, 9, 9, 9}, {.window = 1}, {1}},  // the window is the previous one
        {{1, 1, 9}, {.window = 3}, {}},      // 3 of 3 are needed by default
        {{1, 1, 9}, {.window = 3, .min_history = 2}, {2}},
        {{1, 9}, {.window = 3, .min_history = 1}, {1}},
        {{1, 1, 1, 1, 1, 1, 1, 1, 1, 9}, {}, {}},  // 10 by default
        {{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 9}, {}, {10}},
        {{1, 1, 1, 1, 9, 9, 9, 9, 9}, {.window = 4}, {4, 5}},  // until it is half of the window
        {{9, 8, 7, 6, 5, 4, 3}, {.window = 2}, {}},
        {{2, 4, 4}, {.window = 2, .z_threshold = 0, .relative = 0}, {2}},  // the median of two is 3
    };
    for (const row& each : rows) {
        CAPTURE(listed(each.values));
        CAPTURE(each.rule.window);
        CHECK(fires(each.values, each.rule) == each.fires);
    }
}

TEST_CASE("loss_spike: NaN and infinity fire where they begin, whatever the history") {
    struct row {
        std::vector<double> values;
        bool non_finite;
        steps_list fires;
    };
    const std::vector<row> rows{
        {{1, not_a_number, not_a_number}, true, {1}},
        {{1, infinite, 1, -infinite}, true, {1, 3}},
        {{not_a_number, not_a_number}, true, {}},
        {{1, not_a_number}, false, {}},
        {{1, not_a_number, infinite, not_a_number}, true, {1}},
    };
    for (const row& each : rows) {
        CAPTURE(listed(each.values));
        CHECK(fires(each.values, {.non_finite = each.non_finite}) == each.fires);
    }
    // Those that are not finite are passed over in the history.
    CHECK(fires({1, not_a_number, infinite, 1, 1, not_a_number, 9}, {.window = 3}) == steps_list{1, 5, 6});
    const auto found = findings_of(loss_spike{}, run_of(numbers_of("loss", {1, infinite}), losses));
    REQUIRE(found.size() == 1);
    CHECK(found[0].value == infinite);
    CHECK(found[0].threshold != found[0].threshold);
    CHECK(contains(found[0].message, "no longer finite: inf, after 1 at step 0"));
}

TEST_CASE("loss_spike: a series is of one mode") {
    std::vector<written_step> steps;
    for (step_number i = 0; i < 12; ++i) {
        const bool training = i % 2 == 0;
        steps.push_back({.step = i,
                         .tensors = {tensor_of<double>("loss", {training ? 1.0 : 50.0})},
                         .mode = training ? mode::train : mode::eval,
                         .mode_step = i / 2});
    }
    CHECK(fires_at(loss_spike{.window = 3}, run_of(steps, losses)).empty());
    steps.back().tensors = {tensor_of<double>("loss", {99})};
    CHECK(fires_at(loss_spike{.window = 3}, run_of(steps, losses)) == steps_list{11});
    for (written_step& each : steps) {
        each.mode = mode::global;
    }
    CHECK(fires_at(loss_spike{.window = 3}, run_of(steps, losses)) == steps_list{3, 5, 7, 9, 11});
}

TEST_CASE("loss_spike: what a loss is") {
    const auto fires_with = [](const written_tensor& usual, const written_tensor& high,
                               const std::vector<written_shape>& shapes = {}) {
        std::vector<written_step> steps;
        for (step_number i = 0; i < 4; ++i) {
            steps.push_back({.step = i, .tensors = {i < 3 ? usual : high}, .shapes = shapes});
        }
        return !fires_at(loss_spike{.window = 3}, run_of(steps, losses)).empty();
    };
    CHECK(fires_with(tensor_of<float>("loss", {1}, {}), tensor_of<float>("loss", {9}, {})));
    CHECK(fires_with(tensor_of<std::int32_t>("loss", {1}, {1, 1}), tensor_of<std::int32_t>("loss", {9}, {1, 1})));
    CHECK(fires_with(tensor_of<float16>("loss", {float16{1.0F}}), tensor_of<float16>("loss", {float16{9.0F}})));
    const auto boolean = [](bool value) {
        return written_tensor{.name = "loss", .type = dtype::boolean, .shape = {1}, .content = {std::byte{value}}};
    };
    CHECK(fires_with(boolean(false), boolean(true)));
    const written_tensor text{.name = "loss", .type = dtype::string, .shape = {1}, .strings = {"9"}};
    CHECK_FALSE(fires_with(tensor_of<float>("loss", {1}), text));
    // A saved mean that becomes NaN is a loss that does.
    CHECK(fires_with(saved("mean", "loss", 1), saved("mean", "loss", std::numeric_limits<float>::quiet_NaN()),
                     {{"loss", "l", {1}}}));
    CHECK_FALSE(fires_with(tensor_of<float>("loss", {1, 1}), tensor_of<float>("loss", {9, 9})));
    CHECK_FALSE(fires_with(tensor_of<float>("loss", {}), tensor_of<float>("loss", {})));
    CHECK_FALSE(
        fires_with(tensor_of<std::complex<float>>("loss", {{1, 0}}), tensor_of<std::complex<float>>("loss", {{9, 0}})));
    for (const char* what : {"mean", "sum", "max", "min"}) {
        CAPTURE(what);
        CHECK(fires_with(saved(what, "loss", 1), saved(what, "loss", 9), {{"loss", "l", {1}}}));
        CHECK(fires_with(saved(what, "loss", 1), saved(what, "loss", 9), {{"loss", "l", {}}}));
        CHECK_FALSE(fires_with(saved(what, "loss", 1), saved(what, "loss", 9), {{"loss", "l", {2}}}));
        CHECK_FALSE(fires_with(saved(what, "loss", 1), saved(what, "loss", 9)));
    }
    CHECK_FALSE(fires_with(saved("l2", "loss", 1), saved("l2", "loss", 9), {{"loss", "l", {1}}}));
}

TEST_CASE("loss_spike: notes what lacks a value or cannot be read, and nothing else") {
    CHECK(notes_of(loss_spike{}, run_of({{.tensors = {saved("mean", "loss", 1)}}}, losses)).size() == 1);
    CHECK(
        notes_of(loss_spike{}, run_of({{.tensors = {saved("l2", "loss", 1)}, .shapes = {{"loss", "l", {1}}}}}, losses))
            .size() == 1);
    CHECK(notes_of(loss_spike{}, run_of({{.tensors = {tensor_of<float>("loss", {1, 2})}}}, losses)).empty());
    CHECK(notes_of(loss_spike{}, run_of({{.tensors = {tensor_of<float>("loss", {})}}}, losses)).empty());
    memory_storage store = run_of(numbers_of("loss", {1, 1, 1, 1, 9}), losses);
    damage(store, 2);
    const loss_spike rule{.window = 3};
    const auto notes = notes_of(rule, store);
    REQUIRE(notes.size() == 1);
    CHECK(notes[0].damaged);
    CHECK(notes[0].step == 2);
    CHECK(fires_at(rule, store) == steps_list{4});  // the window has the three that can be read
}

TEST_CASE("loss_spike: selects the losses, or other tensors instead; misses no step between") {
    std::vector<written_step> steps;
    for (const step_number i : {0, 3, 7, 50}) {
        const double now = i == 50 ? 9 : 1;
        steps.push_back(
            {.step = i,
             .tensors = {tensor_of<double>("a", {now}), tensor_of<double>("b", {now}), tensor_of<double>("c", {now})}});
    }
    steps.push_back({.step = 60, .tensors = {tensor_of<double>("other", {1})}});
    const auto store = run_of(steps, {{"losses", {"a"}}, {"group", {"b"}}});
    const auto tensors = [&](const loss_spike& rule) { return tensors_in(findings_of(rule, store), true); };
    using names = std::vector<std::string>;
    CHECK(tensors({.window = 3}) == names{"a"});
    CHECK(tensors({.collection_names = "group", .window = 3}) == names{"b"});
    CHECK(tensors({.collection_names = "group", .tensor_regex = "^c$", .window = 3}) == names{"b", "c"});
    CHECK(tensors({.tensor_regex = "x", .window = 3}).empty());
    CHECK(tensors({.collection_names = "none", .window = 3}).empty());
    CHECK(tensors({.collection_names = text_list{std::vector<std::string>{}}, .window = 3}) == names{"a"});
}

TEST_CASE("loss_spike: each worker by its own saves, or the first that saved it at each step together") {
    std::vector<written_step> steps;
    for (step_number i = 0; i < 5; ++i) {
        for (const std::string worker : {"worker_0", "worker_1"}) {
            if (worker == "worker_1" || i != 4) {
                steps.push_back({.step = i,
                                 .tensors = {tensor_of<double>("loss", {worker == "worker_0" ? 1.0 : 100.0})},
                                 .worker = worker});
            }
        }
    }
    const auto store = run_of(steps, losses);
    CHECK(fires_at(loss_spike{.window = 3}, store).empty());
    CHECK(fires_at(loss_spike{.window = 3, .all_workers = false}, store) == steps_list{4});
    CHECK(findings_of(loss_spike{.window = 3, .all_workers = false}, store)[0].worker == "worker_1");
    // An empty save is as if it was not saved: the next worker's counts.
    steps[8] = {.step = 4, .tensors = {tensor_of<double>("loss", {})}, .worker = "worker_0"};
    steps.push_back({.step = 4, .tensors = {tensor_of<double>("loss", {100})}, .worker = "worker_1"});
    CHECK(fires_at(loss_spike{.window = 3, .all_workers = false}, run_of(steps, losses)) == steps_list{4});
}

TEST_CASE("loss_spike: bad settings are refused") {
    CHECK_NOTHROW(loss_spike{}.check());
    CHECK_NOTHROW((loss_spike{.window = 1, .min_history = 1, .z_threshold = 0, .relative = 0}.check()));
    for (const loss_spike& bad :
         {loss_spike{.window = 0}, loss_spike{.window = -1}, loss_spike{.min_history = 0},
          loss_spike{.min_history = 21}, loss_spike{.z_threshold = -1}, loss_spike{.z_threshold = not_a_number},
          loss_spike{.relative = -0.1}, loss_spike{.relative = infinite}, loss_spike{.min_increase = -1},
          loss_spike{.min_increase = infinite}}) {
        CHECK_THROWS_AS(bad.check(), value_error);
    }
    CHECK_THROWS_WITH_AS(loss_spike{.window = 0}.check(),
                         doctest::Contains("loss_spike: window is 0; it must be a number of at least 1"), value_error);
    const memory_trial run = reduced_run({{"loss", {{0, {1}}}}});
    CHECK(loss_spike{.tensor_regex = "loss"}(run, 0).size() <= 1);
}
