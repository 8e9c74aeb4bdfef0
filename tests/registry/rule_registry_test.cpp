#include <smdebug/registry/rule_registry.hpp>

#include "support/given_text.hpp"
#include "support/run_builder.hpp"
#include "support/test.hpp"
#include "support/thrown_code.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug_test;
using registry_type = rule_registry<memory_trial>;
using steps_list = std::vector<step_number>;

namespace {

const registry_type& built_in() {
    static const registry_type known = registry_type::built_in();
    return known;
}

template <class Call>
std::string refusal(Call&& call) {
    return what_of<error>([&] { call(); }, "accepted");
}

std::string refused(std::string_view name, const rule_parameters& given = {}) {
    return refusal([&] { static_cast<void>(built_in().make(name, given)); });
}

/// Fires if a tensor's maximum is above a limit.
struct too_large {
    double limit = 10;

    [[nodiscard]] static constexpr std::string_view name() { return "too_large"; }
    [[nodiscard]] static constexpr std::string_view summary() { return "a value is too large"; }
    [[nodiscard]] static constexpr auto settings() {
        return std::tuple{setting{"limit", &too_large::limit, "the largest that is fine"}};
    }
    void check() const {
        if (limit < 0) {
            throw value_error("limit must not be negative");
        }
    }
    [[nodiscard]] finding operator()(const readable_trial auto& run, step_number step) const {
        const double largest = run.tensor("w").reduction_value(step, reduction::max);
        return {.met = largest > limit, .tensor = "w", .value = largest, .threshold = limit, .message = "too large"};
    }
};

/// A different rule with a built-in one's name.
struct other_all_zero : too_large {
    [[nodiscard]] static constexpr std::string_view name() { return "all_zero"; }
    [[nodiscard]] static constexpr auto settings() { return std::tuple<>{}; }
};

memory_trial sample() {
    memory_storage store;
    run_builder build{store};
    build.collections();
    for (step_number step = 0; step < 4; ++step) {
        build.step({.step = step, .tensors = {tensor_of<float>("w", {static_cast<float>(10 * step), 1})}});
    }
    build.end();
    return memory_trial{store};
}

}  // namespace

TEST_CASE("rule_registry: every built-in rule and parameter that is listed can be set to its default text") {
    CHECK(built_in().infos().size() == 30);
    for (const rule_info& info : built_in().infos()) {
        INFO(info.name);
        CHECK_FALSE(info.meaning.empty());
        rule_parameters all;
        for (const parameter_info& held : info.parameters) {
            INFO(held.name);
            CHECK_FALSE(held.type.empty());
            CHECK_FALSE(held.meaning.empty());
            // Some rules require a setting that has no default, whatever else is set: their errors say so.
            const std::string one = refused(info.name, {{held.name, held.standard}});
            CHECK(one == refused(info.name));
            all.emplace(held.name, held.standard);
        }
        CHECK(refused(info.name, all) == refused(info.name));
    }
}

TEST_CASE("rule_registry: which rules cannot do without a setting or without runs to compare with") {
    std::vector<std::string> wanting;
    for (const rule_info& info : built_in().infos()) {
        if (refused(info.name) != "accepted") {
            CHECK(thrown_code([&] { static_cast<void>(built_in().make(info.name)); }) ==
                  error_code::insufficient_information);
            wanting.push_back(info.name);
        }
    }
    CHECK(wanting == std::vector<std::string>{"all_zero", "tensor_variance", "unchanged_tensor", "similar_across_runs",
                                              "activation_outliers", "attention_collapse", "expert_imbalance",
                                              "learned"});
    CHECK(refused("all_zero", {{"collection_names", "weights"}}) == "accepted");
    CHECK(refused("tensor_variance", {{"max_threshold", "3"}, {"collection_names", "weights"}}) == "accepted");
    CHECK(refused("unchanged_tensor", {{"tensor_regex", "w"}}) == "accepted");
}

TEST_CASE("rule_registry: names in the library's, the Python package's and the service's spelling") {
    for (const char* name : {"exploding_tensor", "ExplodingTensor", "explodingtensor"}) {
        CHECK(built_in().make(name).name() == "exploding_tensor");
    }
    for (const char* name : {"StalledTrainingRule", "stalled_training", "StalledTraining", "stalledtrainingrule"}) {
        CHECK(built_in().make(name).name() == "stalled_training");
    }
    for (const rule_info& info : built_in().infos()) {
        CHECK((info.service_name.empty() || built_in().info(info.service_name).name == info.name));
        CHECK(built_in().info(plain_rule_name(info.name)).name == info.name);
    }
    CHECK(built_in().compares_runs("SimilarAcrossRuns"));
    CHECK_FALSE(built_in().compares_runs("all_zero"));
}

TEST_CASE("rule_registry: an unknown name is refused with the nearest, and all that there are") {
    const std::string near = refused("VanishingGradients");
    CHECK(contains(near, "there is no rule \"VanishingGradients\". Did you mean vanishing_gradient? There are: "));
    CHECK(contains(near, "exploding_tensor"));
    CHECK(contains(near, "feature_importance_overweight"));
    CHECK(contains(refused("dead_rellu"), "Did you mean dead_relu?"));
    CHECK_FALSE(contains(refused("xyzzy"), "Did you mean"));
    CHECK(contains(refused(""), "there is no rule \"\""));
    CHECK_THROWS_AS(static_cast<void>(built_in().info("nope")), value_error);
    CHECK_THROWS_AS(static_cast<void>(built_in().compares_runs("nope")), value_error);
}

TEST_CASE("rule_registry: a wrong parameter is refused with its name, type, default, or with the nearest name") {
    CHECK(contains(
        refused("VanishingGradient", {{"threshold", "small"}}),
        "rule vanishing_gradient: parameter threshold (float, default 1e-07) must be a number, not \"small\""));
    CHECK(contains(refused("vanishing_gradient", {{"treshold", "1"}}), "Did you mean threshold?"));
    CHECK(contains(refused("exploding_tensor", {{"tensor_regex", "("}}), "holds a bad regular expression"));
    CHECK(contains(refused("stalled_training", {{"threshold", "-1"}}), "threshold"));  // its own check()
}

TEST_CASE("rule_registry: check says what make would say, before there is a run") {
    for (const rule_info& info : built_in().infos()) {
        if (built_in().compares_runs(info.name)) {
            continue;
        }
        CHECK(refusal([&] { built_in().check(info.name, {}); }) == refused(info.name));
        CHECK(contains(refusal([&] {
                           built_in().check(info.name, {{"collection_names", "a"}, {"tensor_regex", "b"}}, true);
                       }),
                       info.name));
    }
    CHECK(contains(refusal([] { built_in().check("exploding_tensor", {}, true); }), "does not compare runs"));
    CHECK(refusal([] { built_in().check("similar_across_runs", {}, true); }) == "accepted");
    CHECK(contains(refusal([] { built_in().check("similar_across_runs", {{"rtol", "-1"}}, true); }), "rtol"));
    CHECK(refusal([] { built_in().check("similar_across_runs", {}, false); }) != "accepted");
}

TEST_CASE("rule_registry: a program's own rule is made as the built-in ones are, and stands for one of its name") {
    registry_type known = registry_type::built_in();
    known.add<too_large>();
    known.add<other_all_zero>();
    CHECK(known.infos().size() == 31);
    CHECK(known.info("AllZero").meaning == "a value is too large");
    CHECK(known.infos().back().name == "all_zero");
    const memory_trial run = sample();
    const auto results =
        invoke_rules(run, {known.make("TooLarge", {{"limit", "15"}}), known.make("too_large"), known.make("all_zero")});
    CHECK(results[0].outcome.met_at == steps_list{2, 3});
    CHECK(results[1].outcome.met_at == steps_list{2, 3});
    CHECK(results[0].parameters.at("limit") == "15.0");
    CHECK(results[2].name == "all_zero");
    CHECK(contains(refusal([&] { static_cast<void>(known.make("too_large", {{"limit", "-1"}})); }), "negative"));
    registry_type empty;
    CHECK(empty.infos().empty());
    CHECK_THROWS_AS(static_cast<void>(empty.make("all_zero")), value_error);
}

TEST_CASE("rule_registry: each rule that is made has a memory of its own") {
    const memory_trial run = sample();
    const auto first = built_in().make("UnchangedTensor", {{"tensor_regex", "w"}});
    const auto second = built_in().make("UnchangedTensor", {{"tensor_regex", "w"}});
    const auto results = invoke_rules(run, {first, second});
    CHECK(results[0].outcome.met_at == results[1].outcome.met_at);
    CHECK(results[0].outcome.evaluated == 4);
}

TEST_CASE("rule_registry: a rule that compares runs is given the others") {
    const memory_trial run = sample();
    const auto other = std::make_shared<const memory_trial>(sample());
    const auto results = invoke_rules(run, {built_in().make("similar_across_runs", {{"tensor_regex", "w"}}, {other})});
    CHECK(results[0].failure.empty());
    CHECK(results[0].outcome.evaluated == 4);
    CHECK(thrown_code([&] { static_cast<void>(built_in().make("similar_across_runs")); }) ==
          error_code::insufficient_information);
}
