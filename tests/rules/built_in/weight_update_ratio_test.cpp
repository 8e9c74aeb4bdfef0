#include <smdebug/core/float_kinds.hpp>
#include <smdebug/rules/built_in/weight_update_ratio.hpp>

#include "rules/built_in/listed.hpp"
#include "support/run_builder.hpp"
#include "support/small_run.hpp"
#include "support/test.hpp"

#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug_test;
using rules::update_norm;
using rules::weight_update_ratio;
using steps_list = std::vector<step_number>;

static_assert(described_rule<weight_update_ratio> && checked_rule<weight_update_ratio>);

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

template <class T>
memory_storage saves(const std::vector<std::vector<T>>& all) {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0"}, {{"weights", {"w"}}});
    for (std::size_t i = 0; i < all.size(); ++i) {
        build.step({.step = static_cast<step_number>(i),
                    .tensors = {tensor_of<T>("w", all[i]), tensor_of<T>("bias", {T{1}})}});
    }
    build.end();
    return store;
}

steps_list met_at(const memory_storage& store, weight_update_ratio rule = {}) {
    return invoke_rule(rule, memory_trial{store}).met_at;
}

tensor_value doubles(const std::vector<double>& values) {
    return tensor_value::copy_of<double>({values.size()}, std::span<const double>{values});
}

}  // namespace

TEST_CASE("weight_update_ratio: fires at the step of the specification's example") {
    const memory_storage store = saves<float>({{3, 4}, {3, 4.5}, {3, 4.5}});
    const auto outcome = invoke_rule(weight_update_ratio{}, memory_trial{store});
    CHECK(outcome.met_at == steps_list{2});
    REQUIRE(outcome.findings.size() == 1);
    CHECK(outcome.findings[0].tensor == "w");
    CHECK(outcome.findings[0].worker == "worker_0");
    CHECK(outcome.findings[0].value == 0);
    CHECK(outcome.findings[0].threshold == 1e-8);
    CHECK(outcome.findings[0].message == "the update since step 1 is 0 of the weights, below 1e-08");
    CHECK(met_at(store, {.large_threshold = 0.09}) == steps_list{1, 2});
    CHECK(met_at(store, {.large_threshold = 0.11}) == steps_list{2});
    CHECK(rules::update_ratio(doubles({3, 4}), doubles({3, 4.5}), 0) == 0.1);
}

TEST_CASE("weight_update_ratio: zeros, NaN, infinities, other shapes, empty tensors and complex numbers") {
    constexpr float nan_f = std::numeric_limits<float>::quiet_NaN();
    constexpr float inf_f = std::numeric_limits<float>::infinity();
    struct row {
        std::vector<float> before;
        std::vector<float> now;
        weight_update_ratio rule;
        bool fires;
    };
    for (const row& each : std::vector<row>{{{0, 0}, {1, 0}, {}, true},
                                            {{1, 0}, {nan_f, 0}, {}, false},
                                            {{nan_f, 0}, {1, 0}, {}, false},
                                            {{1, 0}, {inf_f, 0}, {}, true},
                                            {{inf_f, 0}, {1, 0}, {}, false},
                                            {{}, {}, {}, false},
                                            {{0}, {1}, {.epsilon = 0}, true},
                                            {{0}, {0}, {.epsilon = 0}, false}}) {
        CAPTURE(listed(each.before));
        CAPTURE(listed(each.now));
        CHECK(met_at(saves<float>({each.before, each.now}), each.rule) == (each.fires ? steps_list{1} : steps_list{}));
    }
    CHECK(met_at(saves<std::complex<float>>({{{1, 0}}, {{1, 0}}})).empty());
    CHECK(met_at(saves<std::int32_t>({{1}, {1}, {50}})) == steps_list{1, 2});
    memory_storage text;
    run_builder write{text};
    write.collections({"worker_0"}, {{"weights", {"text"}}});
    write.step({.step = 0, .tensors = {written_tensor{"text", dtype::string, {0}, {}}}});
    write.step({.step = 1, .tensors = {written_tensor{"text", dtype::string, {0}, {}}}}).end();
    CHECK(weight_update_ratio{}(memory_trial{text}, 1).empty());
    const memory_storage changed = saves<float>({{1}, {1, 0}, {1, 0}});
    const auto notes = weight_update_ratio{}(memory_trial{changed}, 1);
    REQUIRE(notes.size() == 1);
    CHECK_FALSE(notes[0].met);
    CHECK(notes[0].message == "the shape is (2), and was (1) at step 0: no update to judge");
    CHECK(met_at(changed) == steps_list{2});
}

TEST_CASE("weight_update_ratio: compares with the oldest save in a window of num_steps TRAIN steps") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0"}, {{"weights", {"w"}}});
    step_number global = 0;
    for (const step_number train : {0, 5, 10, 15}) {
        build.step({.step = global++,
                    .tensors = {tensor_of<float>("w", {static_cast<float>(1 + train)})},
                    .mode = mode::train,
                    .mode_step = train});
        build.step({.step = global++, .tensors = {tensor_of<float>("w", {7})}, .mode = mode::eval, .mode_step = train});
    }
    build.end();
    const memory_trial run{store};
    const auto ratio_at = [&](weight_update_ratio rule, step_number step) {
        rule.large_threshold = 0;
        const auto found = rule(run, step);
        return found.empty() ? -1.0 : found[0].value;
    };
    CHECK(ratio_at({}, 0) == -1);
    CHECK(ratio_at({}, 2) == doctest::Approx(5));         // 6 against 1
    CHECK(ratio_at({}, 6) == doctest::Approx(5.0 / 11));  // 16 against 11
    CHECK(ratio_at({.num_steps = 10}, 6) == doctest::Approx(10.0 / 6));
    CHECK(ratio_at({.num_steps = 14}, 6) == doctest::Approx(10.0 / 6));
    CHECK(ratio_at({.num_steps = 100}, 6) == doctest::Approx(15));
    CHECK(ratio_at({.num_steps = 4}, 6) == -1);
    CHECK(ratio_at({}, 3) == -1);  // EVAL
    CHECK(ratio_at({}, 7) == -1);
}

TEST_CASE("weight_update_ratio: a run without TRAIN steps is judged at all of its steps") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0"}, {{"weights", {"w"}}});
    for (step_number step = 0; step < 3; ++step) {
        build.step({.step = step, .tensors = {tensor_of<float>("w", {1})}, .mode = mode::global});
    }
    build.end();
    CHECK(met_at(store) == steps_list{1, 2});
    CHECK(met_at(store, {.num_steps = 2}) == steps_list{1, 2});
}

TEST_CASE("weight_update_ratio: saved norms decide where they prove something, and notes stand where they do not") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0"}, {{"weights", {"fine", "jumps", "zeros", "open", "overflow", "empty", "reshaped"}}});
    const auto norm = [](const std::string& name, float value) {
        return tensor_of<float>("smdebug/reductions/l2/" + name, {value});
    };
    build.step({.step = 0,
                .tensors = {norm("fine", 1), norm("jumps", 1), norm("zeros", 0), norm("open", 1), norm("overflow", 1),
                            norm("reshaped", 0), norm("empty", 0)},
                .shapes = {{"reshaped", "reshaped", {1}}}});
    build.step({.step = 1,
                .tensors = {norm("fine", 2), norm("jumps", 20), norm("zeros", 0), norm("open", 1),
                            norm("overflow", static_cast<float>(inf)), norm("empty", 0), norm("reshaped", 0)},
                .shapes = {{"empty", "empty", {0, 3}}, {"reshaped", "reshaped", {2}}}});
    build.end();
    const memory_trial run{store};
    const auto found = weight_update_ratio{}(run, 1);
    REQUIRE(found.size() == 5);
    CHECK(found[0].tensor == "jumps");
    CHECK(found[0].met);
    CHECK(found[0].value == doctest::Approx(19).epsilon(1e-4));
    CHECK(found[0].message.find("at least 18.99") != std::string::npos);
    CHECK(found[1].tensor == "open");
    CHECK_FALSE(found[1].met);
    CHECK(found[2].tensor == "overflow");
    CHECK_FALSE(found[2].met);
    CHECK(found[3].tensor == "reshaped");
    CHECK_FALSE(found[3].met);
    CHECK(found[4].tensor == "zeros");
    CHECK(found[4].met);
    CHECK(weight_update_ratio{.norm = update_norm::mean_abs}(run, 1).size() == 6);  // notes, but none of the empty one
}

TEST_CASE("weight_update_ratio: says the same with and without saved norms") {
    std::mt19937 random{5};
    for (int round = 0; round < 40; ++round) {
        memory_storage store;
        run_builder build{store};
        build.collections({"worker_0"}, {{"weights", {"bare", "reduced"}}});
        std::vector<float> values(9, 1);
        for (step_number step = 0; step < 6; ++step) {
            for (float& each : values) {
                each *= 1 + std::uniform_real_distribution<float>{-1, 1}(random) * (random() % 2 == 0 ? 1e-4F : 2e-1F);
            }
            double sum = 0;
            for (const float each : values) {
                sum += static_cast<double>(each) * static_cast<double>(each);
            }
            build.step(
                {.step = step,
                 .tensors = {tensor_of("bare", values), tensor_of("reduced", values),
                             tensor_of<float>("smdebug/reductions/l2/reduced", {static_cast<float>(std::sqrt(sum))})}});
        }
        build.end();
        const memory_trial run{store};
        const auto outcome = invoke_rule(weight_update_ratio{.large_threshold = 0.1, .small_threshold = 6e-5}, run);
        steps_list bare;
        steps_list reduced;
        for (std::size_t i = 0; i < outcome.findings.size(); ++i) {
            (outcome.findings[i].tensor == "bare" ? bare : reduced).push_back(outcome.findings[i].step);
        }
        CHECK(bare == reduced);
    }
}

TEST_CASE("weight_update_ratio: the three readings of the ratio, over more values than a block") {
    std::vector<double> before(1234);
    std::vector<double> now(1234);
    std::mt19937 random{9};
    double squares = 0;
    double update_squares = 0;
    double sum = 0;
    double update_sum = 0;
    double ratios = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
        before[i] = std::uniform_real_distribution<double>{-1, 1}(random);
        now[i] = before[i] + std::uniform_real_distribution<double>{-0.1, 0.1}(random);
        const double update = std::abs(now[i] - before[i]);
        squares += before[i] * before[i];
        update_squares += update * update;
        sum += std::abs(before[i]);
        update_sum += update;
        ratios += update / (std::abs(before[i]) + 0.5);
    }
    const double n = 1234;
    const auto ratio = [&](update_norm norm) { return rules::update_ratio(doubles(before), doubles(now), 0.5, norm); };
    CHECK(ratio(update_norm::l2) == doctest::Approx(std::sqrt(update_squares) / (std::sqrt(squares) + 0.5)));
    CHECK(ratio(update_norm::mean_abs) == doctest::Approx(update_sum / n / (sum / n + 0.5)));
    CHECK(ratio(update_norm::mean_of_ratios) == doctest::Approx(ratios / n));
}

TEST_CASE("weight_update_ratio: squares that no double can hold are no infinities and no zeros") {
    CHECK(rules::update_ratio(doubles({1e200}), doubles({3e200}), 1e-9) == doctest::Approx(2));
    CHECK(rules::update_ratio(doubles({1e-200}), doubles({3e-200}), 0) == doctest::Approx(2));
    CHECK(rules::update_ratio(doubles({1}), doubles({1}), 0) == 0);
    CHECK(smdebug::is_nan(rules::update_ratio(doubles({not_a_number}), doubles({1}), 0)));
    CHECK(rules::update_ratio(doubles({1}), doubles({-inf}), 0) == inf);
    CHECK(smdebug::is_nan(rules::update_ratio(doubles({inf}), doubles({1}), 0)));
}

TEST_CASE("weight_update_ratio: each worker with all_workers, a trial that can only reduce, no weights at all") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0", "worker_1"}, {{"weights", {"w"}}});
    for (step_number step = 0; step < 2; ++step) {
        build.step(
            {.step = step, .tensors = {tensor_of<float>("w", {static_cast<float>(1 + step)})}, .worker = "worker_0"});
        build.step({.step = step, .tensors = {tensor_of<float>("w", {1})}, .worker = "worker_1"});
    }
    build.end();
    CHECK(met_at(store).empty());
    CHECK(met_at(store, {.all_workers = true}) == steps_list{1});

    const small_tensors saves{{"w", {{0, {3, 4}}, {1, {3, 4.5}}, {2, {3, 4.5}}, {3, {300, 400}}}}};
    CHECK(weight_update_ratio{}(reduced_run(saves), 3).empty());
    const memory_trial reduced = reduced_run(saves, {{"weights", {"w"}}});
    const auto notes = weight_update_ratio{}(reduced, 2);
    REQUIRE(notes.size() == 1);
    CHECK_FALSE(notes[0].met);
    const auto found = weight_update_ratio{}(reduced, 3);
    REQUIRE(found.size() == 1);
    CHECK(found[0].met);
}

TEST_CASE("weight_update_ratio: settings that make no sense are refused") {
    CHECK_NOTHROW(weight_update_ratio{}.check());
    CHECK_THROWS_WITH_AS(weight_update_ratio{.num_steps = 0}.check(), doctest::Contains("num_steps is 0"), value_error);
    CHECK_THROWS_WITH_AS(weight_update_ratio{.epsilon = -1}.check(), doctest::Contains("epsilon is -1"), value_error);
    CHECK_THROWS_AS((weight_update_ratio{.large_threshold = 1, .small_threshold = 2}.check()), value_error);
    CHECK_THROWS_AS(weight_update_ratio{.large_threshold = not_a_number}.check(), value_error);
}
