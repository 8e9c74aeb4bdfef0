#include <program/option_texts.hpp>

#include "program/captured.hpp"

#include <program/diff.hpp>
#include <program/evaluate_run.hpp>
#include <program/following.hpp>
#include <program/ls.hpp>
#include <program/pack.hpp>
#include <program/rule_set.hpp>
#include <program/scan_arguments.hpp>
#include <program/show.hpp>
#include <program/stats.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

using namespace smdebug;
using namespace smdebug_test;
using namespace std::chrono_literals;

namespace {

const cli::program_rules& known() {
    static const cli::program_rules rules = cli::program_rules::built_in();
    return rules;
}

template <class Arguments>
void settle_any(Arguments& given, const cli::detail::option_texts& texts) {
    if constexpr (requires { cli::detail::settle(given, texts, known()); }) {
        cli::detail::settle(given, texts, known());
    } else {
        cli::detail::settle(given, texts);
    }
}

template <class Arguments>
std::string refusal(Arguments given, const cli::detail::option_texts& texts) {
    try {
        settle_any(given, texts);
    } catch (const cli::detail::usage_error& wrong) {
        return wrong.what();
    }
    return "accepted";
}

}  // namespace

TEST_CASE("option_texts: what is not given leaves the defaults") {
    cli::detail::show_arguments show;
    cli::detail::settle(show, {});
    CHECK_FALSE(show.step.has_value());
    CHECK(show.values == 10);
    cli::detail::stats_arguments stats;
    cli::detail::settle(stats, {});
    CHECK(stats.threads == 1);
    cli::detail::diff_arguments diff;
    cli::detail::settle(diff, {});
    CHECK_FALSE(diff.rtol.has_value());
    cli::detail::ls_arguments ls;
    cli::detail::settle(ls, {});
    CHECK_FALSE(ls.follow.on);
}

TEST_CASE("option_texts: what is given is looked at") {
    cli::detail::show_arguments show;
    cli::detail::settle(show, {.step = "7", .mode = "predict", .values = "3"});
    CHECK(show.step == 7);
    CHECK(show.mode == mode::predict);
    cli::detail::diff_arguments diff;
    cli::detail::settle(diff, {.mode = "eval", .steps = "2:", .rtol = "0.5", .atol = "1e-8"});
    CHECK(diff.mode == mode::eval);
    CHECK(diff.how.range.begin == 2);
    CHECK(diff.rtol == 0.5);
    CHECK(diff.atol == 1e-8);
    CHECK(show.values == 3);
    CHECK(contains(refusal(show, {.mode = "test"}), "--mode must be"));
    cli::detail::check_arguments check;
    cli::detail::settle(check, {.start = "1", .end = "2", .rules = {"exploding_tensor"}}, known());
    CHECK(check.rules.size() == 1);
    CHECK(check.end == 2);
    CHECK(contains(refusal(cli::detail::check_arguments{}, {}), "check needs at least one rule"));
    CHECK(contains(refusal(cli::detail::check_arguments{}, {}), "\nTry `smdebug check --help`."));
    CHECK(contains(refusal(cli::detail::stats_arguments{}, {.threads = "2000"}), "--threads must be 1024 or less"));
    cli::detail::pack_arguments pack;
    cli::detail::settle(pack, {.threads = "3", .level = "19"});
    CHECK(pack.threads == 3);
    CHECK(pack.level == 19);
    CHECK(contains(refusal(pack, {.level = "0"}), "--level"));
    CHECK(contains(refusal(pack, {.level = "high"}), "--level"));
    cli::detail::ls_arguments ls;
    ls.verify = true;
    ls.follow.on = true;
    CHECK(contains(refusal(ls, {}), "--verify and --follow exclude each other"));
}

TEST_CASE("option_texts: following has a limit of runs, and giving up is for following") {
    cli::detail::ls_arguments ls{.runs = std::vector<std::string>(cli::detail::most_followed_runs, "a"),
                                 .follow = {.on = true}};
    cli::detail::settle(ls, {.give_up_after = "2h"});
    CHECK(ls.follow.give_up_after == 2h);
    ls.runs.emplace_back("b");
    CHECK(refusal(ls, {}) == "--follow can follow 256 runs at once, not 257");
    ls.follow.on = false;
    CHECK(refusal(ls, {}) == "accepted");
    CHECK(contains(refusal(ls, {.give_up_after = "2h"}), "--give-up-after is for --follow"));
}

TEST_CASE("option_texts: rules come from both places, with the runs to compare with where they are for that") {
    const temporary_folder folder;
    folder.write("rules.json", R"([{"RuleConfigurationName": "Mine", "RuleParameters":
        {"rule_to_invoke": "SimilarAcrossRuns", "other_trial_0": "a", "start_step": "4"}}])");
    cli::detail::check_arguments check;
    cli::detail::settle(
        check, {.rules_json = folder.path() + "/rules.json", .rules = {"dead_relu,end_step=9"}, .other_trials = {"b"}},
        known());
    REQUIRE(check.rules.size() == 2);
    CHECK(check.rules[0].label == "dead_relu");
    CHECK(check.rules[0].end_step == 9);
    CHECK(check.rules[0].other_trials.empty());
    CHECK(check.rules[1].label == "Mine");
    CHECK(check.rules[1].start_step == 4);
    CHECK(check.rules[1].other_trials == std::vector<std::string>{"a", "b"});
    CHECK(contains(refusal(cli::detail::check_arguments{}, {.rules = {"dead_relu"}, .other_trials = {"b"}}),
                   "--other-trials: none of the rules chosen compares runs"));
    CHECK(contains(refusal(cli::detail::check_arguments{}, {.rules = {"all_zero"}}), "all_zero"));
    CHECK(contains(refusal(cli::detail::check_arguments{}, {.rules_json = folder.path()}), "cannot be read"));
}

TEST_CASE("option_texts: a scan needs runs or a list of them, but no rules") {
    const temporary_folder folder;
    cli::detail::scan_arguments scan{.check = {.runs = {"zero"}}};
    cli::detail::settle(scan, {.list = folder.path() + "/runs", .start = "1", .end = "3", .other_trials = {"x"}},
                        known());
    CHECK(scan.check.runs == std::vector<std::string>{"zero"});
    CHECK(scan.list == folder.path() + "/runs");
    CHECK(scan.check.start == 1);
    CHECK(scan.check.end == 3);
    CHECK(scan.other_trials == std::vector<std::string>{"x"});
    CHECK(contains(refusal(cli::detail::scan_arguments{}, {}), "scan needs at least one run"));
    CHECK(contains(refusal(scan, {.start = "3", .end = "3"}), "--end must be above --start"));
}
