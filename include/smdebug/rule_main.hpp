// A rule as a program: its settings are flags, its verdict is the exit status.  Link smdebug::program, which implements
// the program; this header only passes the rule to it.
#pragma once

#include <smdebug/registry/rule_registry.hpp>
#include <smdebug/rules/concepts.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/trial/trial.hpp>

namespace smdebug::inline v1 {

/// The type of trial that such a program passes to its rule.  A rule that accepts --other-trials has a member
/// `std::vector<std::shared_ptr<const smdebug::program_trial>> others`.
using program_trial = trial;

namespace cli {

/// The main() of the program for the only rule in the registry.
[[nodiscard]] int rule_program_main(const rule_registry<program_trial>& only, int count, char** arguments);

}  // namespace cli

/// The main() of a program that evaluates one rule:
///
///     int main(int count, char** arguments) { return smdebug::rule_main<my_rule>(count, arguments); }
///
///     my_rule RUN --threshold 0.5 --follow --json
///
/// Its messages begin with the rule's name.
/// Its flags are the rule's settings() and those of `smdebug check`: --trial-dir, --other-trials, --start-step,
/// --end-step, --follow, --json, --status-file, --version, ...; --help prints them with types and defaults.  With
/// --list, -o, --shard and the other batch options it works like `smdebug scan` for this rule.
/// Returns 0 not met, 3 met, 1 error or part of a run could not be read, 4 both 3 and 1, 2 wrong usage, 130 interrupted
/// by Ctrl-C.
template <described_rule Rule>
    requires rule<Rule, program_trial>
[[nodiscard]] int rule_main(int count, char** arguments) {
    rule_registry<program_trial> only;
    only.add<Rule>();
    return cli::rule_program_main(only, count, arguments);
}

}  // namespace smdebug::inline v1
