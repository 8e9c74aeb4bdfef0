#include <smdebug/trial/trial.hpp>

#include "support/run_builder.hpp"
#include "support/test.hpp"

#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug_test;
using namespace std::chrono_literals;

static_assert(name_of(job_state::running) == "running");
static_assert(name_of(job_state::stalled) == "stalled");
static_assert(name_of(job_state::ended) == "ended");

TEST_CASE("job_state: running, stalled when nothing comes for long, running again, ended") {
    memory_storage store;
    run_builder build{store};
    build.collections().step({.step = 1, .tensors = {tensor_of<float>("a", {1})}});
    const memory_trial patient{store, {.stalled_after = 24h}};
    const memory_trial hasty{store, {.stalled_after = 0ms}};
    CHECK(patient.job_state() == job_state::running);
    CHECK(hasty.job_state() == job_state::stalled);
    CHECK(patient.quiet_time() < 1h);
    build.step({.step = 2, .tensors = {tensor_of<float>("a", {1})}}).end();
    CHECK(patient.job_state() == job_state::ended);
    CHECK(hasty.job_state() == job_state::ended);
}
