#include <smdebug/trial/shared/step_cache.hpp>

#include "support/run_builder.hpp"
#include "support/shared_trial.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/trial_access.hpp>

using namespace smdebug;
using namespace smdebug_test;
using texts = std::vector<std::string>;

TEST_CASE("step_cache: names of the current step are the trial's, even if the contents of steps change") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0", "worker_1"}, {{"group", {"a", "c"}}, {"empty", {}}});
    for (step_number step = 0; step < 24; ++step) {
        for (const std::string worker : {"worker_0", "worker_1"}) {
            written_step made{.step = step, .tensors = {tensor_of<float>("a", {1})}, .worker = worker};
            if (step % 3 == 0) {
                made.tensors.push_back(tensor_of<float>("b", {1}));
            }
            if (step >= 12 && worker == "worker_1") {
                made.tensors.push_back(tensor_of<float>("c", {1}));
            }
            if (step % 7 != 6 || worker == "worker_0") {
                made.mode = step % 2 == 0 ? mode::train : mode::eval;
                made.mode_step = step / 2;
                build.step(made);
            }
        }
    }
    const memory_trial run{store};
    shared_trial<memory_trial> shared{run};
    const auto check_all = [&](step_number step) {
        INFO("step " << step);
        for (int time = 0; time < 2; ++time) {
            for (const step_number at : {step, step - 1, step + 1, step_number{100}}) {
                CHECK(shared.tensor_names({.step = at}) == run.tensor_names({.step = at}));
                CHECK(shared.tensor_names({.step = at, .mode = mode::eval}) ==
                      run.tensor_names({.step = at, .mode = mode::eval}));
                for (const char* group : {"group", "empty", "nothing"}) {
                    CHECK(shared.tensor_names({.collection = group, .step = at}) ==
                          run.tensor_names({.collection = group, .step = at}));
                }
                for (const text_list& regexes :
                     {text_list{"a"}, text_list{"a", "b"}, text_list{"[bc]"}, text_list{texts{}}, text_list{""}}) {
                    CHECK(shared.tensor_names({.regex = regexes, .step = at}) ==
                          run.tensor_names({.regex = regexes, .step = at}));
                }
            }
            CHECK(shared.tensor_names() == run.tensor_names());
            CHECK(shared.tensor_names({.regex = "a"}) == run.tensor_names({.regex = "a"}));
        }
    };
    check_all(0);  // before any step was begun
    for (step_number step = 0; step < 24; ++step) {
        shared.begin_step(step);
        check_all(step);
    }
    shared.begin_step(50);  // it was never written
    check_all(50);
}

TEST_CASE("step_cache: results for a choice at the current step are cached while steps hold the same tensors") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0"}, {});
    for (step_number step = 1; step < 5; ++step) {  // at step 0 records are shorter
        std::vector<written_tensor> tensors{tensor_of<float>("a", {1.0F}, {1})};
        if (step == 4) {
            tensors.push_back(tensor_of<float>("b", {1.0F}, {1}));
        }
        build.step({.step = step, .tensors = tensors});
    }
    build.end();
    shared_trial<memory_trial> run{memory_trial{store}};
    int made = 0;
    const auto kept = [&](step_number step, const text_list& collections, const text_list& regexes) {
        return smdebug::detail::trial_access::cached_for_step<int>(run, step, collections, regexes,
                                                                   [&] { return ++made; });
    };
    CHECK(kept(1, {}, {}) == nullptr);
    run.begin_step(1);
    CHECK(*kept(1, {}, "a") == 1);
    CHECK(*kept(1, "a", {}) == 2);
    CHECK(*kept(1, {}, "a") == 1);
    CHECK(*smdebug::detail::trial_access::cached_for_step<double>(run, 1, {}, "a", [] { return 0.5; }) == 0.5);
    run.begin_step(2);
    CHECK(kept(1, {}, "a") == nullptr);
    CHECK(*kept(2, {}, "a") == 1);
    const auto refuses = []() -> int { throw value_error("no"); };
    CHECK_THROWS_AS(static_cast<void>(smdebug::detail::trial_access::cached_for_step<int>(run, 2, {}, "b", refuses)),
                    value_error);
    CHECK(*kept(2, {}, "b") == 3);
    run.begin_step(4);
    CHECK(*kept(4, {}, "a") == 4);
}

TEST_CASE("step_cache: cached results may hold handles, and are dropped with the last trial") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0"}, {});
    build.step({.step = 1, .tensors = {tensor_of<float>("a", {1.0F}, {1})}});
    build.end();
    const auto mark = std::make_shared<int>(1);
    std::optional<tensor_handle> left;
    {
        shared_trial<memory_trial> run{memory_trial{store}};
        run.begin_step(1);
        const auto kept =
            smdebug::detail::trial_access::cached_for_step<std::pair<tensor_handle, std::shared_ptr<int>>>(
                run, 1, {}, "a", [&] {
                    return std::pair{run.tensor("a"), mark};
                });
        REQUIRE(kept != nullptr);
        left = kept->first;
        CHECK(mark.use_count() == 2);
    }
    CHECK(mark.use_count() == 1);
    CHECK(left->reduction_value(1, "max") == 1);
}

TEST_CASE("step_cache: names without a step are as new as the trial's, even before a step was begun") {
    memory_storage store;
    run_builder build{store};
    build.collections().step({.step = 0, .tensors = {tensor_of<float>("a", {1})}});
    const memory_trial run{store};
    shared_trial<memory_trial> shared{run};
    CHECK(shared.tensor_names() == texts{"a"});
    build.step({.step = 1, .tensors = {tensor_of<float>("b", {1})}});
    run.refresh();
    CHECK(shared.tensor_names() == texts{"a", "b"});
    shared.begin_step(0);
    CHECK(shared.tensor_names({.step = 0}) == texts{"a"});
}

TEST_CASE("step_cache: a step that another worker joins later is read again") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0", "worker_1"});
    build.step({.step = 0, .tensors = {tensor_of<float>("a", {1})}});
    const memory_trial run{store};
    shared_trial<memory_trial> shared{run};
    shared.begin_step(0);
    CHECK(shared.tensor_names({.step = 0}) == texts{"a"});
    CHECK(*shared.tensor("a").find_reduction(0, reduction::max, {.worker = "worker_0"}) == 1);
    build.step({.step = 0, .tensors = {tensor_of<float>("a", {5}), tensor_of<float>("b", {1})}, .worker = "worker_1"});
    run.refresh();
    shared.begin_step(0);
    CHECK(shared.tensor_names({.step = 0}) == texts{"a", "b"});
    CHECK(*shared.tensor("a").find_reduction(0, reduction::max, {.worker = "worker_1"}) == 5);
}
