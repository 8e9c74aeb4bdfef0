#include <smdebug/watch/watched_trial.hpp>

#include "support/run_builder.hpp"

#include <smdebug/reduce/scalar_kernel.hpp>
#include <smdebug/rules/concepts.hpp>
#include <smdebug/trial/concepts.hpp>

#include <doctest/doctest.h>

#include <concepts>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;

static_assert(readable_trial<watched_trial<>> && scannable_trial<watched_trial<>>);
static_assert(std::same_as<watched_trial<>::storage_type, step_memory>);
static_assert(std::same_as<watched_trial<scalar_kernel>::kernel_type, scalar_kernel>);

TEST_CASE("watched_trial: reads what lies in the memory of steps") {
    step_memory store;
    run_builder build{store};
    build.collections().step({.step = 7, .tensors = {tensor_of<float>("w", {1, 3})}}).end();
    const watched_trial<> run{store};
    CHECK(run.tensor("w").reduction_value(7, reduction::mean) == 2);
}
