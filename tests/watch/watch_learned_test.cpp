// The rule learned inside the training process, where values pass by: it finds what a check of the saved run finds.
#include <smdebug/rules/built_in/learned.hpp>
#include <smdebug/watch/watch.hpp>

#include <smdebug/hook/hook.hpp>
#include <smdebug/learn/learn.hpp>
#include <smdebug/rules/invoke_rules.hpp>

#include "watch/watch_fixture.hpp"

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test::watches;

namespace {

void train(memory_hook& hook, double scale, int odd_step) {
    for (int step = 0; step < 8; ++step) {
        const double size = step == odd_step ? 50 * scale : scale;
        hook.save_tensor("w", std::vector<double>{size, 2 * size + step});
        hook.end_step();
    }
    hook.close();
}

}  // namespace

TEST_CASE("watch: learned finds inside the training what it finds in the saved run") {
    learned_facts facts;
    for (int run = 0; run < 8; ++run) {
        memory_storage store;
        memory_hook hook{store, {.save_config = {.save_interval = 1}, .save_all = true}};
        train(hook, 1 + run / 16.0, -1);
        facts.join(smdebug::learn(run_in_memory{store, {.name = "run-" + std::to_string(run)}}));
    }
    memory_storage store;
    memory_hook hook{store, {.save_config = {.save_interval = 1}, .save_all = true}};
    std::vector<noted> found;
    watch(hook, into(found), rules::learned{.facts = facts});
    train(hook, 1.2, 5);
    const auto later = invoke_rule(rules::learned{.facts = facts}, run_in_memory{store});
    REQUIRE(later.findings.size() == 2);
    REQUIRE(found.size() == 2);
    for (std::size_t i = 0; i < 2; ++i) {
        CHECK(found[i].what.message == later.findings[i].message);
        CHECK(found[i].step == 5);
    }
}
