// `smdebug index`: an index beside each archive, so that nobody has to read it through any more.
#pragma once

#include <program/console.hpp>
#include <smdebug/storage/open_storage.hpp>

#include <string>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

class command_line;

struct index_arguments {
    std::vector<std::string> archives = {};
    storage_options storage = {};
};

/// Runs the command; the exit status.  An archive that fails does not lose the others.
[[nodiscard]] int write_indexes(const index_arguments& args, console& to);

void declare_index(command_line& line);

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
