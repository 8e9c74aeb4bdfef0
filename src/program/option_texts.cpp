#include <program/option_texts.hpp>

#include <program/check.hpp>
#include <program/console.hpp>
#include <program/evaluate_run.hpp>
#include <program/finding_actions.hpp>
#include <program/following.hpp>
#include <program/numbers.hpp>
#include <program/rows.hpp>
#include <program/scan_arguments.hpp>
#include <program/shard.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/index/regex.hpp>
#include <smdebug/registry/applicable_rules.hpp>
#include <smdebug/registry/rule_request.hpp>

#include <algorithm>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

void settle(run_options& how, const option_texts& texts) {
    if (texts.width) {
        how.width = whole_number<std::size_t>("--width", *texts.width, 0);
    }
}

void settle(follow_options& follow, std::size_t runs, const option_texts& texts) {
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

namespace {

// Errors: usage_error: it is no mode.
mode settled_mode(const std::string& text) {
    std::string upper = text;
    std::transform(upper.begin(), upper.end(), upper.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - ('a' - 'A')) : c; });
    const auto parsed = mode_named(upper);
    if (!parsed) {
        throw usage_error("--mode must be GLOBAL, TRAIN, EVAL or PREDICT, not \"" + text + "\"");
    }
    return *parsed;
}

void check_tensors_regex(const std::optional<std::string>& pattern) {
    if (!pattern) {
        return;
    }
    try {
        static_cast<void>(regex{*pattern});
    } catch (const value_error& bad) {
        throw usage_error("--tensors: " + std::string{bad.message()});
    }
}

}  // namespace

void settle(ls_arguments& args, const option_texts& texts) {
    if (args.verify && args.follow.on) {
        throw usage_error("--verify and --follow exclude each other");
    }
    if ((args.verify || args.follow.on) && (args.tensors || args.collection || texts.steps)) {
        throw usage_error(std::string{"--tensors, --collection and --steps choose what is listed; "} +
                          (args.verify ? "--verify looks at all of a run" : "--follow lists every step"));
    }
    detail::check_tensors_regex(args.tensors);
    if (texts.steps) {
        args.how.range = parse_range(*texts.steps);
    }
    settle(args.follow, args.runs.size(), texts);
    settle(args.how, texts);
}

void settle(show_arguments& args, const option_texts& texts) {
    settle(args.how, texts);
    if (texts.mode) {
        args.mode = detail::settled_mode(*texts.mode);
    }
    if (texts.step) {
        args.step = whole_number<step_number>("--step", *texts.step, 0);
    }
    if (texts.values) {
        args.values = whole_number<std::size_t>("--values", *texts.values, 0);
    }
}

namespace {

unsigned settled_threads(const std::optional<std::string>& text) {
    const unsigned threads = text ? whole_number<unsigned>("--threads", *text, 1) : 1;
    if (threads > 1024) {
        throw usage_error("--threads must be 1024 or less");
    }
    return threads;
}

}  // namespace

void settle(pack_arguments& args, const option_texts& texts) {
    args.threads = settled_threads(texts.threads);
    if (texts.level) {
        args.level = whole_number<int>("--level", *texts.level, 1);
    }
}

namespace {

// Which tensors of which steps: what stats, export and diff have in common.
template <class Arguments>
void settle_selection(Arguments& args, const option_texts& texts) {
    detail::check_tensors_regex(args.tensors);
    if (texts.mode) {
        args.mode = detail::settled_mode(*texts.mode);
    }
    if (texts.steps) {
        args.how.range = parse_range(*texts.steps);
    }
    settle(args.how, texts);
}

}  // namespace

void settle(stats_arguments& args, const option_texts& texts) {
    args.threads = settled_threads(texts.threads);
    settle_selection(args, texts);
    if (texts.reductions) {
        args.statistics = *texts.reductions == "all" ? all_statistics() : parse_statistics(*texts.reductions);
    } else if (args.how.format == output_format::table) {
        args.statistics = usual_statistics();
        args.statistics_give_way = true;
    }
}

void settle(export_arguments& args, const option_texts& texts) {
    args.threads = settled_threads(texts.threads);
    settle_selection(args, texts);
    const bool csv = args.to == export_format::csv;
    if (args.values && !csv) {
        throw usage_error("--values is for --to csv: the other formats have all values");
    }
    if (texts.reductions && (!csv || args.values)) {
        throw usage_error("--reductions is for --to csv without --values");
    }
    if (args.whole_tensors && args.to != export_format::tensorboard) {
        throw usage_error("--as-tensors is for --to tensorboard");
    }
    if (texts.reductions && *texts.reductions != "all") {
        for (const statistic& each : parse_statistics(*texts.reductions)) {
            args.reductions.push_back(each.name);
        }
    }
}

void settle(diff_arguments& args, const option_texts& texts) {
    settle_selection(args, texts);
    if (texts.rtol) {
        args.rtol = real_number("--rtol", *texts.rtol);
    }
    if (texts.atol) {
        args.atol = real_number("--atol", *texts.atol);
    }
}

namespace {

// The rules that the texts ask for, checked as far as possible without a run; `by_scan`: as a scan evaluates them.
std::vector<rule_request> settled_rules(const option_texts& texts, const program_rules& registry, bool by_scan) {
    std::vector<rule_request> rules;
    for (const std::string& text : texts.rules) {
        rules.push_back(parse_rule(text));
    }
    if (texts.rules_json) {
        for (rule_request& more : read_rules_json(*texts.rules_json)) {
            rules.push_back(std::move(more));
        }
    }
    for (rule_request& each : rules) {
        if (takes_other_trials(registry, each)) {
            each.other_trials.insert(each.other_trials.end(), texts.other_trials.begin(), texts.other_trials.end());
        }
        rule_request evaluated = each;
        if (by_scan) {
            smdebug::detail::supply_collections(evaluated);
        }
        check_request(registry, evaluated);
        each.label = name_in_reports(registry, each);
    }
    return rules;
}

}  // namespace

void settle_steps(check_arguments& args, const option_texts& texts) {
    if (texts.on_finding) {
        args.actions.command = words_of_command(*texts.on_finding);
    }
    if (texts.steps) {
        if (texts.start || texts.end) {
            throw usage_error("--steps A:B is --start A --end B: give one or the other");
        }
        const step_range range = parse_range(*texts.steps);
        args.start = range.begin.value_or(0);
        args.end = range.end;
        return;
    }
    args.start = texts.start ? whole_number<step_number>("--start", *texts.start, 0) : 0;
    if (texts.end) {
        args.end = whole_number<step_number>("--end", *texts.end, 0);
        if (*args.end <= args.start) {
            throw usage_error("--end must be above --start, as it is not included");
        }
    }
}

void settle(check_arguments& args, const option_texts& texts, const program_rules& registry) {
    args.rules = detail::settled_rules(texts, registry, false);
    if (args.rules.empty()) {
        throw usage_error(
            "check needs at least one rule, by --rule or --rules-json; there are: " + rule_names(registry),
            "Try `smdebug check --help`.");
    }
    const bool compares = std::any_of(args.rules.begin(), args.rules.end(),
                                      [&](const rule_request& each) { return takes_other_trials(registry, each); });
    if (!texts.other_trials.empty() && !compares) {
        throw usage_error("--other-trials: none of the rules chosen compares runs");
    }
    detail::settle_steps(args, texts);
    settle(args.how, texts);
    settle(args.follow, args.runs.size(), texts);
}

void settle_batch(scan_arguments& args, const option_texts& texts) {
    args.threads = texts.threads ? settled_threads(texts.threads) : 0;
    if (texts.run_timeout) {
        args.run_timeout = parse_duration("--run-timeout", *texts.run_timeout);
    }
    if (texts.memory) {
        args.memory = parse_size("--memory", *texts.memory);
    }
    args.list = texts.list;
    if (texts.shard) {
        try {
            args.shard = parse_shard(*texts.shard);
        } catch (const value_error& wrong) {
            throw usage_error("--shard: " + std::string{wrong.message()});
        }
    }
    args.rows = !args.output || texts.format_is_set;
}

void settle(scan_arguments& args, const option_texts& texts, const program_rules& registry) {
    args.check.rules = detail::settled_rules(texts, registry, true);
    args.other_trials = texts.other_trials;
    detail::settle_steps(args.check, texts);
    settle(args.check.how, texts);
    settle_batch(args, texts);
    if (texts.split_above) {
        args.split_above = *texts.split_above == "0" ? 0 : parse_size("--split-above", *texts.split_above);
    }
    if (texts.reductions) {
        if (args.report) {
            throw usage_error(
                "--report shows what rules say, and --reductions gives numbers instead: give one or the other");
        }
        if (!args.check.rules.empty() || !args.other_trials.empty()) {
            throw usage_error("--reductions gives numbers instead of what rules say: give one or the other");
        }
        args.statistics = *texts.reductions == "all" ? all_statistics() : parse_statistics(*texts.reductions);
        detail::check_tensors_regex(args.tensors);
    } else if (args.tensors || args.collection) {
        throw usage_error("--tensors and --collection are for --reductions; rules choose their tensors themselves");
    }
    if (args.check.runs.empty() && !args.list) {
        throw usage_error("scan needs at least one run, or --list with a file that names some",
                          "Try `smdebug scan --help`.");
    }
}

void settle(report_arguments& args, const option_texts& texts, const program_rules& registry) {
    args.threads = settled_threads(texts.threads);
    detail::check_tensors_regex(args.tensors);
    args.check.rules = detail::settled_rules(texts, registry, true);
    args.other_trials = texts.other_trials;
    if (args.no_rules && (!args.check.rules.empty() || !args.other_trials.empty())) {
        throw usage_error("--no-rules and rules exclude each other");
    }
    detail::settle_steps(args.check, texts);
    settle(args.check.follow, args.check.runs.size(), texts);
    if (texts.max_size) {
        args.most_bytes = parse_size("--max-size", *texts.max_size);
    }
    if (texts.interval) {
        args.interval = parse_duration("--interval", *texts.interval);
        if (!args.check.follow.on) {
            throw usage_error("--interval is for --follow: without it the page is written once");
        }
    }
}

void settle(rules_arguments& args, const option_texts& texts, const program_rules& registry) {
    if (texts.width) {
        args.width = whole_number<std::size_t>("--width", *texts.width, 0);
    }
    for (std::string& name : args.rules) {
        try {
            name = registry.info(name).name;
        } catch (const value_error& wrong) {
            throw usage_error(wrong.message());
        }
    }
}

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
