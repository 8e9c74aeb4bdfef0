// All built-in rules over the golden runs: together, with shared reads, each has the same findings as alone.
#include "support/rule_conformance.hpp"
#include "support/test.hpp"

#include <smdebug/learn/learn.hpp>
#include <smdebug/registry/rule_registry.hpp>
#include <smdebug/rules/built_in/learned.hpp>
#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug_test;
using conformance::erased_rule;
using conformance::told;

namespace {

local_trial open_golden(std::string_view name) {
    return local_trial{std::string{SMDEBUG_TEST_DATA "/golden/"}.append(name),
                       {.poll_interval = std::chrono::milliseconds{1}, .missing_event_file_retry_limit = 1}};
}

/// The settings that a rule is tried with: the least that it requires, or so that it judges everything.
rule_parameters parameters_for(const rule_info& info, bool everything) {
    rule_parameters given;
    for (const parameter_info& each : info.parameters) {
        // These two end with an error at a tensor that is no attention, or no loads of experts.
        const bool needs_its_own = info.name == "attention_collapse" || info.name == "expert_imbalance";
        if (each.name == "tensor_regex" && needs_its_own) {
            given.emplace(each.name, "^layers/");
        } else if (each.name == "tensor_regex" &&
                   (everything || info.name == "activation_outliers" || info.name == "all_zero" ||
                    info.name == "tensor_variance" || info.name == "unchanged_tensor")) {
            given.emplace(each.name, "");
            given.at(each.name) = std::vector<std::string>{".*"};
        } else if (everything && each.name == "all_workers") {
            given.emplace(each.name, "True");
        } else if (everything && each.name == "threshold" && info.name == "vanishing_gradient") {
            given.emplace(each.name, "1");
        } else if (info.name == "tensor_variance" && each.name == "max_threshold") {
            given.emplace(each.name, "0.1");
        }
    }
    return given;
}

/// A rule alone, and the same rule among others.
struct both_ways {
    std::string name;
    erased_rule<local_trial> alone;
    any_rule<local_trial> among_others;
};

std::vector<both_ways> every_rule(bool everything) {
    std::vector<both_ways> made;
    for_each_built_in_rule([&]<class R>() {
        R rule;
        configure(rule, parameters_for(describe<R>(), everything));
        if constexpr (takes_other_runs<R, trial>) {
            rule.others = {std::make_shared<const local_trial>(open_golden("torch_mlp"))};
        }
        if constexpr (std::same_as<R, rules::learned>) {
            rule.facts = smdebug::learn(open_golden("torch_mlp"));
            rule.min_support = 1;
        }
        detail::check_settings(rule);
        made.push_back({std::string{R::name()}, conformance::erased<local_trial>(rule), any_rule<local_trial>{rule}});
    });
    return made;
}

}  // namespace

TEST_CASE("invoke_rules: over the golden runs every built-in rule finds among the others what it finds alone") {
    std::size_t met = 0;
    std::size_t notes = 0;
    const invoke_options how{.timeout = std::chrono::milliseconds{0}};
    for (const char* name :
         {"torch_mlp", "torch_ddp", "xgboost_like", "reductions_only", "reductions_raw", "reductions_tf",
          "mode_workers", "mode_gaps", "shapes_only", "shapes_raw", "scalars", "dtypes", "collections",
          "sparse_running", "incomplete_workers", "incomplete_ended", "missing_event", "damaged/flipped_length"}) {
        for (const bool everything : {false, true}) {
            INFO("run " << name << ", everything: " << everything);
            const local_trial run = open_golden(name);
            std::vector<both_ways> rules = every_rule(everything);
            std::vector<any_rule<local_trial>> together;
            for (const both_ways& each : rules) {
                together.push_back(each.among_others);
            }
            std::vector<std::vector<finding>> noted(rules.size());
            const auto results =
                invoke_rules(run, together, {.common = how, .on_note = [&](std::size_t which, const finding& one) {
                                                 noted[which].push_back(one);
                                             }});
            REQUIRE(results.size() == rules.size());
            for (std::size_t i = 0; i < rules.size(); ++i) {
                INFO("rule " << rules[i].name);
                const told alone = conformance::walk(rules[i].alone, run, how);
                const rule_outcome& outcome = results[i].outcome;
                CHECK(results[i].failure.empty());
                CHECK(outcome.met_at == alone.met_at);
                CHECK(conformance::text_of_all(outcome.findings) == conformance::text_of_all(alone.met));
                CHECK(conformance::text_of_all(noted[i]) == conformance::text_of_all(alone.notes));
                CHECK(outcome.end == (run.loaded_all_steps() ? invoke_end::end_of_run : invoke_end::timed_out));
                met += alone.met.size();
                notes += alone.notes.size();
            }
        }
    }
    CHECK(met > 100);
    CHECK(notes > 10);
}
