#include <smdebug/trial/basic_trial.hpp>

#include "support/counting_storage.hpp"
#include "support/run_builder.hpp"
#include "support/test.hpp"

#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/trial.hpp>
#include <smdebug/trial/trial_access.hpp>

using namespace smdebug;
using namespace smdebug_test;

namespace {

using counted_trial = basic_trial<counting_storage<>>;

static_assert(std::derived_from<counted_trial, trial> && std::copyable<trial> && std::copyable<counted_trial>);
static_assert(std::same_as<decltype(std::declval<const counted_trial&>().store()), const counting_storage<>&>);
static_assert(std::same_as<decltype(std::declval<const trial&>().store()), const any_storage&>);
static_assert(!std::constructible_from<memory_trial, trial>);  // where its bytes are is unknown

std::size_t steps_of(const trial& run) { return run.steps().size(); }

memory_storage one_step() {
    memory_storage store;
    run_builder{store}.collections().step({.step = 3, .tensors = {tensor_of<float>("a", {1})}}).end();
    return store;
}

}  // namespace

TEST_CASE("basic_trial: is a trial, and knows its storage by its type") {
    const counted_trial run{counting_storage<>{one_step()}};
    CHECK(steps_of(run) == 1);
    CHECK(run.store().name() == run.path());
    const trial general = run;  // shares the same state
    CHECK(smdebug::detail::state_of(general) == smdebug::detail::state_of(run));
    CHECK(general.store().target<counting_storage<>>() == &run.store());
    CHECK(general.store().target<memory_storage>() == nullptr);
}

TEST_CASE("basic_trial: a rule that names the type, or asks for a trial, is called with it") {
    const counted_trial run{counting_storage<>{one_step()}};
    const auto named = [](const counted_trial& of, step_number) {
        return finding{.met = of.store().name() == of.path()};
    };
    const auto general = [](const trial& of, step_number) { return finding{.met = of.steps().size() == 1}; };
    CHECK(invoke_rule(named, run).met_at.size() == 1);
    CHECK(invoke_rule(general, run).met_at.size() == 1);
}
