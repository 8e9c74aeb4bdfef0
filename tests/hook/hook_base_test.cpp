#include <smdebug/hook/hook.hpp>

#include "hook/object_store.hpp"
#include "support/scripted_storage.hpp"
#include "support/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <smdebug/core/step.hpp>
#include <smdebug/reduce/scalar_kernel.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/trial.hpp>
#include <smdebug/xtensor.hpp>

#include <chrono>
#include <concepts>
#include <type_traits>
#include <vector>

using namespace smdebug;

namespace {

struct stopped_clock {
    [[nodiscard]] static std::chrono::duration<double> now() { return std::chrono::duration<double>{7}; }
};

// For all policies; and the common base can be neither created, copied nor destroyed on its own.
template <class Hook>
inline constexpr bool is_one = std::derived_from<Hook, hook_base> && !std::movable<Hook> && !std::copyable<Hook>;
static_assert(is_one<hook> && is_one<basic_hook<>> && is_one<basic_hook<memory_storage, scalar_kernel, stopped_clock>>);
static_assert(!std::destructible<hook_base> && !std::constructible_from<hook_base, const hook_options&>);

// A training loop that is written once.
void train(hook_base& training) {
    for (int step = 0; step < 3; ++step) {
        training.set_mode(step == 1 ? mode::eval : mode::train);
        training.save_tensor("w", std::vector<float>{static_cast<float>(step), 1});
        training.save_scalar("loss", 0.5F);
        training.end_step();
    }
    training.close();
}

void check_run(const trial& run) {
    CHECK(run.steps() == std::vector<step_number>{0, 1, 2});
    CHECK(run.steps({.mode = mode::train}) == std::vector<step_number>{0, 1});
    CHECK(run.tensor("w").value<float>(2)(0) == 2);
    CHECK(run.tensor("scalar/loss").value<float>(1)(0) == 0.5F);
    CHECK(run.loaded_all_steps());
}

}  // namespace

TEST_CASE("hook_base: a function that takes it takes any hook, into any storage") {
    const hook_options options{.save_config = {.save_interval = 1}, .save_all = true};
    const memory_storage memory;
    basic_hook<memory_storage, scalar_kernel, stopped_clock> typed{memory, options};
    train(typed);
    check_run(trial{memory});

    const smdebug_test::temporary_folder folder;
    hook_options named = options;
    named.out_dir = folder.path();
    hook by_path{named};
    train(by_path);
    check_run(trial{local_storage{folder.path()}});

    const smdebug_test::scripted_storage least;  // neither claims, nor removes, nor appends
    basic_hook<smdebug_test::scripted_storage, scalar_kernel> plain{least, options};
    train(plain);
    check_run(trial{least});

    const memory_storage objects;
    hook erased{smdebug_test::like_s3(objects), options};
    train(erased);
    check_run(trial{objects});
}
