// The runs of a scan, found in arguments and lists, without those of other shards and finished archives.
#pragma once

#include <program/database/results_database.hpp>
#include <program/run_places.hpp>
#include <program/scan_arguments.hpp>
#include <smdebug/batch/find_runs.hpp>
#include <smdebug/batch/run_result.hpp>
#include <smdebug/batch/search/found_place.hpp>
#include <smdebug/batch/search/name_pattern.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <istream>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1::cli::detail {

/// The places that a scan searches, and the runs it found there: other runs that a database has there are gone.
/// Threads: calls may run at once.
class asked_places {
public:
    /// Each line that stands for runs.
    void ask(const std::string& line);
    /// A run that exists.
    void see(const std::string& path);
    /// A place that could not be searched to its end, or need not be: what was there stays.
    void keep(const std::string& path);
    /// Any result: if a run of an archive fails, those after it may not have been found.
    void take(const run_result& result);
    /// Call at the end.  Returns how many runs are gone since the last scan.  An archive that the database has as a place
    /// of its own, since it could not be opened before, has `ended` if runs in it were seen now.
    std::size_t mark_gone(results_database& base, std::string_view question = {});

private:
    struct place {
        std::string root = {};
        std::optional<smdebug::detail::path_pattern> pattern = {};  ///< of what lies below
    };

    [[nodiscard]] static bool is_match(const smdebug::detail::path_pattern& pattern, std::string_view behind);
    [[nodiscard]] bool is_kept(std::string key) const;

    std::mutex guard_;
    std::vector<place> asked_;
    smdebug::detail::seen_paths seen_;
    std::set<std::string> kept_;
    std::set<std::string> archives_;  // with a run that was seen
};

/// What was done before, from a database of results; all may be empty.  Called on the thread that requests runs.
struct known_results {
    /// The version at which a run is done.
    std::function<std::optional<std::string>(const std::string& path)> version_of = {};
    /// Path and version of the runs of an archive that are done.
    std::function<std::vector<std::pair<std::string, std::string>>(const std::string& archive)> in_archive = {};
    /// Called with the runs of an archive that need no work.
    std::function<void(const std::vector<std::string>&)> unchanged = {};
    asked_places* asked = nullptr;
};

/// The version of a run in an archive that is read as a whole: it includes the number of runs in it, to know whether
/// all of them are done.
[[nodiscard]] std::string version_in_archive(const std::string& path, std::size_t runs, const storage_options& storage);

/// Returns the runs to scan.  One thread at a time.
class scan_source {
public:
    /// `list`: a stream of further lines, or null.  Borrows arguments and stream.
    scan_source(const scan_arguments& args, std::istream* list, known_results known = {});

    /// The next run; nothing after the last.
    [[nodiscard]] std::optional<batch_run> next();

    /// After the last: whether there was a list without any path.
    [[nodiscard]] bool list_is_empty() const noexcept { return list_ && listed_ == 0; }
    /// "3 .pt, 1 .tar.bz2": files that the search found and that are not read; empty if there are none.
    [[nodiscard]] std::string left_out() const { return left_out_text(finder_->left_out()); }

private:
    [[nodiscard]] std::optional<std::string> next_line();

    [[nodiscard]] static bool is_whole_archive(const std::string& path);

    // Fills in the version at which a run is done; the thread that scans it checks whether it has changed.  An archive
    // that is read as a whole is checked here.
    [[nodiscard]] bool is_done(batch_run& run);

    const scan_arguments& args_;
    known_results known_;
    asked_places asked_;  // where no database has any
    std::optional<run_list> list_;
    std::optional<run_finder> finder_;
    std::optional<run_finder> inner_;  // the runs of an archive
    bool is_beside_ = false;           // that archive
    std::size_t next_argument_ = 0;
    std::size_t listed_ = 0;  // lines of the list
    std::uint64_t place_ = 0;
};

}  // namespace smdebug::inline v1::cli::detail
