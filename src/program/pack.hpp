// `smdebug pack`: runs into one archive that is quick to scan.
#pragma once

#include <program/console.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/storage/open_storage.hpp>

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace smdebug::inline v1::cli::detail {

class command_line;

struct pack_arguments {
    std::vector<std::string> runs = {};
    std::string output = {};
    std::optional<int> level = {};
    unsigned threads = 1;
    bool replace = false;
    storage_options storage = {};
};

/// A run's name in the archive: the last part of its path, without an archive's extension, with a number if that name
/// is taken.
[[nodiscard]] std::string folder_for(const std::string& path, std::set<std::string>& taken);

/// Runs the command; the exit status.  Errors: those of pack_runs(), and of opening the runs.
[[nodiscard]] int pack(const pack_arguments& args, console& to, const std::stop_token& stop);

void declare_pack(command_line& line);

}  // namespace smdebug::inline v1::cli::detail
