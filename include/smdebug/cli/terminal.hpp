// Whether the program's streams are a terminal.
// Used by: examples/smdebug.cpp, cli/rule_main.hpp.
#pragma once

#include <smdebug/cli/console.hpp>

#include <unistd.h>

namespace smdebug {
inline namespace v1 {
namespace cli {

/// What standard output and standard error are connected to.
[[nodiscard]] inline console_kind terminal_kind() noexcept {
    return {.out_is_terminal = ::isatty(STDOUT_FILENO) == 1, .err_is_terminal = ::isatty(STDERR_FILENO) == 1};
}

}  // namespace cli
}  // namespace v1
}  // namespace smdebug
