// `smdebug repair`: a new index for a run whose own is missing or damaged.
#pragma once

#include <program/console.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/storage/open_storage.hpp>

#include <string>
#include <vector>

namespace smdebug::inline v1::cli::detail {

class command_line;

struct repair_arguments {
    std::vector<std::string> runs = {};
    bool dry_run = false;
    storage_options storage = {};
};

/// Reports what is wrong with a run's index, and repairs it unless only a report is wanted.
/// Errors: stopped_error, between two files; those of the storage.
void repair(const std::string& path, const repair_arguments& args, console& to, const std::stop_token& stop);

/// Runs the command; the exit status.  A run that fails does not lose the others.
[[nodiscard]] int repair(const repair_arguments& args, console& to, const std::stop_token& stop = {});

void declare_repair(command_line& line);

}  // namespace smdebug::inline v1::cli::detail
