#include <smdebug/hook.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include <doctest/doctest.h>

#include <vector>

namespace smd = smdebug;

TEST_CASE("hook.hpp: spans are saved and read back; no xtensor is needed") {  // check_hosts.sh: none is included
    smd::memory_storage store;
    smd::basic_hook<smd::memory_storage> hook{store, {.save_config = {.save_interval = 1}, .save_all = true}};
    hook.save_tensor("w", std::vector<float>{1, 2, 3, 4}, {2, 2});
    hook.end_step();
    hook.close();
    const smd::basic_trial trial{store};
    const smd::tensor_value value = trial.tensor("w").value(0);
    CHECK(value.shape()[0] == 2);
    CHECK(value.elements<float>()[3] == 4.0F);
}
