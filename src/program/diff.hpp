// `smdebug diff`: the first step and tensor at which two runs differ, and how much they differ from there on.
#pragma once

#include <program/console.hpp>
#include <program/runs.hpp>
#include <smdebug/core/step.hpp>

#include <optional>
#include <string>

namespace smdebug::inline v1::cli::detail {

class command_line;

struct diff_arguments {
    std::string first = {};
    std::string second = {};
    bool all = false;  ///< tables: a row for each difference
    std::optional<double> rtol = {};
    std::optional<double> atol = {};
    std::optional<std::string> tensors = {};     ///< a regex
    std::optional<std::string> collection = {};  ///< with `tensors`: those that are in both
    smdebug::mode mode = smdebug::mode::global;  ///< only steps of this one; global: of all
    std::optional<std::string> worker = {};
    run_options how = {};
};

/// Runs the command; the exit status.
[[nodiscard]] int diff(const diff_arguments& given, console& to);

void declare_diff(command_line& line);

}  // namespace smdebug::inline v1::cli::detail
