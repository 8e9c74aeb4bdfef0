#include <smdebug/hook/basic_hook.hpp>

#include <doctest/doctest.h>

#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include <xtensor/xarray.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xview.hpp>

#include <vector>

namespace smd = smdebug;

TEST_CASE("basic_hook: what it saves, a trial reads") {
    smd::memory_storage store;
    smd::basic_hook<smd::memory_storage> hook{store, {.save_config = {.save_interval = 2}, .save_all = true}};
    const std::vector<float> weights{1, 2, 3, 4, 5, 6};
    for (int step = 0; step < 5; ++step) {
        hook.set_mode(smd::mode::train);
        CHECK(hook.should_save("w") == (step % 2 == 0));
        CHECK(hook.save_tensor("w", weights, {2, 3}) == (step % 2 == 0));
        CHECK(hook.save_tensor("x", xt::xarray<double>{{1.0, 2.0}, {3.0, 4.0}} * 2.0) == (step % 2 == 0));
        if (step % 2 == 0) {
            hook.save_scalar("lr", 0.5);
        }
        hook.end_step();
    }
    hook.close();
    const smd::basic_trial trial{store};
    CHECK(trial.steps() == std::vector<smd::step_number>{0, 2, 4});
    CHECK(trial.tensor("w").value<float>(2)(1, 2) == 6);
    CHECK(trial.tensor("x").value<double>(2)(1, 1) == 8);
    CHECK(trial.tensor("scalar/lr").value<double>(4)(0) == 0.5);
    CHECK(trial.loaded_all_steps());
}
