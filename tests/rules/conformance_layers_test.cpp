// Built-in rules about layers and losses on odd runs: see conformance_test.cpp.
#include "support/rule_conformance.hpp"
#include "support/test.hpp"

#include <smdebug/rules/built_in/dead_relu.hpp>
#include <smdebug/rules/built_in/loss_not_decreasing.hpp>
#include <smdebug/rules/built_in/overfit.hpp>
#include <smdebug/rules/built_in/overtraining.hpp>
#include <smdebug/rules/built_in/poor_weight_initialization.hpp>
#include <smdebug/rules/built_in/saturated_activation.hpp>

using namespace smdebug;
using namespace smdebug_test;

TEST_CASE("rules about layers: stand odd runs") {
    CHECK(check_rule(rules::dead_relu{}).met > 0);
    CHECK(check_rule(rules::saturated_activation{}).met > 0);
    CHECK(check_rule(rules::poor_weight_initialization{}).met > 0);
}

TEST_CASE("rules about losses: stand odd runs") {
    CHECK(check_rule(rules::loss_not_decreasing{.num_steps = 2}).met > 0);
    CHECK(check_rule(rules::loss_not_decreasing{.tensor_regex = ".*", .num_steps = 1}).met > 0);
    CHECK(check_rule(rules::overfit{}).met > 0);
    CHECK(check_rule(rules::overfit{.tensor_regex = ".*", .ratio_threshold = 0}).met > 0);
    CHECK(check_rule(rules::overtraining{.patience_train = 1, .patience_validation = 1}).met > 0);
}
