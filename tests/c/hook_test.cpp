// Saving by the interface for C: what C++ reads of it, and what each wrong argument gives.
#include <c/saved_run.hpp>

#include <smdebug/reduce/digest.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/xtensor.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;

TEST_CASE("hook of C: what it saves, C++ reads as saved by C++: elements, strides, scalars, modes, digests") {
    const temporary_folder folder;
    const owned_hook held =
        made_hook(folder.path() + "/c", R"("save_interval": 1, "save_all": true, "digests": "all")");
    smd_hook* const hook = held.get();
    const std::array<std::int16_t, 6> six{0, 1, 2, 3, 4, 5};
    const std::array<std::int64_t, 2> three_by_two{3, 2};
    const std::array<std::int64_t, 2> transposed{1, 3};
    ok(smd_hook_set_mode(hook, SMD_TRAIN));
    ok(save_w(hook));
    ok(smd_hook_save(hook, "t", SMD_INT16, 2, three_by_two.data(), transposed.data(), six.data(), nullptr));
    ok(smd_hook_save_scalar(hook, "loss", 0.5));
    ok(smd_hook_end_step(hook));
    ok(smd_hook_set_mode(hook, SMD_EVAL));
    ok(smd_hook_set_step(hook, 10, 7));
    std::int64_t step = 0;
    std::int64_t mode_step = 0;
    ok(smd_hook_step(hook, &step, &mode_step));
    CHECK((step == 10 && mode_step == 7));
    ok(save_w(hook));
    ok(smd_hook_end_step(hook));
    ok(smd_hook_close(hook));
    ok(smd_hook_close(hook));

    const local_trial run{folder.path() + "/c"};
    CHECK(run.loaded_all_steps());
    CHECK(run.steps({.mode = mode::train}) == std::vector<step_number>{0});
    CHECK(run.steps({.mode = mode::eval}) == std::vector<step_number>{7});
    CHECK(run.tensor("w").value<float>(0) == xt::xarray<float>{{0, 1, 2}, {3, 4, 5}});
    const tensor_value t = run.tensor("t").value(0);
    CHECK(as_xtensor<std::int16_t>(t) == xt::xarray<std::int16_t>{{0, 3}, {1, 4}, {2, 5}});
    CHECK(run.tensor("digest/t").value<std::int64_t>(0)(0) == digest_of(t));
    CHECK(run.tensor("scalar/loss").reduction_value(0, reduction::mean) == 0.5);
}

TEST_CASE("hook of C: a tensor that is not due is not looked at; abandoned steps are not written") {
    const temporary_folder folder;
    const owned_hook hook = made_hook(folder.path() + "/c", R"("save_interval": 2, "save_all": true)");
    int wanted = 2;
    ok(smd_hook_should_save(hook.get(), "w", &wanted));
    CHECK(wanted == 1);
    ok(save_w(hook.get()));
    ok(smd_hook_abandon_step(hook.get()));
    ok(smd_hook_should_save(hook.get(), "w", &wanted));
    CHECK(wanted == 0);
    const std::int64_t large = std::int64_t{1} << 40;
    const std::int64_t stride = 1;
    int saved = 2;
    ok(smd_hook_save(hook.get(), "w", SMD_FLOAT32, 1, &large, &stride, &stride, &saved));
    CHECK(saved == 0);
    ok(smd_hook_end_step(hook.get()));
    ok(save_w(hook.get(), 0, &saved));
    CHECK(saved == 1);
    ok(smd_hook_close(hook.get()));
    CHECK(local_trial{folder.path() + "/c"}.steps() == std::vector<step_number>{2});
}

TEST_CASE("hook of C: a digest without its tensor is saved where nothing else of it is due") {
    const temporary_folder folder;
    const owned_hook alone = made_hook(folder.path() + "/alone", R"("save_interval": 1, "digests": "all")");
    ok(smd_hook_save_digest(alone.get(), "w", 2, two_by_three.data(), -5, nullptr));
    ok(smd_hook_close(alone.get()));
    CHECK(local_trial{folder.path() + "/alone"}.tensor("w").digest(0) == -5);
    const owned_hook hook = made_hook(folder.path() + "/values", R"("digests": "all", "save_all": true)");
    refusal{hook.get()}(smd_hook_save_digest(hook.get(), "w", 2, two_by_three.data(), -5, nullptr),
                        "more than the digest of \"w\" is due at this step: save the tensor", SMD_UNSUPPORTED);
}

TEST_CASE("hook of C: each wrong argument has a status and words, and changes nothing") {
    const temporary_folder folder;
    const owned_hook held = made_hook(folder.path() + "/c");
    smd_hook* const hook = held.get();
    const refusal refuses{hook};
    const std::array<float, 6> six{};
    const std::array<std::int64_t, 2> negative{2, -3};
    const std::array<std::int64_t, 2> too_large{std::int64_t{1} << 40, std::int64_t{1} << 40};
    const auto save = [&](const char* name, smd_dtype type, int rank, const std::int64_t* extents,
                          const std::int64_t* strides, const void* data) {
        return smd_hook_save(hook, name, type, rank, extents, strides, data, nullptr);
    };
    refuses(save(nullptr, SMD_FLOAT32, 2, two_by_three.data(), nullptr, six.data()), "smd_hook_save: name is null");
    refuses(save("", SMD_FLOAT32, 2, two_by_three.data(), nullptr, six.data()), "name is empty");
    refuses(save("w", SMD_FLOAT32, -1, two_by_three.data(), nullptr, six.data()), "the rank -1 is negative");
    refuses(save("w", SMD_FLOAT32, 2, nullptr, nullptr, six.data()), "shape is null: it must have 2 extents");
    refuses(save("w", SMD_FLOAT32, 2, negative.data(), nullptr, six.data()), "shape[1] is -3");
    refuses(save("w", SMD_FLOAT32, 2, too_large.data(), nullptr, six.data()), "more elements than memory could hold");
    refuses(save("w", SMD_FLOAT32, 2, two_by_three.data(), negative.data(), six.data()),
            "strides[1] is -3: strides are 0");
    refuses(save("w", SMD_FLOAT32, 2, two_by_three.data(), nullptr, nullptr),
            "data is null: it must point to the 6 elements");
    refuses(save("w", -1, 2, two_by_three.data(), nullptr, six.data()), "there is no dtype -1");
    refuses(save("w", 11, 2, two_by_three.data(), nullptr, six.data()), "there is no dtype 11");
    refuses(save("w", SMD_STRING, 2, two_by_three.data(), nullptr, six.data()), "texts are not", SMD_UNSUPPORTED);
    int wanted = 0;
    refuses(smd_hook_should_save(hook, "w", nullptr), "wanted is null");
    refuses(smd_hook_set_mode(hook, 5), "there is no mode 5");
    refuses(smd_hook_set_step(hook, -1, -1), "smd_hook_set_step: ");
    std::size_t count = 0;
    smd_run* const as_run = static_cast<smd_run*>(static_cast<void*>(hook));
    refuses(smd_run_check(as_run, nullptr, &count), "and must be an smd_run*");
    ok(save_w(hook));
    CHECK(smd_message(hook) == std::string{});
    ok(smd_hook_close(hook));
    refuses(save_w(hook), "closed", SMD_UNSUPPORTED);
    refuses(smd_hook_should_save(hook, "w", &wanted), "closed", SMD_UNSUPPORTED);
    CHECK(local_trial{folder.path() + "/c"}.tensor_names() == std::vector<std::string>{"w"});

    CHECK(smd_hook_open("{}", nullptr) == SMD_VALUE_ERROR);
    CHECK(smd_hook_end_step(nullptr) == SMD_VALUE_ERROR);
    CHECK(std::string{smd_message(nullptr)}.find("the handle is null") == 0);
    smd_free(nullptr);
}

TEST_CASE("hook of C: a hook that cannot be opened has a handle with the words, and refuses every other call") {
    const temporary_folder folder;
    const auto fails = [&](const std::string& options, const std::string& words, smd_status wanted) {
        smd_hook* made = nullptr;
        const smd_status status = smd_hook_open(options.c_str(), &made);
        const owned_hook held{made};
        REQUIRE(made != nullptr);
        refusal{made}(status, words, wanted);
        refusal{made}(smd_hook_end_step(made), "it is not open");
        refusal{made}(smd_hook_close(made), "it is not open");
    };
    fails("\n {\"LocalPath\": ", "smd_hook_open: options: the hook's configuration is not valid JSON", SMD_VALUE_ERROR);
    fails(R"({"HookParameters": {"save_interval": "often"}})", "HookParameters.save_interval", SMD_VALUE_ERROR);
    fails(R"({"CollectionConfigurations": [{"CollectionName": "mine"}]})", "mine",
          SMD_INVALID_COLLECTION_CONFIGURATION);
    fails(folder.path() + "/none.json", "there is no configuration of the hook", SMD_NOT_FOUND);
    save_run(folder.path() + "/there");
    fails(options_text(folder.path() + "/there", ""), "/there", SMD_RUN_EXISTS);
}

TEST_CASE("hook of C: options from a file; out_dir, worker and resume, which options lack; freed without closing") {
    const temporary_folder folder;
    folder.write("hook.json", options_text("/nowhere", R"("save_interval": 1, "include_workers": "all")"));
    const auto open = [&](int resume) {
        smd_hook* made = nullptr;
        ok(smd_hook_open_worker((folder.path() + "/hook.json").c_str(), (folder.path() + "/run").c_str(), "worker_1", 1,
                                resume, resume != 0 ? 5 : -1, &made));
        return owned_hook{made};
    };
    owned_hook hook = open(0);
    ok(smd_hook_save_scalar(hook.get(), "x", 1));
    ok(smd_hook_end_step(hook.get()));
    ok(smd_hook_save_scalar(hook.get(), "x", 2));  // in a step that is not ended
    hook.reset();
    const local_trial died{folder.path() + "/run"};
    CHECK(died.workers() == std::vector<std::string>{"worker_1"});
    CHECK((died.steps() == std::vector<step_number>{0} && !died.loaded_all_steps()));
    hook = open(1);
    std::int64_t step = 0;
    ok(smd_hook_step(hook.get(), &step, nullptr));
    CHECK(step == 5);
    ok(smd_hook_close(hook.get()));
    CHECK(local_trial{folder.path() + "/run"}.loaded_all_steps());
}
