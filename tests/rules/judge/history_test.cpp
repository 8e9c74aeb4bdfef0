#include <smdebug/rules/judge/history.hpp>

#include <smdebug/core/error.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/rules/built_in/activation_outliers.hpp>
#include <smdebug/rules/built_in/attention_collapse.hpp>
#include <smdebug/rules/built_in/expert_imbalance.hpp>
#include <smdebug/rules/built_in/gradient_spike.hpp>
#include <smdebug/rules/built_in/loss_spike.hpp>
#include <smdebug/rules/built_in/nan_origin.hpp>
#include <smdebug/rules/built_in/precision_underflow.hpp>
#include <smdebug/rules/built_in/replica_mismatch.hpp>
#include <smdebug/rules/built_in/weight_norm_drift.hpp>
#include <smdebug/rules/setting.hpp>

#include "support/test.hpp"

using namespace smdebug;
using rules::detail::robust_statistics_of;
using rules::detail::save_history;

namespace {

/// Whether a rule with one setting given as a text is refused, by the text or by the rule; a setting that it does not
/// have is skipped.
template <class Rule, class Visit>
void with_setting(std::string_view name, std::string_view text, Visit&& told) {
    for_each_setting<Rule>([&](const auto& each) {
        if (each.name != name) {
            return;
        }
        Rule rule;
        rule.tensor_regex = "x";
        bool is_refused = false;
        try {
            parse_setting(text, rule.*each.member);
            rule.check();
        } catch (const value_error&) {
            is_refused = true;
        }
        told(is_refused);
    });
}

using rules_of_training = std::tuple<rules::loss_spike, rules::gradient_spike, rules::nan_origin,
                                     rules::replica_mismatch, rules::activation_outliers, rules::attention_collapse,
                                     rules::expert_imbalance, rules::precision_underflow, rules::weight_norm_drift>;

template <class Visit>
void for_each_rule(Visit&& visit) {
    std::apply([&](const auto&... each) { (visit(each), ...); }, rules_of_training{});
}

}  // namespace

TEST_CASE("rules about training runs: every number refuses what is none, NaN, infinite or negative") {
    int numbers = 0;
    for_each_rule([&]<class Rule>(const Rule&) {
        for_each_setting<Rule>([&]<class T>(const setting<Rule, T>& each) {
            if constexpr (std::same_as<T, double> || std::same_as<T, std::optional<double>> ||
                          std::same_as<T, std::int64_t> || std::same_as<T, std::optional<std::int64_t>>) {
                ++numbers;
                for (const std::string_view bad : {"five", "nan", "inf", "-inf", "-1", "1e400"}) {
                    CAPTURE(Rule::name());
                    CAPTURE(each.name);
                    CAPTURE(bad);
                    with_setting<Rule>(each.name, bad, [](bool is_refused) { CHECK(is_refused); });
                }
            }
        });
    });
    CHECK(numbers == 33);
}

TEST_CASE("rules about training runs: the borders of every number") {
    struct row {
        std::string_view rule;
        std::string_view setting;
        const char* at;
        const char* beyond;
    };
    const std::vector<row> rows{
        {"loss_spike", "window", "10", "0"},
        {"loss_spike", "min_history", "1", "0"},
        {"loss_spike", "min_history", "20", "21"},
        {"loss_spike", "z_threshold", "0", "-1e-9"},
        {"loss_spike", "relative", "0", "-1e-9"},
        {"loss_spike", "min_increase", "0", "-1e-9"},
        {"gradient_spike", "window", "1", "0"},
        {"gradient_spike", "min_history", "20", "21"},
        {"gradient_spike", "z_threshold", "0", "-1e-9"},
        {"gradient_spike", "ratio", "1", "0.999999"},
        {"gradient_spike", "top", "1", "0"},
        {"nan_origin", "rearm_after", "0", "-1"},
        {"replica_mismatch", "rtol", "0", "-1e-9"},
        {"replica_mismatch", "atol", "0", "-1e-9"},
        {"activation_outliers", "threshold", "1e-9", "0"},
        {"activation_outliers", "min_abs", "0", "-1e-9"},
        {"attention_collapse", "min_entropy", "0", "-1e-9"},
        {"attention_collapse", "min_entropy", "1", "1.000001"},
        {"attention_collapse", "max_entropy", "0", "-1e-9"},
        {"attention_collapse", "max_entropy", "1", "1.000001"},
        {"attention_collapse", "head_axis", "0", "-1"},
        {"attention_collapse", "tolerance", "1e-9", "0"},
        {"expert_imbalance", "threshold", "1", "0.999999"},
        {"expert_imbalance", "dead_share", "0", "-1e-9"},
        {"expert_imbalance", "dead_share", "1", "1.000001"},
        {"expert_imbalance", "patience", "1", "0"},
        {"expert_imbalance", "experts", "2", "1"},
        {"precision_underflow", "threshold", "0", "-1e-9"},
        {"precision_underflow", "threshold", "1", "1.000001"},
        {"precision_underflow", "subnormal_share", "0", "-1e-9"},
        {"precision_underflow", "subnormal_share", "1", "1.000001"},
        {"precision_underflow", "patience", "1", "0"},
        {"weight_norm_drift", "window", "1", "0"},
        {"weight_norm_drift", "warm_up", "0", "-1"},
        {"weight_norm_drift", "growth", "1.000001", "1"},
        {"weight_norm_drift", "shrink", "1.000001", "1"},
        {"weight_norm_drift", "min_norm", "0", "-1e-9"},
    };
    for (const row& each : rows) {
        CAPTURE(each.rule);
        CAPTURE(each.setting);
        std::vector<bool> refused;
        for_each_rule([&]<class Rule>(const Rule&) {
            if (Rule::name() == each.rule) {
                for (const char* text : {each.at, each.beyond}) {
                    with_setting<Rule>(each.setting, text, [&](bool is) { refused.push_back(is); });
                }
            }
        });
        CHECK(refused == std::vector<bool>{false, true});
    }
}

TEST_CASE("robust_statistics_of: medians of odd and even counts, insensitive to outliers") {
    CHECK(robust_statistics_of({2.0, 2.1, 1.9, 2.2, 2.0}).median == 2);
    CHECK(robust_statistics_of({2.0, 2.1, 1.9, 2.2, 2.0}).deviation == doctest::Approx(0.14826));
    CHECK(robust_statistics_of({4, 1, 3, 2}).median == 2.5);
    CHECK(robust_statistics_of({1, 1, 1, 1e9}).deviation == 0);
    CHECK(robust_statistics_of({1.7e308, 1.7e308}).median == 1.7e308);
    CHECK(robust_statistics_of({5}).median == 5);
    CHECK(robust_statistics_of({}).median != robust_statistics_of({}).median);
}

TEST_CASE("save_history: looks nothing up twice in a walk, and begins again when a walk goes back") {
    save_history<int> history;
    std::vector<step_number> looked;
    const auto reach = [&](step_number step, std::size_t most) {
        looked.clear();
        history.reach(
            step, most,
            [](step_number from, const auto& visit) {
                while (from >= 0 && visit(from)) {
                    --from;
                }
            },
            [&](step_number at) {
                looked.push_back(at);
                return at % 2 == 0 ? std::optional{static_cast<int>(at)} : std::nullopt;
            });
        std::vector<step_number> steps;
        for (const auto& each : history.entries()) {
            steps.push_back(each.step);
        }
        return steps;
    };
    using steps = std::vector<step_number>;
    CHECK(reach(5, 2) == steps{2, 4});
    CHECK(looked == steps{4, 3, 2});
    history.put(5, std::nullopt);
    CHECK(reach(6, 2) == steps{2, 4});
    CHECK(looked.empty());
    history.put(6, 6);
    CHECK(reach(7, 2) == steps{4, 6});
    CHECK(looked.empty());
    CHECK(reach(10, 2) == steps{6, 8});
    CHECK(looked == steps{9, 8, 7});
    CHECK(reach(3, 2) == steps{0, 2});
    CHECK(looked == steps{2, 1, 0});
    CHECK(reach(1, 9) == steps{0});
    history.put(1, std::nullopt);
    CHECK(reach(2, 9) == steps{0});
    CHECK(looked.empty());  // there is nothing before the first
    CHECK(reach(2, 0).empty());
}
