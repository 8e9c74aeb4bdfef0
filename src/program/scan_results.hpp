// Where the results of a scan go besides standard output: a database, in which a run is there whole or not at all.
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

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

/// What a scan asks of each run, as a text: results are those of the same question, of the same version of the rules, and of the
/// same versions of the runs that are compared with.
[[nodiscard]] std::string question_of(const scan_arguments& args);

/// What a scan with a database passed over, as it had not changed.
struct passed_runs {
    std::size_t incomplete = 0;
    std::size_t with_findings = 0;
};

/// The database of a scan.  Threads: calls may run at once.
class scan_database {
public:
    enum class use : std::uint8_t {
        shared,   ///< others may read it meanwhile
        alone,    ///< nobody: over many processes, whose machines cannot share it
        of_rank,  ///< the same, of one of these processes: results are stored as they are, for take() of another one
    };

    /// Errors: those of results_database.
    scan_database(const std::string& path, const scan_arguments& args, use how = use::shared);

    [[nodiscard]] known_results known();

    /// A result.  Of a run that the database knows, and that is gone, results stay; of one that was never there `gone` becomes
    /// `failed`.      Errors: those of results_database.
    void take(run_result& result);
    /// Calls `work`, whose results go into the database some hundred at a time: for those that lie in another one, too.
    void store_together(function_ref<void()> work);
    /// The result of an earlier scan, which asked that question.
    void take_earlier(run_result& result, std::string_view question);
    /// A run for which nothing is to be done.
    void pass(const std::string& path);
    [[nodiscard]] passed_runs passed();
    /// What is stored of a run.
    [[nodiscard]] std::optional<run_result> find(const std::string& path);
    /// When all was looked at: marks those that are no longer there; how many.
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

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
