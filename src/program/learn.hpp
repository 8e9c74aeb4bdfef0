// `smdebug learn`: what trainings that went well have in common, as a file by which the rule `learned` checks others.
#pragma once

#include <program/console.hpp>
#include <program/ranks.hpp>
#include <program/runs.hpp>
#include <program/shard.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/learn/learned_facts.hpp>

#include <optional>
#include <string>
#include <vector>

namespace smdebug::inline v1::cli::detail {

class command_line;

struct learn_arguments {
    std::vector<std::string> runs = {};    ///< with `show`: at most one tensor
    std::optional<std::string> list = {};  ///< a file with more runs, "-": standard input
    std::optional<run_shard> shard = {};   ///< only the runs in this part of the list
    std::vector<std::string> add = {};     ///< files that the runs are added to
    std::optional<std::string> output = {};
    std::optional<std::string> show = {};  ///< a file to print instead
    std::optional<std::string> reductions = {};
    unsigned threads = 0;  ///< 0: as many as there are CPUs
    run_options how = {};
};

/// Learning over many processes, each of which calls this.  Returns the exit status: on rank 0, which alone prints and
/// writes the file, that of one process over the same runs, on the others 0 if they finished their work.
/// Errors: usage_error; on another rank why it has failed.
[[nodiscard]] int learn_on_ranks(const learn_arguments& args, console& to, const std::stop_token& stop,
                                 rank_channel& channel);

/// Runs the command; the exit status.  Errors: usage_error.
[[nodiscard]] int learn_runs(const learn_arguments& args, console& to, const std::stop_token& stop = {},
                             const rank_starter& ranks = {});

void declare_learn(command_line& line);

/// A line for each tensor and mode.  With a tensor: its facts, and a line for each window of its numbers.
[[nodiscard]] std::string learned_table(const learned_facts& facts, const std::optional<std::string>& tensor);

}  // namespace smdebug::inline v1::cli::detail
