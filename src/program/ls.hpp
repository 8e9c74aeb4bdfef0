// `smdebug ls`: the contents of a run.
#pragma once

#include <program/console.hpp>
#include <program/runs.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/trial/trial.hpp>

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

[[nodiscard]] std::vector<std::string> mode_names(const trial& run);

/// Runs the command; the exit status.
[[nodiscard]] int ls(const ls_arguments& args, console& to);

void declare_ls(command_line& line);

}  // namespace smdebug::inline v1::cli::detail
