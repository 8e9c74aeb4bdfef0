// Options that are kept as text and parsed once all of them are there, so that messages are ours and not CLI11's.
#pragma once

#include <program/diff.hpp>
#include <program/evaluate_run.hpp>
#include <program/export.hpp>
#include <program/ls.hpp>
#include <program/pack.hpp>
#include <program/report.hpp>
#include <program/rule_list.hpp>
#include <program/rule_set.hpp>
#include <program/runs.hpp>
#include <program/scan_arguments.hpp>
#include <program/show.hpp>
#include <program/stats.hpp>
#include <smdebug/core/step.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

/// The values of the options; unset: not given.
struct option_texts {
    std::optional<std::string> step = {};
    std::optional<std::string> mode = {};
    std::optional<std::string> values = {};
    std::optional<std::string> threads = {};
    std::optional<std::string> level = {};
    std::optional<std::string> steps = {};
    std::optional<std::string> reductions = {};
    std::optional<std::string> rtol = {};
    std::optional<std::string> atol = {};
    std::optional<std::string> rules_json = {};
    std::optional<std::string> list = {};
    std::optional<std::string> on_finding = {};
    std::optional<std::string> start = {};
    std::optional<std::string> end = {};
    std::optional<std::string> width = {};
    std::optional<std::string> give_up_after = {};
    std::optional<std::string> run_timeout = {};
    std::optional<std::string> memory = {};
    std::optional<std::string> max_size = {};
    std::optional<std::string> interval = {};
    std::optional<std::string> split_above = {};
    std::optional<std::string> shard = {};
    bool format_is_set = false;
    std::vector<std::string> rules = {};
    std::vector<std::string> other_trials = {};
};

/// Each settle() fills in the arguments of a command from the texts.  Errors: usage_error.
void settle(run_options& how, const option_texts& texts);

void settle(follow_options& follow, std::size_t runs, const option_texts& texts);

void settle(ls_arguments& args, const option_texts& texts);

void settle(show_arguments& args, const option_texts& texts);

void settle(pack_arguments& args, const option_texts& texts);

void settle(stats_arguments& args, const option_texts& texts);

void settle(export_arguments& args, const option_texts& texts);

void settle(diff_arguments& args, const option_texts& texts);

/// Steps, and what is done about findings.
void settle_steps(check_arguments& args, const option_texts& texts);

void settle(check_arguments& args, const option_texts& texts, const program_rules& registry);

/// How many runs are worked on.
void settle_batch(scan_arguments& args, const option_texts& texts);

void settle(scan_arguments& args, const option_texts& texts, const program_rules& registry);

void settle(report_arguments& args, const option_texts& texts, const program_rules& registry);

void settle(rules_arguments& args, const option_texts& texts, const program_rules& registry);

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
