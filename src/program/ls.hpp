// `smdebug ls`: the contents of a run.
#pragma once

#include <program/console.hpp>
#include <program/program_trial.hpp>
#include <program/runs.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/reduce/name.hpp>

#include <optional>
#include <string>
#include <vector>

namespace smdebug::inline v1::cli::detail {

class command_line;

struct ls_arguments {
    std::vector<std::string> runs = {};
    bool verify = false;                         ///< instead of the contents: contradictions between its files
    std::optional<std::string> tensors = {};     ///< a regex
    std::optional<std::string> collection = {};  ///< with `tensors`: those that are in both
    run_options how = {};
    follow_options follow = {};
};

/// The names of a set of reductions, in the order in which they are listed everywhere.
[[nodiscard]] std::vector<std::string> names_of(reduction_set set);

[[nodiscard]] std::vector<std::string> mode_names(const program_trial& run);

/// One run for people, above its table of tensors.
[[nodiscard]] std::string ls_head(const program_trial& run);

/// `ls --verify`: a row for each difference of each run; an error status where there is any.
[[nodiscard]] int verify(const ls_arguments& args, console& to);

/// Runs the command; the exit status.
[[nodiscard]] int ls(const ls_arguments& args, console& to);

void declare_ls(command_line& line);

/// `ls --follow`: a line for each step of runs that grow, as soon as it is complete.
/// Runs the command until every job has ended, was given up, or `stop`; the exit status.
[[nodiscard]] int follow_ls(const ls_arguments& args, console& to, const std::stop_token& stop);

}  // namespace smdebug::inline v1::cli::detail
