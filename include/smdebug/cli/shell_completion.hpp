// What shells need to complete the program's command line, printed from the table of its commands.
#pragma once

#include <smdebug/cli/bash_completion.hpp>
#include <smdebug/cli/command_table.hpp>
#include <smdebug/cli/fish_completion.hpp>
#include <smdebug/cli/zsh_completion.hpp>

#include <array>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

inline constexpr std::array<std::string_view, 3> completed_shells{"bash", "zsh", "fish"};

/// The script for one of completed_shells.
[[nodiscard]] inline std::string completion_script(const command_table& table, std::string_view shell) {
    return shell == "bash" ? bash_completion(table) : shell == "zsh" ? zsh_completion(table) : fish_completion(table);
}

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
