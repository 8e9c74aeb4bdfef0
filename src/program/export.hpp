// `smdebug export`: a run, or a part of it, in a format of other tools.
#pragma once

#include <program/console.hpp>
#include <program/runs.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/core/stop_token.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1::cli::detail {

class command_line;

enum class export_format : std::uint8_t { npz, csv, tensorboard, safetensors, smdebug };

inline constexpr std::array<std::string_view, 5> export_formats{"npz", "csv", "tensorboard", "safetensors", "smdebug"};

struct export_arguments {
    std::string run = {};
    std::string output = {};
    export_format to = export_format::npz;
    unsigned threads = 1;
    std::optional<std::string> tensors = {};     ///< a regex
    std::optional<std::string> collection = {};  ///< with `tensors`: those that are in both
    smdebug::mode mode = smdebug::mode::global;  ///< only steps of this one; global: of all
    std::optional<std::string> worker = {};
    std::vector<std::string> reductions = {};  ///< of csv; all if empty
    bool values = false;                       ///< csv: a row an element
    bool whole_tensors = false;                ///< tensorboard
    bool replace = false;
    run_options how = {};
};

/// Runs the command; the exit status.
[[nodiscard]] int export_to(const export_arguments& args, console& to, const std::stop_token& stop);

void declare_export(command_line& line);

}  // namespace smdebug::inline v1::cli::detail
