#include <smdebug/trial/shared/rule_view.hpp>

#include "support/run_builder.hpp"

#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/shared/shared_view.hpp>

#include <doctest/doctest.h>

using namespace smdebug;
using namespace smdebug_test;

TEST_CASE("rule_view: a trial without one shares and logs nothing; copies of one that has it share it") {
    memory_storage store;
    run_builder{store}.collections().step({.step = 0, .tensors = {tensor_of<float>("a", {1})}}).end();
    memory_trial run{store};
    CHECK_FALSE(run.is_for_rules());
    CHECK(run.rule_log() == nullptr);
    CHECK_FALSE(run.tensor("a").remembers_measures());
    run.begin_rules(0);  // nobody looks: nothing happens
    const sharing_options how;
    run.share_with_rules(smdebug::detail::view_for_rules(run.state(), &how));
    const memory_trial copy = run;
    CHECK(copy.rule_log() == run.rule_log());
    CHECK(copy.tensor("a").remembers_measures());
    run.share_with_rules(smdebug::detail::view_for_rules(run.state(), nullptr));
    CHECK_FALSE(run.tensor("a").remembers_measures());
}
