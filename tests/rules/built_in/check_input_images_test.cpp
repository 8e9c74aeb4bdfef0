#include <smdebug/rules/built_in/check_input_images.hpp>

#include "support/run_builder.hpp"
#include "support/small_run.hpp"
#include "support/test.hpp"
#include "support/thrown_code.hpp"

#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug_test;
using rules::check_input_images;
using steps_list = std::vector<step_number>;
using numbers = std::vector<double>;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
const std::string input = "hybridsequential0_input_0";

template <class T>
written_step images(step_number step, const std::vector<T>& values, shape_type shape,
                    const std::string& worker = "worker_0") {
    return {.step = step, .tensors = {tensor_of(input, values, std::move(shape))}, .worker = worker};
}

/// The same as a run with only the mean and the shape.
written_step reduced(step_number step, float mean, shape_type shape) {
    return {.step = step,
            .tensors = {tensor_of<float>("smdebug/reductions/mean/" + input, {mean})},
            .shapes = {{input, input, std::move(shape)}}};
}

rule_outcome judged(const std::vector<written_step>& steps, const check_input_images& rule) {
    memory_storage store;
    run_builder build{store};
    build.collections();
    for (const written_step& step : steps) {
        build.step(step);
    }
    build.end();
    return invoke_rule(check_input_images{rule}, memory_trial{store});
}

const check_input_images two{.threshold_samples = 2};

}  // namespace

TEST_CASE("check_input_images: fires at the step of the specification's example, however it was saved") {
    const check_input_images rule{.threshold_samples = 4};
    const std::vector<float> batch{0.5F, 0.3F, 0.1F, 0.3F};
    for (const bool full : {true, false}) {
        const auto at = [&](step_number step) {
            return full ? images(step, batch, {2, 1, 1, 2}) : reduced(step, 0.3F, {2, 1, 1, 2});
        };
        const auto outcome = judged({at(0), at(1)}, rule);
        CHECK(outcome.met_at == steps_list{1});
        REQUIRE(outcome.findings.size() == 1);
        CHECK(outcome.findings[0].tensor == input);
        CHECK(outcome.findings[0].worker == "worker_0");
        CHECK(outcome.findings[0].value == doctest::Approx(0.3));
        CHECK(outcome.findings[0].threshold == 0.2);
        CHECK(outcome.findings[0].message == "after 4 images the mean of the values is 0.3, further from 0 than 0.2");
    }
    std::vector<written_step> batches;
    for (step_number step = 0; step < 9; ++step) {
        batches.push_back(images(step, std::vector<float>(64, -1), {64, 1, 1, 1}));
    }
    CHECK(judged(batches, {}).met_at == steps_list{7, 8});
    CHECK(judged(batches, {.threshold_mean = 1}).findings.empty());
    CHECK(judged(batches, {.regex = "^none$"}).findings.empty());
}

TEST_CASE("check_input_images: each channel is judged by itself, along the axis that was named") {
    const std::vector<float> opposite{1, 1, -1, -1, 2, 2, -2, -2};  // two images of two channels of two values
    const auto outcome = judged({images(0, opposite, {2, 2, 1, 2})}, two);
    REQUIRE(outcome.findings.size() == 1);
    CHECK(outcome.findings[0].value == 1.5);
    CHECK(outcome.findings[0].message == "after 2 images the mean of channel 0 is 1.5, further from 0 than 0.2");
    CHECK(judged({images(0, opposite, {2, 2, 1, 2})}, {.threshold_samples = 2, .channel = 3}).findings.empty());
    CHECK(judged({images(0, opposite, {2, 2, 1, 2})}, {.threshold_samples = 2, .channel = 4}).findings.empty());
    CHECK(judged({images(0, opposite, {2, 4})}, two).findings.empty());  // no channel axis: all together
    const std::vector<float> last{1, -3, 0, 1, -3, 0};
    const auto worst = judged({images(0, last, {2, 1, 1, 3})}, {.threshold_samples = 2, .channel = 3});
    REQUIRE(worst.findings.size() == 1);
    CHECK(worst.findings[0].value == -3);
    CHECK(judged({images(0, std::vector<float>{1, -1}, {2, 1, 1, 1})}, {.threshold_samples = 2, .channel = 0})
              .findings.size() == 1);
    CHECK(judged({images<float>(0, {1, 1}, {2})}, two).findings.size() == 1);
    CHECK(judged({images<float>(0, {1}, {})}, {.threshold_samples = 0}).findings.empty());  // nothing to count
}

TEST_CASE("check_input_images: adds up from the first step that it is given, over elements and all modes") {
    written_step eval = images<float>(1, {1, 1}, {1, 1, 1, 2});
    eval.mode = mode::eval;
    memory_storage store;
    run_builder{store}
        .collections()
        .step(images<float>(0, {-1}, {1, 1, 1, 1}))
        .step(eval)
        .step({.step = 2, .tensors = {tensor_of<float>("loss", {9})}})
        .step(images<float>(3, {0, 0, 0, 0}, {1, 1, 1, 4}))
        .end();
    const memory_trial run{store};
    const auto outcome = invoke_rule(check_input_images{two}, run);
    CHECK(outcome.met_at == steps_list{1});
    CHECK(outcome.findings[0].value == doctest::Approx(1.0 / 3));
    CHECK(invoke_rule(check_input_images{two}, run, {.start_step = 1}).met_at == steps_list{3});
    check_input_images kept = two;
    CHECK(invoke_rule(kept, run, {.end_step = 1}).findings.empty());
    CHECK(invoke_rule(kept, run, {.start_step = 1}).met_at == steps_list{1});
}

TEST_CASE("check_input_images: another number of channels begins anew") {
    const std::vector<float> ones(4, 1);
    const auto outcome = judged({images(0, ones, {1, 4, 1, 1}), images(1, ones, {1, 2, 1, 2}),
                                 images(2, ones, {1, 2, 2, 1}), images(3, ones, {4, 1})},
                                two);
    CHECK(outcome.met_at == steps_list{2, 3});
    CHECK(outcome.findings[1].message.starts_with("after 4 images "));
}

TEST_CASE("check_input_images: a channel with NaN does not fire, and the others do") {
    CHECK(judged({images<double>(0, {not_a_number, 1}, {2, 1, 1, 1})}, two).findings.empty());
    const auto outcome = judged({images<double>(0, {not_a_number, 0, 1, 5}, {2, 2, 1, 1})}, two);
    REQUIRE(outcome.findings.size() == 1);
    CHECK(outcome.findings[0].value == 2.5);
    constexpr double inf = std::numeric_limits<double>::infinity();
    CHECK(judged({images<double>(0, {inf, 1}, {2, 1, 1, 1})}, two).findings.size() == 1);
    CHECK(judged({images<double>(0, {inf, -inf}, {2, 1, 1, 1})}, two).findings.empty());
}

TEST_CASE("check_input_images: of several channels saved reductions prove what is off, and else are noted") {
    const auto off = judged({reduced(0, 0.5F, {2, 3, 4, 4})}, two);
    REQUIRE(off.findings.size() == 1);
    CHECK(off.findings[0].message == "after 2 images the mean of all channels is 0.5, further from 0 than 0.2");
    memory_storage store;
    run_builder{store}
        .collections()
        .step(reduced(0, 0.1F, {1, 2, 1, 1}))
        .step(images<float>(1, {1, -1}, {1, 2, 1, 1}))
        .step({.step = 2, .tensors = {tensor_of<float>("smdebug/reductions/mean/" + input, {9})}})
        .step({.step = 3,
               .tensors = {tensor_of<float>("smdebug/reductions/max/" + input, {9})},
               .shapes = {{input, input, {1, 2, 1, 1}}}})
        .end();
    const memory_trial run{store};
    check_input_images rule = two;
    CHECK(rule(run, 0).empty());
    for (const step_number step : {1, 2, 3}) {  // mixed; no shape; no mean
        const auto notes = rule(run, step);
        REQUIRE(notes.size() == 1);
        CHECK_FALSE(notes[0].met);
        CHECK_FALSE(notes[0].message.empty());
    }
}

TEST_CASE("check_input_images: sums are the same in every real type and for every number of values") {
    std::mt19937 random{5};
    for (const std::size_t inner : std::initializer_list<std::size_t>{1, 3, 8, 25}) {
        std::vector<std::int16_t> values(2 * 3 * inner);
        numbers means(3, 0.0);
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] = static_cast<std::int16_t>(random() % 100);
            means[i / inner % 3] += values[i] / (2.0 * static_cast<double>(inner));
        }
        double worst = 0;
        for (const double mean : means) {
            worst = mean > worst ? mean : worst;
        }
        const std::vector<double> doubles(values.begin(), values.end());
        std::vector<float16> halves;
        std::vector<std::uint8_t> bytes;
        for (const std::int16_t each : values) {
            halves.emplace_back(each);
            bytes.push_back(static_cast<std::uint8_t>(each));
        }
        const shape_type shape{2, 3, inner};
        for (const auto& step :
             {images(0, values, shape), images(0, doubles, shape), images(0, halves, shape), images(0, bytes, shape)}) {
            const auto outcome = judged({step}, two);
            REQUIRE(outcome.findings.size() == 1);
            CHECK(outcome.findings[0].value == doctest::Approx(worst));
        }
    }
}

TEST_CASE("check_input_images: empty tensors, strings and complex numbers are passed over") {
    memory_storage store;
    run_builder{store}
        .collections()
        .step({.step = 0,
               .tensors = {tensor_of<float>("empty", {}, {0, 3, 2, 2}),
                           tensor_of<float>("none", {}, {2, 0, 2, 2}),
                           tensor_of<std::complex<float>>("complex", {{9, 0}, {9, 0}}, {2, 1, 1, 1}),
                           tensor_of<std::complex<float>>("complex2", {{9, 0}, {9, 0}}, {1, 2, 1, 1}),
                           {.name = "text", .type = dtype::string, .shape = {0}, .content = {}}}})
        .end();
    check_input_images rule{.threshold_samples = 0, .regex = "."};
    CHECK(rule(memory_trial{store}, 0).empty());
}

TEST_CASE("check_input_images: workers are judged each by itself; a run without shapes gives notes") {
    memory_storage store;
    run_builder{store}
        .collections({"worker_0", "worker_1"})
        .step(images<float>(0, {0, 0}, {2, 1, 1, 1}))
        .step(images<float>(0, {1, 1}, {2, 1, 1, 1}, "worker_1"))
        .end();
    const memory_trial run{store};
    CHECK(invoke_rule(check_input_images{two}, run).findings.empty());
    check_input_images all{.threshold_samples = 2, .all_workers = true};
    const auto outcome = invoke_rule(all, run);
    REQUIRE(outcome.findings.size() == 1);
    CHECK(outcome.findings[0].worker == "worker_1");
    check_input_images other = two;
    const auto notes = other(reduced_run({{input, {{0, {1, 1}}}}}), 0);
    REQUIRE(notes.size() == 1);
    CHECK_FALSE(notes[0].met);
}

TEST_CASE("check_input_images: refuses settings that make no sense") {
    using self = check_input_images;
    CHECK_NOTHROW(self{}.check());
    CHECK_THROWS_AS(self{.threshold_mean = -1}.check(), value_error);
    CHECK_THROWS_AS(self{.threshold_mean = not_a_number}.check(), value_error);
    CHECK_THROWS_AS(self{.threshold_samples = -1}.check(), value_error);
    CHECK_THROWS_AS(self{.channel = -1}.check(), value_error);
    CHECK(thrown_code([&] { static_cast<void>(self{.regex = text_list{}}.check()); }) ==
          error_code::insufficient_information);
    static_assert(described_rule<self> && checked_rule<self>);
}
