#include <program/run_places.hpp>

#include <smdebug/archive.hpp>
#include <smdebug/archive/archive_storage.hpp>
#include <smdebug/storage/uri.hpp>

#include <utility>

namespace smdebug::inline v1::cli::detail {

run_places places_of(const std::string& path, const storage_options& options) {
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

}  // namespace smdebug::inline v1::cli::detail
