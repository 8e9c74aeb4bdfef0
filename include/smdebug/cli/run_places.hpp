// What a path on the command line stands for: a run, or all runs of an archive.
#pragma once

#include <smdebug/archive.hpp>
#include <smdebug/archive/opened_runs.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/open_storage.hpp>
#include <smdebug/storage/uri.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

/// A run, and its storage where that is open already.
struct run_place {
    std::string path = {};
    std::optional<any_storage> store = {};
};

struct run_places {
    std::vector<run_place> runs = {};
    std::string damage = {};  ///< of an archive's directory, a sentence; empty: none
};

/// Opens an archive once for all its runs; whatever else there is is left to be opened by its path.
/// Errors: those of open_storage().
[[nodiscard]] inline run_places places_of(const std::string& path, const storage_options& options) {
    run_places places;
    if (const auto archived = smdebug::detail::archive_in(path)) {
        std::optional<archive::detail::opened_runs> all =
            archive::detail::open_runs(smdebug::detail::open_folder(archived->folder, options), archived->key,
                                       archived->inside, smdebug::detail::archives_with_cache(options));
        if (all) {
            const bool several = all->runs.size() > 1;
            for (archive::detail::opened_run& run : all->runs) {
                places.runs.push_back(
                    {several ? path + (path.ends_with('!') ? "/" : "!/") + run.inside : path, std::move(run.store)});
            }
            places.damage = all->damage.empty() ? std::string{} : archive::detail::damage_text(*all);
            return places;
        }
    }
    places.runs.push_back({path, std::nullopt});
    return places;
}

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
