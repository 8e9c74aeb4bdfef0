// How often the built-in rules read a run: together they read each event file once, and each of the nine rules
// about training runs alone reads no tensor twice.
#include <smdebug/registry/rule_registry.hpp>

#include "support/counting_storage.hpp"
#include "support/run_builder.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/learn/learn.hpp>
#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/tensor/half.hpp>
#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug_test;

namespace {

constexpr step_number steps = 12;

// Two workers with something to judge for each rule, and none that fires.
counting_storage<> healthy_run() {
    counting_storage<> store;
    run_builder build{store};
    build.collections({"worker_0", "worker_1"}, {{"weights", {"weight"}},
                                                 {"gradients", {"gradient/half"}},
                                                 {"losses", {"loss"}},
                                                 {"outputs", {"relu_output_0"}},
                                                 {"attention", {"attention"}},
                                                 {"experts", {"experts"}}});
    for (step_number step = 0; step < steps; ++step) {
        for (const char* worker : {"worker_0", "worker_1"}) {
            const float value = 1 + 0.01F * static_cast<float>(step);
            build.step({.step = step,
                        .tensors = {tensor_of<float>("weight", {value, 2, 3, 4}),
                                    tensor_of<float16>("gradient/half", {float16{value}, float16{2.0F}}),
                                    tensor_of<float>("relu_output_0", {value, 2, 3, 4}, {2, 2}),
                                    tensor_of<float>("attention", {.5F, .5F, .25F, .75F}, {2, 2}),
                                    tensor_of<float>("experts", {value, 1, 1}),
                                    tensor_of<float>("hybridsequential0_input_0", {.1F, -.1F, .1F, -.1F}, {1, 2, 2}),
                                    tensor_of<std::int64_t>("embedding0_input_0", {1, 2, 3}),
                                    tensor_of<float>("loss", {1 / value})},
                        .worker = worker});
        }
    }
    build.end();
    return store;
}

std::vector<any_rule<trial>> rules_of(const std::vector<std::string>& names, const trial& other) {
    const auto known = rule_registry<trial>::built_in();
    static const temporary_folder folder;
    const std::string learned_file = folder.path() + "/normal.json";
    if (std::find(names.begin(), names.end(), "learned") != names.end()) {
        learn(trial{healthy_run()}).save(learned_file);
    }
    const std::map<std::string, rule_parameters> parameters{
        {"all_zero", {{"collection_names", "weights"}}},
        {"unchanged_tensor", {{"collection_names", "weights"}}},
        {"tensor_variance", {{"tensor_regex", ".*"}, {"max_threshold", "1e9"}}},
        {"similar_across_runs", {{"tensor_regex", "^weight$"}}},
        {"activation_outliers", {{"collection_names", "outputs"}}},
        {"attention_collapse", {{"collection_names", "attention"}}},
        {"expert_imbalance", {{"collection_names", "experts"}}},
        {"learned", {{"file", learned_file}}}};
    std::vector<any_rule<trial>> rules;
    for (const std::string& name : names) {
        const auto given = parameters.find(name);
        const auto others = known.compares_runs(name)
                                ? std::vector<std::shared_ptr<const trial>>{std::make_shared<const trial>(other)}
                                : std::vector<std::shared_ptr<const trial>>{};
        rules.push_back(known.make(name, given != parameters.end() ? given->second : rule_parameters{}, others));
    }
    return rules;
}

// Reads of event files while these rules are evaluated, by file.
std::map<std::string, std::size_t> reads_of(const std::vector<std::string>& names) {
    const counting_storage<> store = healthy_run();
    const basic_trial<counting_storage<>> run{store};
    const basic_trial<counting_storage<>> other{healthy_run()};
    static_cast<void>(store.calls());
    for (const rule_result& each : invoke_rules(static_cast<const trial&>(run), rules_of(names, other))) {
        INFO(each.name << ": " << each.failure);
        CHECK(each.cause == nullptr);
        CHECK(each.outcome.unread == 0);
    }
    std::map<std::string, std::size_t> reads;
    for (const std::string& call : store.calls()) {
        for (step_number step = 0; step < steps; ++step) {
            for (const char* worker : {"worker_0", "worker_1"}) {
                const std::string key = smdebug::detail::locations::event_key(step, worker);
                reads[key] += call.find(key) != std::string::npos && !call.starts_with("size") ? 1U : 0U;
            }
        }
    }
    return reads;
}

}  // namespace

TEST_CASE("built-in rules: together they read each event file once") {
    std::vector<std::string> all;
    for (const rule_info& info : rule_registry<trial>::built_in().infos()) {
        if (info.name != "check_input_images") {  // which looks up a shape, some bytes, as none was saved
            all.push_back(info.name);
        }
    }
    CHECK(all.size() == 29);
    for (const auto& [key, count] : reads_of(all)) {
        CAPTURE(key);
        const bool is_first_step = key == smdebug::detail::locations::event_key(0, "worker_0") ||
                                   key == smdebug::detail::locations::event_key(0, "worker_1");
        if (!is_first_step) {  // what rules will read is known from then on
            CHECK(count == 1);
        }
    }
}

TEST_CASE("rules about training runs: alone, none reads a tensor twice") {
    // Each reads at most one tensor of a worker and step here, but for nan_origin, which reads all of them.
    for (const char* name : {"loss_spike", "gradient_spike", "replica_mismatch", "activation_outliers",
                             "attention_collapse", "expert_imbalance", "precision_underflow", "weight_norm_drift"}) {
        for (const auto& [key, count] : reads_of({name})) {
            CAPTURE(name);
            CAPTURE(key);
            CHECK(count <= 1);
        }
    }
    for (const auto& [key, count] : reads_of({"nan_origin"})) {
        CAPTURE(key);
        CHECK(count <= 8);
    }
}
