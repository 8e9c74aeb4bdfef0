// Results of a scan over many processes, each of which writes a database of its own beside the one that was asked for:
// OUT.rank-0, OUT.rank-1 and so on.
#pragma once

#include <smdebug/batch/run_result.hpp>
#include <smdebug/core/function_ref.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

[[nodiscard]] std::string rank_file(const std::string& output, int rank);

/// Those that are there, of this scan or one that did not come to its end.
[[nodiscard]] std::vector<std::string> rank_files(const std::string& output);

/// Calls with each result that is in the files, and what was asked, in the order of the list.  Those of an archive that was
/// looked at as a whole are one result.  `unchanged`: runs of which no file has a result, which come as such.
/// Errors: those of results_database; in_use: its rank has not ended.    Memory: the paths of all, and a result.
void for_each_rank_result(const std::vector<std::string>& files, std::vector<batch_run> unchanged,
                          function_ref<void(run_result&&, std::string_view question)> take);

/// What is in the files is in the database, and on the disk.
void remove_rank_files(const std::vector<std::string>& files);

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
