#include <smdebug/trial/trial_access.hpp>

#include "support/archetypes.hpp"
#include "support/run_builder.hpp"
#include "support/test.hpp"

#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/read/trial_state.hpp>

using namespace smdebug;
using namespace smdebug_test;

namespace {

// A user's own trial may be shared if it is an smdebug::trial; functions of the right names do not make it one.
class derived_trial : public memory_trial {
public:
    using memory_trial::memory_trial;
};
class uncopied_trial : public memory_trial {
public:
    using memory_trial::memory_trial;
    uncopied_trial(const uncopied_trial&) = delete;
    uncopied_trial& operator=(const uncopied_trial&) = delete;
};

static_assert(smdebug::detail::shareable_trial<trial> && smdebug::detail::shareable_trial<derived_trial>);
static_assert(!smdebug::detail::shareable_trial<uncopied_trial> && !smdebug::detail::shareable_trial<trial_archetype> &&
              !smdebug::detail::shareable_trial<int>);
static_assert(smdebug::detail::shareable_tensor<tensor_handle> &&
              !smdebug::detail::shareable_tensor<trial_archetype::tensor_archetype>);

// What is machinery is not among a trial's public functions, and neither are its parts in those of a handle.
template <class Trial>
concept shows_machinery = requires(Trial& run) { run.state(); } || requires(Trial& run) { run.snapshot(); } ||
                          requires(Trial& run) { run.rule_log(); } || requires(Trial& run) { run.begin_rules(0); };
static_assert(!shows_machinery<trial> && !shows_machinery<memory_trial>);

}  // namespace

TEST_CASE("trial_access: derived trials and copies have the same state; the catalog is the newest one") {
    memory_storage store;
    run_builder build{store};
    build.collections().step({.step = 0, .tensors = {tensor_of<float>("a", {1})}});
    const derived_trial run{store};
    const trial copy = run;
    CHECK(smdebug::detail::state_of(copy) == smdebug::detail::state_of(run));
    const auto before = smdebug::detail::catalog_of(run);
    CHECK(before->steps.size() == 1);
    CHECK(smdebug::detail::catalog_of(copy) == before);
}
