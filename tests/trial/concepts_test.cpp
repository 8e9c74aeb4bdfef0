#include <smdebug/trial/concepts.hpp>

#include "support/archetypes.hpp"
#include "support/test.hpp"

#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using smdebug_test::trial_archetype;

namespace {

struct no_modes : trial_archetype {
    void mode(step_number) const {}
};
struct steps_as_ints : trial_archetype {
    [[nodiscard]] std::vector<int> steps(const steps_options&) const { return {}; }
};
struct names_mutably : trial_archetype {
    [[nodiscard]] std::vector<std::string> tensor_names(const tensor_names_options&) { return {}; }
};
struct poor_tensor {
    [[nodiscard]] std::string name() const { return {}; }
};
struct poor_handles : trial_archetype {
    [[nodiscard]] poor_tensor tensor(std::string_view) const { return {}; }
};
struct nameless : trial_archetype {
    void name() const {}
};

static_assert(readable_trial<trial_archetype>);
static_assert(readable_trial<local_trial>);
static_assert(readable_trial<memory_trial>);
static_assert(readable_trial<trial>);
static_assert(!step_source<no_modes> && !readable_trial<no_modes>);
static_assert(!step_source<steps_as_ints> && tensor_lister<steps_as_ints>);
static_assert(!tensor_lister<names_mutably> && step_source<names_mutably>);
static_assert(!reducible_tensor<poor_tensor> && !tensor_source<poor_handles> && !readable_trial<poor_handles>);
static_assert(!readable_trial<nameless> && tensor_source<nameless>);

}  // namespace

TEST_CASE("trial concepts: what has some lines is a trial for rules") {
    const trial_archetype some{{{0, -2}}};
    CHECK(some.tensor("a").reduction_value(0, reduction::mean, {.abs = true}) == 2);
    CHECK(some.steps({}) == std::vector<step_number>{0});
}
