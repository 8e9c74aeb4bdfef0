// Defaults of options, from a file: what a person or a machine wants of each command, said once.
//     # for every command that has the option
//     endpoint-url = "http://localhost:9000"
//     [scan]                        # for one
//     threads = 4
//     skip-damaged = true
// The command line comes before it, then the environment; the section of a command comes before what is for all.
#pragma once

#include <program/defaults_lines.hpp>

#include <CLI/CLI.hpp>

#include <cstddef>
#include <istream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {

namespace detail {

/// Reads a file of defaults for the command that was given: what stands in the command's own section comes before what is
/// for all, and what is for others is left out.
/// Borrows the app, in which the command line has been parsed when this is asked.
class defaults_reader : public CLI::ConfigTOML {
public:
    explicit defaults_reader(CLI::App& app) : app_(app) {}

    /// Errors: usage_error for an option, or a command, that there is not, and for what is no line of defaults.
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

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
