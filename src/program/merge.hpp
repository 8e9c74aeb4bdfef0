// `smdebug merge`: databases of results in one.
#pragma once

#include <program/console.hpp>
#include <smdebug/core/stop_token.hpp>

#include <string>
#include <vector>

namespace smdebug::inline v1::cli::detail {

class command_line;

struct merge_arguments {
    std::vector<std::string> sources = {};
    std::string output = {};
    bool replace = false;
};

/// Runs the command; the exit status.  Errors: those of merge_databases().
[[nodiscard]] int merge(const merge_arguments& args, console& to, const std::stop_token& stop);

void declare_merge(command_line& line);

}  // namespace smdebug::inline v1::cli::detail
