#include <smdebug/trial/concepts.hpp>

#include "support/fake_trial.hpp"
#include "support/test.hpp"

#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using smdebug_test::fake_trial;

namespace {

struct no_modes : fake_trial {
    void mode(step_number) const {}
};
struct steps_as_ints : fake_trial {
    [[nodiscard]] std::vector<int> steps(const steps_options&) const { return {}; }
};
struct names_mutably : fake_trial {
    [[nodiscard]] std::vector<std::string> tensor_names(const tensor_names_options&) { return {}; }
};
struct poor_tensor {
    [[nodiscard]] std::string name() const { return {}; }
};
struct poor_handles : fake_trial {
    [[nodiscard]] poor_tensor tensor(std::string_view) const { return {}; }
};
struct nameless : fake_trial {
    void name() const {}
};

static_assert(readable_trial<fake_trial>);
static_assert(readable_trial<local_trial>);
static_assert(readable_trial<memory_trial>);
static_assert(readable_trial<trial>);
static_assert(!step_source<no_modes> && !readable_trial<no_modes>);
static_assert(!step_source<steps_as_ints> && tensor_lister<steps_as_ints>);
static_assert(!tensor_lister<names_mutably> && step_source<names_mutably>);
static_assert(!reducible_tensor<poor_tensor> && !tensor_source<poor_handles> && !readable_trial<poor_handles>);
static_assert(!readable_trial<nameless> && tensor_source<nameless>);

}  // namespace

TEST_CASE("trial concepts: a fake of some lines is a trial for rules") {
    const fake_trial fake{{{"a", {{0, {1, -3}}}}}};
    CHECK(fake.tensor("a").reduction_value(0, reduction::mean, {.abs = true}) == 2);
    CHECK(fake.steps({}) == std::vector<step_number>{0});
}
