// Results of a scan over many processes, each of which writes a database of its own beside the requested one:
// OUT.rank-0, OUT.rank-1 and so on.
#pragma once

#include <smdebug/batch/run_result.hpp>
#include <smdebug/core/function_ref.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1::cli::detail {

[[nodiscard]] std::string rank_file(const std::string& output, int rank);

/// The existing files, of this scan or an unfinished one.
[[nodiscard]] std::vector<std::string> rank_files(const std::string& output);

/// Calls back with each result in the files and its question, in the order of the list.  The runs of an archive that
/// was read as a whole are one result.  `unchanged`: runs without a result in any file, passed as unchanged.
/// Errors: those of results_database; in_use: its rank has not ended.  Memory: the paths of all, and a result.
void for_each_rank_result(const std::vector<std::string>& files, std::vector<batch_run> unchanged,
                          function_ref<void(run_result&&, std::string_view question)> take);

/// What is in the files is in the database, and on the disk.
void remove_rank_files(const std::vector<std::string>& files);

}  // namespace smdebug::inline v1::cli::detail
