// Writes and reads the results of a run as rows of the tables; the statements are prepared once.
#pragma once

#include <program/database/sqlite.hpp>
#include <smdebug/batch/row_spool.hpp>
#include <smdebug/batch/run_result.hpp>
#include <smdebug/core/function_ref.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1::detail::sqlite {

/// A stored run.
struct located_run {
    std::int64_t id = 0;
    std::string path = {};
};

/// Writes and reads runs.  Transactions are the caller's.  Borrows the connection.
/// Paths are those of whole_path_of().
class run_rows {
public:
    explicit run_rows(connection& in);

    /// Removes all rows of a run, if there is one.
    void remove(std::string_view path);
    /// Stores a run without its verdicts and messages; returns its id.
    [[nodiscard]] std::int64_t insert(std::string_view path, const run_result& result, std::string_view question);
    /// Stores its verdicts, with their findings, and its messages.
    void insert_verdicts(std::int64_t id, const run_result& result);
    void insert_reductions(std::int64_t id, std::int64_t number, const reduction_row& row);

    /// All of a run but its reductions.
    [[nodiscard]] std::optional<run_result> read(std::string_view path);
    void read_reductions(std::string_view path, function_ref<void(const reduction_row&)> take);
    /// Calls with place, path, path as it was written, and question of each run, by place.
    void for_each_run(function_ref<void(std::uint64_t, std::string_view, std::string_view, std::string_view)> take);
    /// Calls with path and version of the run at `path` and of those in it, should it be an archive, which are done -
    /// need not be scanned again while they are unchanged - and were asked this question.
    void for_each_done_in(std::string_view path, std::string_view question,
                          function_ref<void(std::string_view, std::string_view)> take);
    /// The run at `path`, those in it, should it be an archive, and those below it, should it be a folder, which are
    /// not gone.
    [[nodiscard]] std::vector<located_run> runs_at(std::string_view path);
    void mark_gone(std::int64_t id, std::string_view why);
    /// What the next scan reports about a run that it skips.
    [[nodiscard]] passed_run passed(std::string_view path);

private:
    [[nodiscard]] std::int64_t id_of_question(std::string_view question);
    void read_verdicts(std::int64_t id, run_result& result);

    connection& in_;
    statement remove_;
    statement find_question_;
    statement insert_question_;
    statement insert_run_;
    statement insert_result_;
    statement insert_finding_;
    statement insert_message_;
    statement insert_reductions_;
    statement find_done_;
    statement find_passed_;
    statement read_run_;
    statement read_results_;
    statement read_findings_;
    statement read_messages_;
    statement read_reductions_;
};

}  // namespace smdebug::inline v1::detail::sqlite
