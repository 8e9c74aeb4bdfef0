#include <smdebug/rules/built_in/tree_depth.hpp>

#include "rules/built_in/listed.hpp"
#include "support/rule_verdicts.hpp"
#include "support/run_builder.hpp"
#include "support/small_run.hpp"
#include "support/test.hpp"

#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug_test;
using rules::tree_depth;
using steps_list = std::vector<step_number>;
using names = std::vector<std::string>;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

template <class T = std::int64_t>
std::vector<T> ids_up_to(int last) {
    std::vector<T> ids;
    for (int id = 0; id <= last; ++id) {
        ids.push_back(static_cast<T>(id));
    }
    return ids;
}

names fired(const tree_depth& rule, const readable_trial auto& run, step_number step = 0) {
    return tensors_in(rule(run, step), true);
}

}  // namespace

TEST_CASE("tree_depth: a full tree of depth 4 is fine, and fires with one node more") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0"}, {{"trees", {"trees/Node"}}});
    build.step({.step = 0, .tensors = {tensor_of("trees/Node", ids_up_to(30))}});
    build.step({.step = 5, .tensors = {tensor_of("trees/Tree", ids_up_to(99))}});  // no node ids here
    build.step({.step = 10, .tensors = {tensor_of("trees/Node", ids_up_to(31))}});
    build.end();
    const memory_trial run{store};
    const auto outcome = invoke_rule(tree_depth{}, run);
    CHECK(outcome.met_at == steps_list{10});
    REQUIRE(outcome.findings.size() == 1);
    CHECK(outcome.findings[0].tensor == "trees/Node");
    CHECK(outcome.findings[0].worker == "worker_0");
    CHECK(outcome.findings[0].value == 5);
    CHECK(outcome.findings[0].threshold == 4);
    CHECK(outcome.findings[0].message == "the largest node id 31 means a depth of at least 5, more than 4");
    CHECK(invoke_rule(tree_depth{.depth = 5}, run).findings.empty());
    CHECK(invoke_rule(tree_depth{.depth = 4.5}, run).met_at == steps_list{10});
    CHECK(invoke_rule(tree_depth{}, run, {.start_step = 11}).findings.empty());
}

TEST_CASE("tree_depth: looks at trees/Node and trees/<anything>/Node, of any real type, and at nothing else") {
    memory_storage store;
    run_builder{store}
        .collections()
        .step(
            {.step = 0,
             .tensors = {tensor_of("trees/Node", ids_up_to<float>(31)), tensor_of("trees/7/Node", ids_up_to(31)),
                         tensor_of("trees/a/b/Node", ids_up_to<std::uint8_t>(31)),
                         tensor_of("trees/NodeId", ids_up_to(31)), tensor_of("my/trees/Node", ids_up_to(31)),
                         tensor_of("trees/Depth", ids_up_to(31)), tensor_of("treesNode", ids_up_to(31)),
                         tensor_of<std::complex<float>>("trees/complex/Node", {{99, 0}}),
                         written_tensor{.name = "trees/text/Node", .type = dtype::string, .shape = {0}, .content = {}},
                         tensor_of<float>("trees/empty/Node", {})}})
        .end();
    const memory_trial run{store};
    CHECK(fired({}, run) == names{"trees/7/Node", "trees/Node", "trees/a/b/Node"});
    CHECK(tree_depth{}(run, 0).size() == 3);  // and no notes
}

TEST_CASE("tree_depth: NaN and ids below 0 never fire; the first step of a stump does not either") {
    struct row {
        std::vector<double> ids;
        double depth;
        bool fires;
    };
    const std::vector<row> rows{
        {{0}, 0, false},         {{not_a_number, 99}, 0, false},
        {{-1}, 0, false},        {{-99}, 0, false},
        {{}, 0, false},          {{0, 1}, 0, true},
        {{0, inf}, 0, true},     {{0x1p48 - 2}, 47, false},  // where a rounded logarithm would say 48
        {{0x1p48 - 1}, 47, true}};
    for (const row& each : rows) {
        CAPTURE(listed(each.ids));
        CAPTURE(each.depth);
        const memory_trial run = small_run({{"trees/Node", {{0, each.ids}}}});
        CHECK(fired({.depth = each.depth}, run).size() == (each.fires ? 1U : 0U));
    }
}

TEST_CASE("tree_depth: judges by a saved max as by the ids, and notes what was saved without one") {
    memory_storage store;
    run_builder{store}
        .collections()
        .step({.step = 0,
               .tensors = {tensor_of<float>("smdebug/reductions/max/trees/Node", {31}),
                           tensor_of<float>("smdebug/reductions/max/trees/fine/Node", {30}),
                           tensor_of<float>("smdebug/reductions/mean/trees/other/Node", {30})}})
        .end();
    const memory_trial run{store};
    const auto found = tree_depth{}(run, 0);
    REQUIRE(found.size() == 2);
    CHECK(found[0].met);
    CHECK(found[0].tensor == "trees/Node");
    CHECK_FALSE(found[1].met);
    CHECK(found[1].tensor == "trees/other/Node");
    CHECK_FALSE(found[1].message.empty());
}

TEST_CASE("tree_depth: looks at the first worker, or at all") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0", "worker_1"});
    build.step({.step = 0, .tensors = {tensor_of("trees/Node", ids_up_to(3))}, .worker = "worker_0"});
    build.step({.step = 0, .tensors = {tensor_of("trees/Node", ids_up_to(40))}, .worker = "worker_1"});
    build.end();
    const memory_trial run{store};
    CHECK(invoke_rule(tree_depth{}, run).findings.empty());
    const auto outcome = invoke_rule(tree_depth{.all_workers = true}, run);
    REQUIRE(outcome.findings.size() == 1);
    CHECK(outcome.findings[0].worker == "worker_1");
}

TEST_CASE("tree_depth: refuses a depth that no tree can have, and a run without trees fires nowhere") {
    CHECK_NOTHROW(tree_depth{}.check());
    CHECK_THROWS_AS(tree_depth{.depth = -1}.check(), value_error);
    CHECK_THROWS_AS(tree_depth{.depth = not_a_number}.check(), value_error);
    static_assert(described_rule<tree_depth> && checked_rule<tree_depth>);
    const memory_trial run = small_run({{"loss", {{0, {99}}}}});
    CHECK_FALSE(run.has_tensor("trees/Node"));
    memory_storage store;
    run_builder{store}.collections().step({.step = 0, .tensors = {tensor_of<float>("loss", {99})}}).end();
    CHECK(invoke_rule(tree_depth{}, memory_trial{store}).findings.empty());
}
