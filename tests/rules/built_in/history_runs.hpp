// Shared by the tests of the rules about training runs: runs as lists of steps, and the steps at which a rule fires in
// every kind of walk.
#pragma once

#include "support/rule_verdicts.hpp"
#include "support/run_builder.hpp"
#include "support/test.hpp"

#include <smdebug/core/step.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

namespace smdebug_test {

using steps_list = std::vector<smdebug::step_number>;
using groups_of_tensors = std::map<std::string, std::vector<std::string>>;
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
inline constexpr double infinite = std::numeric_limits<double>::infinity();

/// A run that has ended.
inline smdebug::memory_storage run_of(const std::vector<written_step>& steps, const groups_of_tensors& groups = {}) {
    smdebug::memory_storage store;
    std::set<std::string> workers;
    for (const written_step& each : steps) {
        workers.insert(each.worker);
    }
    run_builder build{store};
    build.collections({workers.begin(), workers.end()}, groups);
    for (const written_step& each : steps) {
        build.step(each);
    }
    build.end();
    return store;
}

/// A tensor with these values at steps 0, 1, ...; nothing was saved where there are none.
template <class T>
std::vector<written_step> series_of(const std::string& name, const std::vector<std::vector<T>>& values) {
    std::vector<written_step> steps;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!values[i].empty()) {
            steps.push_back({.step = static_cast<smdebug::step_number>(i), .tensors = {tensor_of<T>(name, values[i])}});
        }
    }
    return steps;
}

/// The same with one number at each step.
inline std::vector<written_step> numbers_of(const std::string& name, const std::vector<double>& values) {
    std::vector<std::vector<double>> all;
    for (const double each : values) {
        all.push_back({each});
    }
    return series_of<double>(name, all);
}

inline void damage(smdebug::memory_storage& store, smdebug::step_number step, const std::string& worker = "worker_0") {
    const std::string key = smdebug::detail::locations::event_key(step, worker);
    const smdebug::byte_buffer whole = store.read(key);
    store.write(key, whole.view().first(whole.size() - 5));
}

inline std::vector<smdebug::finding> only_met(std::vector<smdebug::finding> all) {
    std::erase_if(all, [](const smdebug::finding& each) { return !each.met; });
    return all;
}

/// The steps at which a rule fires: alone, sharing reads, and, if its history is the run's, when it is called once.
template <class Rule>
steps_list fires_at(const Rule& rule, const smdebug::memory_storage& store, bool looks_back = true) {
    const smdebug::memory_trial run{store};
    Rule alone = rule;
    const steps_list found = smdebug::invoke_rule(alone, run).met_at;
    Rule again = alone;  // with the first walk's history: it looks back to the same
    Rule shared = rule;
    const auto results = smdebug::invoke_rules(run, {}, shared);
    REQUIRE(results.size() == 1);
    CHECK(results[0].failure.empty());
    CHECK(results[0].outcome.met_at == found);
    if (looks_back) {
        CHECK(smdebug::invoke_rule(again, run).met_at == found);
        for (const smdebug::step_number step : run.steps()) {
            CAPTURE(step);
            Rule once = rule;
            CHECK(!only_met(once(run, step)).empty() == std::binary_search(found.begin(), found.end(), step));
        }
    }
    return found;
}

/// The findings that are met, of a walk.
template <class Rule>
std::vector<smdebug::finding> findings_of(Rule rule, const smdebug::memory_storage& store) {
    return smdebug::invoke_rule(rule, smdebug::memory_trial{store}).findings;
}
template <class Rule>
std::vector<smdebug::finding> notes_of(Rule rule, const smdebug::memory_storage& store) {
    return smdebug::invoke_rule(rule, smdebug::memory_trial{store}).notes;
}

}  // namespace smdebug_test
