// The built-in rule learned on odd runs: see conformance_test.cpp.
#include "support/odd_runs.hpp"
#include "support/rule_conformance.hpp"
#include "support/run_builder.hpp"
#include "support/test.hpp"

#include <smdebug/learn/learn.hpp>
#include <smdebug/rules/built_in/learned.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug_test;

TEST_CASE("learned: stands odd runs") {
    learned_facts usual;
    for (int i = 0; i < 3; ++i) {
        memory_storage store;
        run_builder build{store};
        build.collections();
        for (step_number step = 0; step < 6; ++step) {
            written_step one{.step = step};
            for (const std::string& name : odd::names()) {
                one.tensors.push_back(odd::usual(name, step));
            }
            build.step(one);
        }
        build.end();
        usual.join(learn(trial{store, {.name = "run-" + std::to_string(i)}}));
    }
    const conformance_counts counts = check_rule(rules::learned{.facts = usual, .min_support = 1});
    CHECK(counts.met > 0);
}
