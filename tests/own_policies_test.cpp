#include <smdebug/own_policies.hpp>

#include "support/counting_storage.hpp"

#include <doctest/doctest.h>

#include <smdebug/hook/hook.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/reduce/scalar_kernel.hpp>
#include <smdebug/rules/built_in/exploding_tensor.hpp>
#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/tensor/event_decoder.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include <limits>
#include <vector>

using namespace smdebug;

TEST_CASE("own_policies: a hook, a trial and rules over policies that the library does not know") {
    const memory_storage objects;
    {
        basic_hook<memory_storage, scalar_kernel> hook(objects,
                                                       {.save_config = {.save_interval = 1}, .include_regex = {"^w$"}});
        for (const float value : {1.0F, std::numeric_limits<float>::infinity()}) {
            hook.save_tensor("w", std::vector<float>{value, 2.0F});
            hook.end_step();
        }
        hook.close();
    }
    const smdebug_test::counting_storage<> store{objects};
    using own_trial = basic_trial<smdebug_test::counting_storage<>, event_decoder<>, scalar_kernel>;
    const own_trial run{store};
    CHECK(run.tensor("w").reduction_value(0, reduction::sum) == 3);
    CHECK_FALSE(store.calls().empty());

    const auto results = invoke_rules(run, {}, rules::exploding_tensor{});
    REQUIRE(results.size() == 1);
    REQUIRE(results[0].outcome.findings.size() == 1);
    CHECK(results[0].outcome.findings[0].step == 1);
}
