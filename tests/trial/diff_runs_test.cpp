#include <smdebug/trial/diff_runs.hpp>

#include "support/run_builder.hpp"
#include "support/test.hpp"
#include "support/thrown_code.hpp"
#include "trial/diff_runs_fixture.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/tensor/half.hpp>
#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug_test;
using texts = std::vector<std::string>;

namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

template <class T>
std::size_t differing(const std::vector<T>& first, const std::vector<T>& second, const diff_options& options = {}) {
    const diff_answer got = diff_of(tensor_of<T>("t", first), tensor_of<T>("t", second), options);
    return got.all.empty() ? 0 : got.all.front().differing;
}

}  // namespace

TEST_CASE("diff_runs: a run is the same as itself, and a copy of it, whatever it holds") {
    for (const char* name :
         {"torch_mlp", "torch_ddp", "dtypes", "reductions_raw", "reductions_only", "reductions_tf", "shapes_raw",
          "shapes_only", "tf_workers", "xgboost_like", "mode_gaps", "checksummed", "scalars", "collections"}) {
        const std::string path = std::string{SMDEBUG_TEST_DATA "/golden/"} + name;
        const trial first = create_trial(path);
        const trial second = create_trial(path);
        std::size_t saved = 0;
        for (const std::string& tensor : first.tensor_names()) {
            for (const step_number step : first.tensor(tensor).steps({.show_incomplete_steps = true})) {
                saved += first.tensor(tensor).workers(step).size();
            }
        }
        for (const diff_options& options : {diff_options{}, diff_options{.rtol = 1e-5}}) {
            const diff_answer got = diff(first, second, options);
            CHECK_MESSAGE(got.lines == texts{}, name);
            CHECK(got.summary.same());
            CHECK_MESSAGE(got.summary.steps == first.steps({.show_incomplete_steps = true}).size(), name);
            CHECK_MESSAGE(got.summary.tensors == first.tensor_names().size(), name);
            CHECK_MESSAGE(got.summary.compared == saved, name);
        }
    }
}

TEST_CASE("diff_runs: values that differ: where, how many, how far, and what became of each step") {
    const std::vector<float> mine{1, 2, 3, 4, 5, 6};
    const std::vector<float> yours{1, 2, 3.5F, 4, 2, 6};
    std::vector<compared_step> steps;
    const diff_options options{.step_done = [&](const compared_step& step) { steps.push_back(step); }};
    const auto step_of = [&](step_number step, const std::vector<float>& values) {
        return written_step{.step = step,
                            .tensors = {tensor_of<float>("a", {1}), tensor_of<float>("w", values, {2, 3})},
                            .mode_step = step / 10};
    };
    const diff_answer got =
        diff_of({step_of(0, mine), step_of(20, mine)}, {step_of(0, mine), step_of(20, yours)}, options);
    CHECK(got.lines == texts{"20 worker_0 w values: 2 of 6 elements differ"});
    REQUIRE(got.all.size() == 1);
    const run_difference& found = got.all.front();
    CHECK(found.mode == mode::train);
    CHECK(found.mode_step == 2);
    CHECK(found.elements == 6);
    CHECK(found.differing == 2);
    CHECK(found.largest == 3);
    CHECK(found.largest_relative == 1.5);
    CHECK(found.first->place == 2);
    CHECK(found.first->first == "3");
    CHECK(found.first->second == "3.5");
    CHECK(found.farthest->place == 4);
    CHECK(got.summary.steps == 2);
    CHECK(got.summary.tensors == 2);
    CHECK(got.summary.compared == 4);
    CHECK(got.summary.bytes == 2 * (4 + 24));
    CHECK(got.summary.differences == 1);
    CHECK_FALSE(got.summary.same());
    REQUIRE(steps.size() == 2);
    CHECK(steps[0].step == 0);
    CHECK(steps[0].tensors == 2);
    CHECK(steps[0].differing == 0);
    CHECK(steps[0].farthest_tensor.empty());
    CHECK(steps[1].step == 20);
    CHECK(steps[1].mode_step == 2);
    CHECK(steps[1].differing == 1);
    CHECK(steps[1].largest == 3);
    CHECK(steps[1].largest_relative == 1.5);
    CHECK(steps[1].farthest_tensor == "w");
}

TEST_CASE("diff_runs: the shape of values that differ is available while visit runs") {
    std::size_t seen = 0;
    static_cast<void>(diff_runs(memory_trial{run_of({{.tensors = {tensor_of<float>("w", {1, 2}, {2, 1})}}})},
                                memory_trial{run_of({{.tensors = {tensor_of<float>("w", {1, 3}, {2, 1})}}})}, {},
                                [&](const run_difference& each) {
                                    REQUIRE(each.shape != nullptr);
                                    CHECK(*each.shape == shape_type{2, 1});
                                    ++seen;
                                }));
    CHECK(seen == 1);
}

TEST_CASE("diff_runs: exactly, bits decide; with a tolerance, numpy.allclose with equal_nan") {
    const float infinity = std::numeric_limits<float>::infinity();
    CHECK(differing<float>({0.0F}, {-0.0F}) == 1);
    CHECK(differing<float>({0.0F}, {-0.0F}, {.atol = 0}) == 0);
    CHECK(differing<float>({not_a_number}, {not_a_number}) == 0);
    CHECK(differing<float>({not_a_number, 1}, {1, not_a_number}, {.rtol = 1, .atol = 1}) == 2);
    CHECK(differing<float>({not_a_number}, {-not_a_number}) == 1);
    CHECK(differing<float>({not_a_number}, {-not_a_number}, {.rtol = 0}) == 0);
    CHECK(differing<float>({infinity, infinity, 1}, {infinity, -infinity, infinity}, {.rtol = 1, .atol = 1}) == 2);
    CHECK(differing<double>({1.0}, {1.0 + 1e-9}) == 1);
    CHECK(differing<double>({1.0}, {1.0 + 1e-9}, {.rtol = 1e-8}) == 0);
    CHECK(differing<double>({10, 11}, {11, 10}, {.rtol = 0.0999}) == 1);  // relative to the second run's values
    CHECK(differing<std::int64_t>({5, 6}, {6, 6}) == 1);
    CHECK(differing<std::int64_t>({5, 6}, {6, 8}, {.atol = 1}) == 1);
    CHECK(differing<float16>({float16{1.0F}}, {float16{1.5F}}) == 1);
    CHECK(differing<float16>({float16{1.0F}}, {float16{1.5F}}, {.atol = 0.5}) == 0);
    CHECK(differing<bfloat16>({bfloat16{1.0F}}, {bfloat16{1.5F}}, {.atol = 0.25}) == 1);
    CHECK(differing<std::complex<float>>({{1, 2}}, {{1, 3}}) == 1);
    CHECK(differing<std::complex<float>>({{1, 2}}, {{1, 3}}, {.atol = 1}) == 0);
    const std::vector<std::byte> no{std::byte{0}, std::byte{1}};
    const std::vector<std::byte> yes{std::byte{1}, std::byte{1}};
    const written_tensor off{.name = "b", .type = dtype::boolean, .shape = {2}, .content = no};
    const written_tensor on{.name = "b", .type = dtype::boolean, .shape = {2}, .content = yes};
    CHECK(diff_of(off, on).lines == texts{"0 worker_0 b values: 1 of 2 elements differ"});
    CHECK(diff_of(off, on, {.atol = 1}).summary.same());
    for (const diff_options& wrong :
         {diff_options{.rtol = -1}, diff_options{.atol = static_cast<double>(not_a_number)}}) {
        CHECK_THROWS_AS(static_cast<void>(diff_of(off, on, wrong)), value_error);
    }
}

TEST_CASE("diff_runs: strings differ where their bytes do, whatever the tolerance") {
    const auto words = [](std::vector<std::string_view> all) {
        return written_tensor{
            .name = "s", .type = dtype::string, .shape = {all.size()}, .content = {}, .strings = std::move(all)};
    };
    CHECK(diff_of(words({"a", "b"}), words({"a", "b"})).summary.same());
    const diff_answer got = diff_of(words({"a", "b"}), words({"a", "c"}), {.rtol = 1, .atol = 1});
    CHECK(got.lines == texts{"0 worker_0 s values: 1 of 2 elements differ"});
    CHECK(got.all.at(0).first->second == "\"c\"");
    CHECK_FALSE(got.all.at(0).farthest);
    CHECK(std::isnan(got.all.at(0).largest));
}

TEST_CASE("diff_runs: other dtypes and shapes") {
    const diff_answer type = diff_of(tensor_of<float>("t", {1, 2}), tensor_of<double>("t", {1, 2}));
    CHECK(type.lines == texts{"0 worker_0 t dtype: it holds float32 in the first run, float64 in the second"});
    const diff_answer shape = diff_of(tensor_of<float>("t", {1, 2}, {2, 1}), tensor_of<float>("t", {1, 2}, {1, 2}));
    CHECK(shape.lines == texts{"0 worker_0 t shape: its shape is (2x1) in the first run, (1x2) in the second"});
    const diff_answer both = diff_of(tensor_of<float>("t", {1, 2}), tensor_of<double>("t", {1}));
    CHECK(both.summary.differences == 2);
    CHECK(both.summary.bytes == 0);
    CHECK(both.summary.compared == 1);
}

TEST_CASE("diff_runs: steps, workers and tensors that only one of them has; the order in files does not count") {
    const auto a = tensor_of<float>("a", {1});
    const auto b = tensor_of<float>("b", {2});
    const auto c = tensor_of<float>("c", {3});
    const std::vector<std::string> two{"worker_0", "worker_1"};
    const memory_trial first{run_of({{.step = 0, .tensors = {a, b}},
                                     {.step = 1, .tensors = {a}},
                                     {.step = 3, .tensors = {a, b}},
                                     {.step = 3, .tensors = {a}, .worker = "worker_1"}},
                                    {}, two)};
    const memory_trial second{run_of({{.step = 0, .tensors = {b, a}},
                                      {.step = 2, .tensors = {a}},
                                      {.step = 2, .tensors = {a}, .worker = "worker_1"},
                                      {.step = 3, .tensors = {c, a}}},
                                     {}, two)};
    CHECK(diff(first, second).lines ==
          texts{"1 step 1: only the first run has the step", "2 step 2: only the second run has the step",
                "3 worker_0 b tensor 1: only the first run has it", "3 worker_0 c tensor 2: only the second run has it",
                "3 worker_1 worker 1: only in the first run the worker has saved the step"});
    CHECK(diff(first, second).summary.compared == 3);
    CHECK(diff(second, first).lines.size() == 5);
    CHECK(diff(first, second, {.which = {.range = {0, 1}}}).summary.same());
    CHECK(diff(first, second, {.which = {.range = {2, std::nullopt}, .worker = "worker_1"}}).lines ==
          texts{"2 step 2: only the second run has the step", "3 step 1: only the first run has the step"});
    CHECK(diff(first, second, {.which = {.regex = "^c$", .range = {3, std::nullopt}, .worker = "worker_0"}}).lines ==
          texts{"3 worker_0 c tensor 2: only the second run has it"});
    CHECK(
        diff(first, second, {.which = {.names = texts{"b"}, .range = {3, std::nullopt}, .worker = "worker_0"}}).lines ==
        texts{"3 worker_0 b tensor 1: only the first run has it"});
}

TEST_CASE("diff_runs: modes and mode steps, and steps of one mode") {
    const auto a = tensor_of<float>("a", {1});
    const std::vector<written_step> first{{.step = 0, .tensors = {a}},
                                          {.step = 1, .tensors = {a}, .mode_step = 5},
                                          {.step = 2, .tensors = {a}, .mode = mode::eval}};
    const std::vector<written_step> second{{.step = 0, .tensors = {a}, .mode = mode::eval, .mode_step = 3},
                                           {.step = 1, .tensors = {a}, .mode_step = 6},
                                           {.step = 2, .tensors = {a}, .mode = mode::eval}};
    CHECK(diff_of(first, second).lines ==
          texts{"0 worker_0 mode: the step is TRAIN 0 in the first run, EVAL 3 in the second",
                "1 worker_0 mode: the step is TRAIN 5 in the first run, TRAIN 6 in the second"});
    CHECK(diff_of(first, second, {.which = {.mode = mode::train}}).summary.steps == 2);
    CHECK(diff_of(first, second, {.which = {.mode = mode::eval}}).summary.steps == 2);
    CHECK(diff_of(first, second, {.which = {.mode = mode::predict}}).summary.steps == 0);
}

TEST_CASE("diff_runs: saved reductions, and values that only one of them saved") {
    const auto reduced_to = [](std::vector<float> mean) {
        return tensor_of<float>("smdebug/reductions/mean/t", mean, {});
    };
    const auto values = tensor_of<float>("t", {1});
    CHECK(diff_of(reduced_to({1.5F}), reduced_to({1.5F})).summary.same());
    const diff_answer got = diff_of(reduced_to({1.5F}), reduced_to({1.75F}));
    CHECK(got.lines == texts{"0 worker_0 t reduction: its saved mean is 1.5 in the first run, 1.75 in the second"});
    CHECK(got.all.at(0).largest == 0.25);
    CHECK(got.summary.compared == 1);
    CHECK(diff_of(reduced_to({1.5F}), reduced_to({1.75F}), {.atol = 0.25}).summary.same());
    CHECK(diff_of({{.tensors = {values, reduced_to({1})}}}, {{.tensors = {values}}}).lines ==
          texts{"0 worker_0 t tensor 1: only the first run has its mean"});
    CHECK(diff_of({{.tensors = {reduced_to({1})}}}, {{.tensors = {values, reduced_to({1})}}}).lines ==
          texts{"0 worker_0 t tensor 2: only the second run has its values"});
}

TEST_CASE("diff_runs: shapes that were saved without values") {
    const auto shaped = [](std::vector<std::size_t> extents) {
        return written_step{.tensors = {tensor_of<float>("t", {1})},
                            .shapes = {{.name = "s", .original_name = "s", .extents = std::move(extents)}}};
    };
    CHECK(diff_of({shaped({2, 3})}, {shaped({2, 3})}).summary.tensors == 2);
    CHECK(diff_of({shaped({2, 3})}, {shaped({2, 3})}).summary.same());
    CHECK(diff_of({shaped({2, 3})}, {shaped({3, 2})}).lines ==
          texts{"0 worker_0 s shape: its shape is (2x3) in the first run, (3x2) in the second"});
    CHECK(diff_of({shaped({2})}, {{.tensors = {tensor_of<float>("t", {1})}}}).lines ==
          texts{"0 worker_0 s tensor 1: only the first run has it"});
}

TEST_CASE("diff_runs: collections and their members; a collection chooses tensors by either run") {
    const std::vector<written_step> mine{{.tensors = {tensor_of<float>("a", {1}), tensor_of<float>("b", {1})}}};
    const std::vector<written_step> yours{{.tensors = {tensor_of<float>("a", {2}), tensor_of<float>("b", {2})}}};
    const memory_trial first{run_of(mine, {{"g", {"a", "b", "c"}}, {"only", {"a"}}, {"same", {"a"}}})};
    const memory_trial second{run_of(yours, {{"g", {"a", "d"}}, {"other", {"b"}}, {"same", {"a"}}})};
    const texts values{"0 worker_0 a values: 1 of 1 element differs", "0 worker_0 b values: 1 of 1 element differs"};
    texts all{"g collection 1: only in the first run it holds b and 1 more",
              "g collection 2: only in the second run it holds d", "only collection 1: only the first run has it",
              "other collection 2: only the second run has it"};
    all.insert(all.end(), values.begin(), values.end());
    CHECK(diff(first, second).lines == all);
    CHECK(diff(first, second, {.which = {.regex = "b"}}).lines == texts{values[1]});
    CHECK(diff(first, second, {.which = {.collection = "only"}}).lines ==
          texts{"only collection 1: only the first run has it", values[0]});
    CHECK(diff(first, second, {.which = {.collection = "other"}}).lines ==
          texts{"other collection 2: only the second run has it", values[1]});
    CHECK(diff(first, second, {.which = {.collection = "g"}}).lines.size() == 4);
    CHECK(thrown_code([&] { static_cast<void>(diff(first, second, {.which = {.collection = "none"}})); }) ==
          error_code::collection_unavailable);
    CHECK_THROWS_AS(static_cast<void>(diff(first, second, {.which = {.regex = "("}})), value_error);
}

TEST_CASE("diff_runs: progress by files, and a stop after a step") {
    const std::vector<written_step> steps{{.step = 0, .tensors = {tensor_of<float>("a", {1})}},
                                          {.step = 1, .tensors = {tensor_of<float>("a", {1})}},
                                          {.step = 2, .tensors = {tensor_of<float>("a", {1})}}};
    std::vector<std::size_t> told;
    std::stop_source stop;
    diff_options options{
        .step_done = [&](const compared_step& step) { step.step == 1 ? void(stop.request_stop()) : void(); },
        .how = {.progress =
                    [&](std::size_t done, std::size_t all) {
                        CHECK(all == 3);
                        told.push_back(done);
                    },
                .stop = stop.get_token()}};
    const diff_answer got = diff_of(steps, steps, options);
    CHECK(told == std::vector<std::size_t>{1, 2});
    CHECK(got.summary.stopped);
    CHECK(got.summary.steps == 2);
    CHECK_FALSE(got.summary.same());
}

TEST_CASE("diff_runs: name_of names each kind") {
    using kind = run_difference_kind;
    for (const auto& [each, name] : {std::pair{kind::collection, "collection"},
                                     {kind::step, "step"},
                                     {kind::worker, "worker"},
                                     {kind::mode, "mode"},
                                     {kind::tensor, "tensor"},
                                     {kind::dtype, "dtype"},
                                     {kind::shape, "shape"},
                                     {kind::reduction, "reduction"},
                                     {kind::values, "values"},
                                     {kind::unreadable, "unreadable"}}) {
        CHECK(name_of(each) == name);
    }
}
