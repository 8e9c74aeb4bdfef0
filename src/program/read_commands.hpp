// The table of commands, read from the CLI11 app that parses them: help, completion and manual cannot disagree.
#pragma once

#include <program/command_table.hpp>

#include <string_view>

namespace CLI {

class App;

}  // namespace CLI

namespace smdebug::inline v1::cli::detail {

/// All that the app describes.
[[nodiscard]] command_table read_commands(CLI::App& app, std::string_view ending);

}  // namespace smdebug::inline v1::cli::detail
