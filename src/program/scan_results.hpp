// The database of a scan's results, in which a run is there whole or not at all.
#pragma once

#include <program/database/results_database.hpp>
#include <program/scan_arguments.hpp>
#include <program/scan_source.hpp>
#include <smdebug/batch/run_result.hpp>
#include <smdebug/core/function_ref.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1::cli::detail {

/// The question of a scan, as a text: it covers rules and settings, the version of the rules, and the versions of the
/// runs that are compared with.
[[nodiscard]] std::string question_of(const scan_arguments& args);

/// Runs that a scan with a database skipped, as they had not changed.
struct passed_runs {
    std::size_t incomplete = 0;
    std::size_t with_findings = 0;
};

/// The database of a scan.  Threads: calls may run at once.
class scan_database {
public:
    enum class use : std::uint8_t {
        shared,   ///< others may read it meanwhile
        alone,    ///< no one else reads it: many processes, whose machines cannot share it
        of_rank,  ///< the same, for one of these processes: results are stored unchanged, for take() of another one
    };

    /// Errors: those of results_database.
    scan_database(const std::string& path, const scan_arguments& args, use how = use::shared);

    [[nodiscard]] known_results known();

    /// Stores a result.  If a run in the database is gone, its results stay; if it is not in the database, `gone`
    /// becomes `failed`.  Errors: those of results_database.
    void take(run_result& result);
    /// Calls `work`, whose results go into the database some hundred at a time; also for results from another database.
    void store_together(function_ref<void()> work);
    /// The result of an earlier scan with that question.
    void take_earlier(run_result& result, std::string_view question);
    /// Records a run that needs no work.
    void pass(const std::string& path);
    [[nodiscard]] passed_runs passed();
    /// What is stored of a run.
    [[nodiscard]] std::optional<run_result> find(const std::string& path);
    /// Call at the end: marks runs that no longer exist, and returns their number.
    [[nodiscard]] std::size_t mark_gone();

    [[nodiscard]] const std::string& path() const noexcept { return base_.path(); }

private:
    void store(run_result& result, std::string_view question);
    void pass_one(const std::string& path);

    std::mutex guard_;
    use how_;
    results_database base_;
    asked_places asked_;
    passed_runs passed_;
    std::string question_;
    std::optional<std::size_t> grouped_;  // results since the group began
};

// A scan over many processes: each writes a database of its own beside the requested one, OUT.rank-0, OUT.rank-1 and so
// on.

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
