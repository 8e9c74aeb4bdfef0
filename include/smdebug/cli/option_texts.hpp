// Options that are taken as text and looked at when all of them are there, so that we say what is wrong and not CLI11.
// Used by: cli/arguments.hpp.
#pragma once

#include <smdebug/cli/check.hpp>
#include <smdebug/cli/console.hpp>
#include <smdebug/cli/following.hpp>
#include <smdebug/cli/ls.hpp>
#include <smdebug/cli/numbers.hpp>
#include <smdebug/cli/rule_set.hpp>
#include <smdebug/cli/rules_json.hpp>
#include <smdebug/cli/runs.hpp>
#include <smdebug/cli/show.hpp>
#include <smdebug/cli/stats.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/index/regex.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {

/// What stood behind the options; unset: not given.
struct option_texts {
    std::optional<std::string> step = {};
    std::optional<std::string> mode = {};
    std::optional<std::string> values = {};
    std::optional<std::string> threads = {};
    std::optional<std::string> steps = {};
    std::optional<std::string> reductions = {};
    std::optional<std::string> rules_json = {};
    std::optional<std::string> start = {};
    std::optional<std::string> end = {};
    std::optional<std::string> give_up_after = {};
    std::vector<std::string> rules = {};
    std::vector<std::string> other_trials = {};
};

/// Each settle() fills in the arguments of a command from the texts.  Errors: usage_error.
inline void settle(follow_options& follow, std::size_t runs, const option_texts& texts) {
    if (texts.give_up_after) {
        follow.give_up_after = parse_duration("--give-up-after", *texts.give_up_after);
        if (!follow.on) {
            throw usage_error("--give-up-after is for --follow: without it nothing is waited for");
        }
    }
    if (follow.on && runs > most_followed_runs) {
        throw usage_error("--follow can follow " + std::to_string(most_followed_runs) + " runs at once, not " +
                          std::to_string(runs));
    }
}

inline void settle(ls_arguments& given, const option_texts& texts) { settle(given.follow, given.runs.size(), texts); }

inline void settle(show_arguments& given, const option_texts& texts) {
    if (texts.mode) {
        std::string upper = *texts.mode;
        std::transform(upper.begin(), upper.end(), upper.begin(),
                       [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - ('a' - 'A')) : c; });
        const auto known = mode_named(upper);
        if (!known) {
            throw usage_error("--mode must be GLOBAL, TRAIN, EVAL or PREDICT, not \"" + *texts.mode + "\"");
        }
        given.mode = *known;
    }
    if (texts.step) {
        given.step = whole_number<step_number>("--step", *texts.step, 0);
    }
    if (texts.values) {
        given.values = whole_number<std::size_t>("--values", *texts.values, 0);
    }
}

inline void settle(stats_arguments& given, const option_texts& texts) {
    if (texts.threads) {
        given.threads = whole_number<unsigned>("--threads", *texts.threads, 1);
        if (given.threads > 1024) {
            throw usage_error("--threads must be 1024 or less");
        }
    }
    if (given.tensors) {
        try {
            static_cast<void>(regex{*given.tensors});
        } catch (const value_error& bad) {
            throw usage_error("--tensors: " + std::string{bad.message()});
        }
    }
    if (texts.steps) {
        given.how.range = parse_range(*texts.steps);
    }
    if (texts.reductions) {
        given.statistics = parse_statistics(*texts.reductions);
    }
}

inline void settle(check_arguments& given, const option_texts& texts) {
    for (const std::string& text : texts.rules) {
        given.rules.push_back(parse_rule(text));
    }
    if (texts.rules_json) {
        const auto more = read_rules_json(*texts.rules_json);
        given.rules.insert(given.rules.end(), more.begin(), more.end());
    }
    if (given.rules.empty()) {
        throw usage_error("check needs at least one rule, by --rule or --rules-json; there are: " + rule_names() +
                          "\nTry `smdebug check --help`.");
    }
    if (!texts.other_trials.empty()) {
        throw usage_error("--other-trials: none of the rules chosen compares runs");
    }
    given.start = texts.start ? whole_number<step_number>("--start", *texts.start, 0) : 0;
    if (texts.end) {
        given.end = whole_number<step_number>("--end", *texts.end, 0);
        if (*given.end <= given.start) {
            throw usage_error("--end must be above --start, as it is not included");
        }
    }
    settle(given.follow, given.runs.size(), texts);
}

}  // namespace cli
}  // namespace v1
}  // namespace smdebug
