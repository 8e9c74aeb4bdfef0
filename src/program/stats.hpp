// `smdebug stats`: every reduction of every tensor, a row for each tensor of each worker at each step.
// Walks the run in file order: every event file is read once; the threads that read also make the rows.
#pragma once

#include <program/console.hpp>
#include <program/message_sink.hpp>
#include <program/rows.hpp>
#include <program/runs.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/statistic.hpp>
#include <smdebug/trial/scanned_tensor.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1::cli::detail {

class command_line;

using smdebug::detail::all_statistics;
using smdebug::detail::statistic;
using smdebug::detail::wanted_by;

/// The default columns of tables.
[[nodiscard]] std::vector<statistic> usual_statistics();

/// A comma separated list of them, each once.  Errors: usage_error, naming those that there are.
[[nodiscard]] std::vector<statistic> parse_statistics(std::string_view list);

struct stats_arguments {
    std::vector<std::string> runs = {};
    unsigned threads = 1;
    std::optional<std::string> tensors = {};     ///< a regex
    std::optional<std::string> collection = {};  ///< with `tensors`: those that are in both
    smdebug::mode mode = smdebug::mode::global;  ///< only steps of this one; global: of all
    std::optional<std::string> worker = {};
    std::vector<statistic> statistics = all_statistics();
    bool statistics_give_way = false;  ///< with default columns tables leave out what has no room
    run_options how = {};
};

/// Errors: invalid_worker: it has saved nothing.
void check_worker(const std::string& wanted, const std::vector<std::string>& workers);

/// The cells of the numbers of a tensor.
void add_statistics(row_buffer& row, const std::vector<statistic>& statistics, const reduction_values& values);

/// The columns of stats of so many runs; `statistics_give_way`: tables may leave out l2, std and min, in this order.
[[nodiscard]] std::vector<column> stats_columns(const std::vector<statistic>& statistics, std::size_t runs,
                                                bool statistics_give_way = false);

/// Runs the command; the exit status.
[[nodiscard]] int stats(const stats_arguments& args, console& to);

void declare_stats(command_line& line);

}  // namespace smdebug::inline v1::cli::detail
