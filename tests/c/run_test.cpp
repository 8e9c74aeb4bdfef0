// Reading and checking by the interface for C.
#include <c/saved_run.hpp>

#include <smdebug/hook/hook.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;

namespace {

std::string text_of_result(smd_run* run, std::size_t index) {
    smd_result one;
    ok(smd_run_result(run, index, &one), run);
    return std::string{one.rule} + " " + std::to_string(one.verdict) + ", steps " + std::to_string(one.steps) +
           ", findings " + std::to_string(one.findings) + ", unread " + std::to_string(one.unread);
}

/// A run of save_run(), opened.
struct opened_fixture {
    temporary_folder folder;
    owned_run held = (save_run(folder.path() + "/c"), opened_run(folder.path() + "/c"));
    smd_run* run = held.get();
    refusal refuses{run};
    std::size_t count = 0;
};

}  // namespace

TEST_CASE_FIXTURE(opened_fixture, "run of C: names, steps, shapes, values, reductions and digests are those of C++") {
    const local_trial same{folder.path() + "/c"};
    const char* name = nullptr;
    ok(smd_run_names(run, nullptr, "^n$", &count));
    CHECK(count == 1);
    ok(smd_run_names(run, nullptr, nullptr, &count));
    CHECK(count == 2);
    ok(smd_run_name(run, 1, &name));
    CHECK(name == std::string{"w"});
    std::vector<std::int64_t> steps(4);
    ok(smd_run_steps(run, "w", SMD_GLOBAL, steps.data(), 4, &count));
    CHECK(steps == std::vector<std::int64_t>{0, 1, 2, 3});
    smd_dtype type = 0;
    std::array<std::int64_t, 2> shape{};
    ok(smd_run_tensor(run, "w", SMD_GLOBAL, 1, nullptr, &type, shape.data(), shape.size(), &count));
    CHECK((type == SMD_FLOAT32 && count == 2 && shape == two_by_three));
    std::array<float, 6> values{};
    ok(smd_run_values(run, "w", SMD_GLOBAL, 1, "worker_0", SMD_FLOAT32, values.data(), 6, &count));
    CHECK(values == std::array<float, 6>{1, 1, 2, 3, 4, 5});
    std::int8_t n = 0;  // from int64
    ok(smd_run_values(run, "n", SMD_GLOBAL, 3, nullptr, SMD_INT8, &n, 1, &count));
    CHECK(n == 3);
    for (const std::string what : {"mean", "abs_max", "l2", "nan"}) {
        double value = 0;
        ok(smd_run_reduction(run, "w", SMD_GLOBAL, 1, nullptr, what.c_str(), &value));
        CHECK(value == same.tensor("w").reduction_value(1, what));
    }
    std::int64_t digest = 0;
    ok(smd_run_digest(run, "w", SMD_GLOBAL, 1, nullptr, &digest));
    CHECK(digest == same.tensor("w").digest(1));
}

TEST_CASE("run of C: what C++ saved: shapes without values, steps of modes, a 0-d tensor, texts") {
    const temporary_folder folder;
    hook saving({.out_dir = folder.path() + "/cpp",
                 .collections = {{.name = "shapes",
                                  .include_regex = {"^shape"},
                                  .reduction_config = reduction_config{.reductions = {"mean"}, .save_shape = true}}},
                 .include_collections = {"shapes"},
                 .include_regex = {"^text", "^point"}});
    saving.set_mode(mode::eval);
    saving.save_tensor("text", std::vector<std::string>{"one", "", "three"});
    saving.save_tensor("shape", std::vector<float>{1, 3}, {1, 2});
    saving.save_tensor("point", std::vector<std::int8_t>{-1}, shape_type{});
    saving.close();
    const owned_run held = opened_run(folder.path() + "/cpp");
    smd_run* const run = held.get();
    const refusal refuses{run};
    std::size_t count = 0;
    smd_dtype type = -1;
    double mean = 0;
    std::array<std::int64_t, 2> shape{};
    ok(smd_run_tensor(run, "shape", SMD_EVAL, 0, nullptr, &type, shape.data(), 2, &count));
    CHECK((type == 0 && shape == std::array<std::int64_t, 2>{1, 2}));
    ok(smd_run_reduction(run, "shape", SMD_EVAL, 0, nullptr, "mean", &mean));
    CHECK(mean == 2);
    ok(smd_run_tensor(run, "point", SMD_EVAL, 0, nullptr, &type, nullptr, 0, &count));
    CHECK((type == SMD_INT8 && count == 0));
    const auto values = [&](const char* name, smd_dtype as) {
        return smd_run_values(run, name, SMD_EVAL, 0, nullptr, as, nullptr, 0, &count);
    };
    refuses(values("shape", SMD_FLOAT32), "shape", SMD_TENSOR_UNAVAILABLE_FOR_STEP);
    refuses(values("point", SMD_UINT8), "holds int8, and not every element can be a uint8", SMD_WRONG_DTYPE);
    refuses(values("text", SMD_STRING), "texts are not", SMD_UNSUPPORTED);
    refuses(values("text", SMD_UINT8), "holds string", SMD_WRONG_DTYPE);
}

TEST_CASE_FIXTURE(opened_fixture, "run of C: each wrong argument, and what was not saved, has a status and words") {
    double value = 0;
    std::array<float, 5> few{};
    const char* text = nullptr;
    const auto values = [&](const char* name, smd_mode mode, smd_dtype type, std::size_t* needed) {
        return smd_run_values(run, name, mode, 1, nullptr, type, few.data(), few.size(), needed);
    };
    refuses(values("w", SMD_GLOBAL, SMD_FLOAT32, &count), "has room for 5 elements, and there are 6",
            SMD_BUFFER_TOO_SMALL);
    CHECK((count == 6 && few == std::array<float, 5>{}));
    refuses(values("w", SMD_GLOBAL, SMD_FLOAT32, nullptr), "the place of the count is null");
    refuses(values("w", SMD_GLOBAL, 99, &count), "there is no dtype 99");
    refuses(values("w", 0, SMD_FLOAT32, &count), "there is no mode 0");
    refuses(values("v", SMD_GLOBAL, SMD_FLOAT32, &count), "v", SMD_TENSOR_UNAVAILABLE);
    refuses(smd_run_reduction(run, "w", SMD_GLOBAL, 9, nullptr, "mean", &value), "9", SMD_STEP_UNAVAILABLE);
    refuses(smd_run_reduction(run, "w", SMD_GLOBAL, 1, "worker_7", "mean", &value), "worker_7", SMD_INVALID_WORKER);
    refuses(smd_run_reduction(run, "w", SMD_GLOBAL, 1, nullptr, "median", &value), "median");
    refuses(smd_run_reduction(run, "w", SMD_GLOBAL, 1, nullptr, "mean", nullptr), "value is null");
    refuses(smd_run_names(run, nullptr, "(", &count), "smd_run_names: ");
    refuses(smd_run_name(run, 0, &text), "the last smd_run_names() has 0");
    refuses(smd_hook_end_step(static_cast<smd_hook*>(static_cast<void*>(run))), "and must be an smd_hook*");

    std::filesystem::create_directory(folder.path() + "/empty");
    for (const auto& [path, wanted] : {std::pair{folder.path() + "/none", SMD_NOT_FOUND},
                                       std::pair{folder.path() + "/empty", SMD_NO_TRAINING_RUN}}) {
        smd_run* made = nullptr;
        const smd_status status = smd_run_open(path.c_str(), &made);
        const owned_run kept{made};
        refusal{made}(status, "smd_run_open: ", wanted);
        refusal{made}(smd_run_check(made, nullptr, &count), "it is not open");
    }
}

TEST_CASE_FIXTURE(opened_fixture, "run of C: rules by name, by JSON, and all that apply; their findings") {
    smd_result result;
    smd_finding finding;
    refuses(smd_run_result(run, 0, &result), "the last smd_run_check() has 0");
    ok(smd_run_check(run, "ExplodingTensor", &count));
    CHECK(count == 1);
    CHECK(text_of_result(run, 0) == "exploding_tensor 2, steps 4, findings 1, unread 0");
    ok(smd_run_finding(run, 0, 0, &finding));
    CHECK(finding.tensor + std::string{" of "} + finding.worker == "w of worker_0");
    CHECK((finding.step == 2 && finding.mode_step == 2 && finding.mode == SMD_GLOBAL && *finding.message != 0));
    refuses(smd_run_finding(run, 0, 1, &finding), "there is no finding 1: this result has 1");

    ok(smd_run_check(run,
                     R"( [{"rule": "all_zero", "parameters": {"tensor_regex": "^n$", "start_step": 1}},
                          {"rule": "exploding_tensor", "parameters": {"tensor_regex": "^none$"}}])",
                     &count));
    CHECK(text_of_result(run, 0) == "all_zero 1, steps 3, findings 0, unread 0");
    CHECK(text_of_result(run, 1) == "exploding_tensor 6, steps 4, findings 0, unread 0");
    ok(smd_run_check(run, nullptr, &count));
    CHECK(count > 1);
    refuses(smd_run_check(run, "exploding_tenso", &count), "Did you mean exploding_tensor?");
    refuses(smd_run_check(run, R"([{"rule": "all_zero", "parameters": {"treshold": 1}}])", &count), "threshold");
    refuses(smd_run_check(run, R"([{"rule": )", &count), "rules: neither a JSON list");
}

TEST_CASE("run of C: a running job is checked as far as it is there; what is damaged is never taken for healthy") {
    const temporary_folder folder;
    const owned_hook hook = made_hook(folder.path() + "/c");
    ok(save_w(hook.get()));
    ok(smd_hook_end_step(hook.get()));
    const owned_run run = opened_run(folder.path() + "/c");
    const auto mean_at = [](smd_run* of, std::int64_t step) {
        double value = 0;
        return smd_run_reduction(of, "w", SMD_GLOBAL, step, nullptr, "mean", &value);
    };
    std::size_t count = 0;
    ok(smd_run_check(run.get(), "exploding_tensor", &count));
    CHECK(text_of_result(run.get(), 0) == "exploding_tensor 0, steps 1, findings 0, unread 0");
    ok(save_w(hook.get()));
    ok(smd_hook_end_step(hook.get()));
    ok(mean_at(run.get(), 1));
    refusal{run.get()}(mean_at(run.get(), 2), "2", SMD_STEP_NOT_YET_AVAILABLE);
    ok(smd_hook_close(hook.get()));

    for (const auto& each : std::filesystem::recursive_directory_iterator(folder.path() + "/c/events")) {
        if (each.is_regular_file()) {
            std::filesystem::resize_file(each.path(), 5);
        }
    }
    const owned_run damaged = opened_run(folder.path() + "/c");
    refusal{damaged.get()}(mean_at(damaged.get(), 1), "events/", SMD_CORRUPT_RECORD);
    ok(smd_run_check(damaged.get(), "exploding_tensor", &count));
    CHECK(text_of_result(damaged.get(), 0) == "exploding_tensor 3, steps 2, findings 0, unread 2");
}
