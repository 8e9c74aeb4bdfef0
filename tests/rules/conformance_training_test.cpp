// Built-in rules about training runs on odd runs: see conformance_test.cpp.
#include "support/rule_conformance.hpp"
#include "support/test.hpp"

#include <smdebug/rules/built_in/activation_outliers.hpp>
#include <smdebug/rules/built_in/attention_collapse.hpp>
#include <smdebug/rules/built_in/gradient_spike.hpp>
#include <smdebug/rules/built_in/loss_spike.hpp>
#include <smdebug/rules/built_in/nan_origin.hpp>
#include <smdebug/rules/built_in/precision_underflow.hpp>
#include <smdebug/rules/built_in/replica_mismatch.hpp>
#include <smdebug/rules/built_in/weight_norm_drift.hpp>

using namespace smdebug;
using namespace smdebug_test;

TEST_CASE("rules about training runs that look back: stand odd runs") {
    CHECK(check_rule(rules::loss_spike{.tensor_regex = ".", .window = 1, .z_threshold = 0, .relative = 0}).met > 0);
    CHECK(check_rule(rules::gradient_spike{.tensor_regex = ".", .window = 1, .ratio = 1, .z_threshold = 0}).met > 0);
    CHECK(check_rule(rules::weight_norm_drift{.tensor_regex = ".", .growth = 1.001, .shrink = 1.001}).met > 0);
    static_cast<void>(check_rule(rules::precision_underflow{.tensor_regex = ".", .threshold = 0, .patience = 1}));
}

TEST_CASE("rules about training runs that look at a step: stand odd runs") {
    CHECK(check_rule(rules::activation_outliers{.tensor_regex = ".", .threshold = 0.1, .min_abs = 0}).met > 0);
    CHECK(check_rule(rules::attention_collapse{.tensor_regex = ".", .min_entropy = 1, .tolerance = 1.7e308}).notes > 0);
    CHECK(check_rule(rules::nan_origin{.rearm_after = 1}).met > 0);
    CHECK(check_rule(rules::replica_mismatch{.tensor_regex = "."}).met > 0);
    CHECK(check_rule(rules::replica_mismatch{.tensor_regex = ".", .atol = 0.1, .only_alike_at_first = true}).notes > 0);
}
