// What a path on the command line stands for: a run, all runs of an archive, with --runs-from-folders every folder of
// TensorBoard logs below it.
#pragma once

#include <smdebug/core/lru.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/open_storage.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <istream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1::cli::detail {

/// A run, and its storage if that is already open.
struct run_place {
    std::string path = {};
    std::optional<any_storage> store = {};
};

struct run_places {
    std::vector<run_place> runs = {};
    std::string damage = {};  ///< of an archive's directory, a sentence; may be empty
};

/// The lines of --list; null where there is none.  "-" is standard input, any other list is opened in `file`.
/// Errors: usage_error: it cannot be read.
[[nodiscard]] std::istream* opened_list(const std::optional<std::string>& list, std::ifstream& file);

/// "3 .pt, 1 .tar.bz2": files that a search found and left out, see run_finder::left_out(); empty if there are none.
[[nodiscard]] std::string left_out_text(const std::map<std::string, std::size_t, std::less<>>& files);

/// Opens an archive once for all its runs; anything else is left to be opened by its path.
/// Errors: those of open_storage().
[[nodiscard]] run_places places_of(const std::string& path, const storage_options& options);

/// Keeps the most recently used archives open, so that each is opened once for its consecutive runs.
/// Threads: place_of() may be called at once.
class opened_archives {
public:
    /// `most`: how many are kept; one that is in use stays open beside them.
    explicit opened_archives(std::size_t most) : items_(std::max<std::size_t>(most, 1)) {}

    /// The run at a path; already opened if it lies in an archive, "jobs.tar!/job-17".
    /// Errors: those of open_storage(); not_found: the archive has no such run.
    [[nodiscard]] run_place place_of(const std::string& path, const storage_options& options);

private:
    struct opened {
        std::mutex guard;
        std::optional<run_places> places;
    };

    [[nodiscard]] std::shared_ptr<opened> item_of(const std::string& path);

    std::mutex guard_;
    smdebug::detail::lru<std::string, std::shared_ptr<opened>, std::string_view> items_;  // by path
};

enum class folders_without_runs : std::uint8_t { stay, left_out };

/// Replaces each path by the folders below it that hold logs.  A path without any stays, and so does one that cannot be
/// listed, as opening it reports why.
[[nodiscard]] std::vector<std::string> runs_from_folders(std::vector<std::string> paths, const storage_options& storage,
                                                         folders_without_runs others = folders_without_runs::stay);

/// Replaces the paths among the arguments of a command, if it has the option for that.
template <class Arguments>
void spread_folders(Arguments& args) {
    if constexpr (requires { args.check.how; }) {
        spread_folders(args.check);
    } else if constexpr (requires { args.runs, args.how.storage; }) {
        if (!args.how.storage.formats.folders_are_workers) {
            args.how.folders = args.runs;
            args.runs = runs_from_folders(std::move(args.runs), args.how.storage);
        }
    }
}

}  // namespace smdebug::inline v1::cli::detail
