// The arguments of `smdebug scan`.
#pragma once

#include <program/batch_progress.hpp>
#include <program/evaluate_run.hpp>
#include <program/shard.hpp>
#include <program/stats.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace smdebug::inline v1::cli::detail {

struct scan_arguments {
    check_arguments check = {};  ///< its rules: those to be configured otherwise, or added
    std::vector<std::string> other_trials = {};
    bool all = false;                        ///< tables: a row for each rule that has nothing to look at, too
    std::optional<std::string> list = {};    ///< a file with more runs, "-": standard input
    std::optional<run_shard> shard = {};     ///< only the runs in this part of the list
    std::optional<std::string> output = {};  ///< a database of results
    bool rows = true;                        ///< results go to standard output, too
    unsigned threads = 0;                    ///< 0 means as many as there are CPUs
    std::optional<std::chrono::milliseconds> run_timeout = {};  ///< for one run
    std::optional<std::uint64_t> memory = {};                   ///< for one run, in bytes
    /// Over many processes, runs whose files have more bytes go before others; with 0 none does.
    std::uint64_t split_above = std::uint64_t{256} << 20U;
    /// Numbers instead of rules.
    std::optional<std::vector<statistic>> statistics = {};
    std::optional<std::string> tensors = {};     ///< a regex: of these
    std::optional<std::string> collection = {};  ///< with `tensors`: those that are in both
    std::optional<std::string> report = {};      ///< a page of the results
    progress_format progress = progress_format::people;
};

}  // namespace smdebug::inline v1::cli::detail
