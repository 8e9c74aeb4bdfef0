// Learns from runs that went well what they have in common, and says what is different in another one.
//     learn_normal NEW_RUN HEALTHY_RUN...
#include <smdebug/learn/learn.hpp>
#include <smdebug/rules/built_in/learned.hpp>
#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include <cstdio>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace {

int learn_and_check(const std::string& new_run, const std::vector<std::string>& healthy) {
    const smdebug::learned_facts facts =
        smdebug::learn_runs(healthy, {.threads = 2}, [](const smdebug::left_out_run& one) {
            std::fprintf(stderr, "%s is left out: %s\n", one.run.c_str(), one.why.c_str());
        });
    std::printf("learned from %zu runs\n", facts.runs().size());
    for (const std::string& suspect : facts.suspects()) {
        std::printf("look at %s: it would raise an alarm if learned from the others\n", suspect.c_str());
    }
    const auto outcome =
        smdebug::invoke_rule(smdebug::rules::learned{.facts = facts, .patience = 2}, smdebug::create_trial(new_run));
    for (const smdebug::finding& each : outcome.findings) {
        std::printf("%s of %s: %s\n", each.tensor.c_str(), each.worker.c_str(), each.message.c_str());
    }
    for (const smdebug::finding& each : outcome.notes) {
        std::printf("note: %s\n", each.message.c_str());
    }
    std::printf("%zu differences\n", outcome.findings.size());
    return 0;
}

}  // namespace

int main(int count, char** words) {
    if (count < 3) {
        std::fprintf(stderr, "usage: learn_normal NEW_RUN HEALTHY_RUN...\n");
        return 2;
    }
    try {
        return learn_and_check(words[1], {words + 2, words + count});
    } catch (const std::exception& wrong) {
        std::fprintf(stderr, "%s\n", wrong.what());
        return 1;
    }
}
