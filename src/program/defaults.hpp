// Defaults of options, from a file for a user or a machine.
//     # for every command that has the option
//     endpoint-url = "http://localhost:9000"
//     [scan]                        # for one
//     threads = 4
//     skip-damaged = true
// The command line overrides the environment, which overrides the file; a command's section overrides those for all.
#pragma once

#include <program/defaults_file.hpp>

#include <CLI/CLI.hpp>

#include <cstddef>
#include <istream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1::cli::detail {

/// Reads a file of defaults for the given command: the command's own section overrides the options for all commands,
/// and the sections of others are ignored.
/// Borrows the app, which must have parsed the command line before this is used.
class defaults_reader : public CLI::ConfigTOML {
public:
    explicit defaults_reader(CLI::App& app) : app_(app) {}

    /// Errors: usage_error for an unknown option or command, and for an invalid line.
    [[nodiscard]] std::vector<CLI::ConfigItem> from_config(std::istream& in) const override;

    /// For a message about an option whose value comes from the file: a line that says where it stands; else nothing.
    [[nodiscard]] std::string place_of(std::string_view message) const;

private:
    [[nodiscard]] static bool may_have_default(const CLI::Option& option);
    [[nodiscard]] static const CLI::Option* option_of(const CLI::App& command, const std::string& name);

    [[nodiscard]] std::string file() const;

    void check(const default_line& line) const;

    CLI::App& app_;
    mutable std::vector<std::pair<const CLI::Option*, std::size_t>> used_;  // and the lines in which they stand
};

}  // namespace smdebug::inline v1::cli::detail
