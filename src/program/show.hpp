// `smdebug show`: one tensor at one step: shape, dtype, reductions, first values.
#pragma once

#include <program/console.hpp>
#include <program/runs.hpp>
#include <smdebug/core/step.hpp>

#include <cstddef>
#include <optional>
#include <string>

namespace smdebug::inline v1::cli::detail {

class command_line;

struct show_arguments {
    std::string run = {};
    std::string tensor = {};
    std::optional<step_number> step = {};  ///< in `mode`; the last that has the tensor if unset
    std::optional<std::string> worker = {};
    smdebug::mode mode = smdebug::mode::global;
    std::size_t values = 10;
    run_options how = {};
};

/// Runs the command; the exit status.
[[nodiscard]] int show(const show_arguments& args, console& to);

void declare_show(command_line& line);

}  // namespace smdebug::inline v1::cli::detail
