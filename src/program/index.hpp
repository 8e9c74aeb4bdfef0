// `smdebug index`: writes an index beside each archive, so that opening it no longer reads all of it.
#pragma once

#include <program/console.hpp>
#include <smdebug/storage/open_storage.hpp>

#include <string>
#include <vector>

namespace smdebug::inline v1::cli::detail {

class command_line;

struct index_arguments {
    std::vector<std::string> archives = {};
    storage_options storage = {};
};

/// Runs the command; the exit status.  An archive that fails does not lose the others.
[[nodiscard]] int write_indexes(const index_arguments& args, console& to);

void declare_index(command_line& line);

}  // namespace smdebug::inline v1::cli::detail
