// `smdebug report`: one HTML page about runs, with the findings of rules.
#pragma once

#include <program/check.hpp>
#include <program/console.hpp>
#include <program/evaluate_run.hpp>
#include <program/message_sink.hpp>
#include <program/rule_notes.hpp>
#include <program/rule_set.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/trial/trial.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace smdebug::inline v1::cli::detail {

class command_line;

struct report_arguments {
    check_arguments check = {};  ///< runs, rules to be configured otherwise, steps, how runs are opened and followed
    std::vector<std::string> other_trials = {};
    bool no_rules = false;
    std::string output = {};
    std::optional<std::string> title = {};
    std::optional<std::string> tensors = {};     ///< a regex: only these are shown
    std::optional<std::string> collection = {};  ///< with `tensors`: those that are in both
    unsigned threads = 1;
    std::uint64_t most_bytes = std::uint64_t{14} << 20U;
    std::chrono::milliseconds interval{2000};  ///< how often a followed run is checked
};

/// Runs the command over the existing steps; returns the exit status.  Errors: usage_error, those of writing the page.
[[nodiscard]] int report_runs(const report_arguments& args, const program_rules& registry, console& to,
                              const std::stop_token& stop = {});

/// `report --follow`: the page is written again while its runs grow, until their jobs end; an open page reads it again.
/// Returns the exit status.  Errors: as report_runs().
[[nodiscard]] int follow_report(const report_arguments& args, const program_rules& registry, console& to,
                                const std::stop_token& stop);

void declare_report(command_line& line);

}  // namespace smdebug::inline v1::cli::detail
