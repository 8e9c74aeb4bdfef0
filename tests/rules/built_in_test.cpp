#include <smdebug/rules/built_in.hpp>

#include "support/test.hpp"

#include <smdebug/core/step.hpp>
#include <smdebug/registry/built_in_rules.hpp>
#include <smdebug/rules/any_rule.hpp>
#include <smdebug/rules/built_in/exploding_tensor.hpp>
#include <smdebug/rules/built_in/similar_across_runs.hpp>
#include <smdebug/rules/built_in/vanishing_gradient.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/concepts.hpp>

using namespace smdebug;

namespace {

struct sharper : rules::vanishing_gradient {
    [[nodiscard]] static constexpr std::string_view name() noexcept { return "sharper"; }
    [[nodiscard]] std::vector<finding> operator()(const readable_trial auto& run, step_number step) const {
        std::vector<finding> found = rules::vanishing_gradient::operator()(run, step);
        for (finding& each : found) {
            each.message = "sharper: " + each.message;
        }
        return found;
    }
};

}  // namespace

TEST_CASE("built_in_rule: every rule of the registry, over the runs that it is evaluated on, and no other") {
    std::size_t count = 0;
    for_each_built_in_rule([&]<class R>() {
        CHECK(built_in_rule<R>);
        ++count;
    });
    CHECK(count == 30);
    CHECK_FALSE(built_in_rule<sharper>);
    CHECK_FALSE(built_in_rule<const rules::exploding_tensor>);
}

TEST_CASE("built_in_rule: held by value, borrowed, borrowed const, and what derives from one are called alike") {
    const local_trial run{std::string{SMDEBUG_TEST_DATA} + "/golden/torch_mlp"};
    rules::vanishing_gradient rule;
    rule.threshold = 1e30;
    const rules::vanishing_gradient fixed = rule;
    sharper own;
    own.threshold = 1e30;
    const auto results = invoke_rules(run, {}, rule, fixed, own);
    const auto held = invoke_rules(run, std::vector<any_rule<local_trial>>{rule});
    REQUIRE(results.size() == 3);
    REQUIRE(held.size() == 1);
    REQUIRE(held[0].outcome.findings.size() > 2);
    REQUIRE(results[2].outcome.findings.size() == held[0].outcome.findings.size());
    for (std::size_t i = 0; i < held[0].outcome.findings.size(); ++i) {
        const finding& wanted = held[0].outcome.findings[i];
        CHECK(results[0].outcome.findings[i].message == wanted.message);
        CHECK(results[1].outcome.findings[i].message == wanted.message);
        CHECK(results[2].outcome.findings[i].message == "sharper: " + wanted.message);
        CHECK(results[1].outcome.findings[i].step == wanted.step);
    }
    CHECK(results[2].name == "sharper");
}
