// Built-in rules on unusual runs: see tests/support/rule_conformance.hpp.  A line each; the settings are such that some
// run makes the rule fire.  In three files, as each rule is compiled for three trials: also conformance_layers_test.cpp
// and conformance_data_test.cpp.
#include "support/rule_conformance.hpp"
#include "support/test.hpp"

#include <smdebug/rules/built_in/all_zero.hpp>
#include <smdebug/rules/built_in/exploding_tensor.hpp>
#include <smdebug/rules/built_in/similar_across_runs.hpp>
#include <smdebug/rules/built_in/tensor_variance.hpp>
#include <smdebug/rules/built_in/unchanged_tensor.hpp>
#include <smdebug/rules/built_in/vanishing_gradient.hpp>
#include <smdebug/rules/built_in/weight_update_ratio.hpp>

using namespace smdebug;
using namespace smdebug_test;

namespace {

std::shared_ptr<const memory_trial> odd_run_named(const std::string& name) {
    for (const odd_run& run : odd_runs()) {
        if (run.name == name) {
            return std::make_shared<const memory_trial>(run.trial);
        }
    }
    FAIL("no run " << name);
    return nullptr;
}

}  // namespace

TEST_CASE("rules about any tensor: stand odd runs, as copies, from later steps, together, and where one only reduces") {
    CHECK(check_rule(rules::exploding_tensor{}).met > 0);
    CHECK(check_rule(rules::exploding_tensor{.only_nan = true}).met > 0);
    CHECK(check_rule(rules::vanishing_gradient{}).met > 0);
    CHECK(check_rule(rules::all_zero{.tensor_regex = ".*"}).met > 0);
    CHECK(check_rule(rules::all_zero{.collection_names = "gradients", .threshold = 30}).met > 0);
    CHECK(check_rule(rules::tensor_variance{.tensor_regex = ".*", .max_threshold = 0.5, .min_threshold = 0.1}).met > 0);
    CHECK(check_rule(rules::unchanged_tensor{.tensor_regex = ".*"}).met > 0);
    CHECK(check_rule(rules::unchanged_tensor{.tensor_regex = ".*", .num_steps = 2, .equal_nan = true}).met > 0);
    CHECK(check_rule(rules::weight_update_ratio{}).met > 0);
    CHECK(check_rule(rules::weight_update_ratio{.num_steps = 2, .epsilon = 0}).met > 0);
}

TEST_CASE("similar_across_runs: stands odd runs on either side") {
    using rule = rules::similar_across_runs;
    CHECK(check_rule(rule{.others = {odd_run_named("missing steps")}}).met > 0);
    CHECK(check_rule(rule{.others = {odd_run_named("shapes that change"), odd_run_named("dtypes that change"),
                                     odd_run_named("all reductions"), odd_run_named("shapes only"),
                                     odd_run_named("event files that are damaged"),
                                     odd_run_named("workers that miss tensors"), odd_run_named("no steps")},
                          .equal_nan = false,
                          .strict = true})
              .met > 0);
}
