// What shells need to complete the program's command line, printed from the table of its commands.
#pragma once

#include <program/command_table.hpp>

#include <array>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

inline constexpr std::array<std::string_view, 3> completed_shells{"bash", "zsh", "fish"};

/// The script for one of completed_shells.
[[nodiscard]] std::string completion_script(const command_table& table, std::string_view shell);

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
