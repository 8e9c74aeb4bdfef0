#include "support/counting_storage.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/hook/any_clock.hpp>
#include <smdebug/hook/hook.hpp>
#include <smdebug/reduce/histogram.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/reduce/scalar_kernel.hpp>
#include <smdebug/rules/built_in/exploding_tensor.hpp>
#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/tensor/event_decoder.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/xtensor.hpp>

using namespace smdebug;
using smdebug_test::temporary_folder;

namespace {

// Policies whose default constructors are explicit.
struct explicit_decoder : event_decoder<> {
    explicit explicit_decoder() = default;
};
struct explicit_kernel : scalar_kernel {
    explicit explicit_kernel() = default;
};
struct explicit_clock : system_wall_clock {
    explicit explicit_clock() = default;
};

}  // namespace

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

TEST_CASE("own_policies: policies that are left out may have explicit default constructors") {
    const temporary_folder folder;
    using own_hook = basic_hook<local_storage, explicit_kernel, explicit_clock>;
    {
        own_hook hook({.out_dir = folder.path(), .save_all = true});
        hook.save_tensor("w", std::vector<float>{1.0F, 2.0F});
        hook.close();
    }
    const temporary_folder other;
    own_hook{local_storage{other.path()}, {}}.close();
    using own_trial = basic_trial<local_storage, explicit_decoder, explicit_kernel>;
    CHECK(own_trial{folder.path()}.tensor("w").reduction_value(0, reduction::sum) == 3);
    CHECK(own_trial{local_storage{folder.path()}}.tensor("w").value<float>(0)(1) == 2);
    const std::vector<float> values{1.0F, 2.0F};
    const std::array<std::size_t, 1> shape{2};
    const auto counted = histogram_of<explicit_kernel>(view_of(values, shape, "w"), equal_bins{.count = 2});
    REQUIRE(counted);
    CHECK(counted->buckets.size() == 3);  // the first holds what is below the range
    CHECK(histogram_of<std::vector<float>, equal_bins, explicit_kernel>(values, equal_bins{.count = 2}).ok());
}
