// Built-in rules about labels, inputs, boosted trees and clocks on odd runs: see conformance_test.cpp.
#include "support/rule_conformance.hpp"
#include "support/test.hpp"

#include <smdebug/rules/built_in/check_input_images.hpp>
#include <smdebug/rules/built_in/class_imbalance.hpp>
#include <smdebug/rules/built_in/confusion.hpp>
#include <smdebug/rules/built_in/feature_importance_overweight.hpp>
#include <smdebug/rules/built_in/nlp_sequence_ratio.hpp>
#include <smdebug/rules/built_in/stalled_training.hpp>
#include <smdebug/rules/built_in/tree_depth.hpp>

using namespace smdebug;
using namespace smdebug_test;

TEST_CASE("rules about labels and inputs: stand odd runs") {
    CHECK(check_rule(rules::class_imbalance{.threshold_imbalance = 1, .samples = 1}).met > 0);
    CHECK(check_rule(rules::class_imbalance{.samples = 1, .argmax = true}).notes > 0);
    CHECK(check_rule(rules::confusion{}).met > 0);
    CHECK(check_rule(rules::confusion{.category_no = 3}).met > 0);
    CHECK(check_rule(rules::check_input_images{.threshold_samples = 1}).met > 0);
    CHECK(check_rule(rules::check_input_images{.threshold_samples = 1, .regex = ".*", .channel = 0}).met > 0);
    CHECK(check_rule(rules::nlp_sequence_ratio{}).met > 0);
}

TEST_CASE("rules about boosted trees and clocks: stand odd runs") {
    CHECK(check_rule(rules::tree_depth{.depth = 0}).met > 0);
    CHECK(check_rule(rules::feature_importance_overweight{.nfeatures = 1}).met > 0);
    CHECK(check_rule(rules::stalled_training{}).met == 0);  // these runs have ended, and walking them takes no time
}
