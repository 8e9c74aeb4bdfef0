#include <program/run_places.hpp>

#include <program/console.hpp>
#include <program/runs.hpp>
#include <smdebug/archive.hpp>
#include <smdebug/archive/archive_storage.hpp>
#include <smdebug/formats/tensorboard/log_files.hpp>
#include <smdebug/storage/uri.hpp>

#include <iostream>
#include <utility>

namespace smdebug::inline v1::cli::detail {

std::istream* opened_list(const std::optional<std::string>& list, std::ifstream& file) {
    if (!list) {
        return nullptr;
    }
    if (*list == "-") {
        return &std::cin;
    }
    file.open(*list);
    if (file.is_open()) {
        file.peek();  // a folder, for one, opens but does not read
    }
    if (!file.is_open() || file.bad()) {
        throw usage_error("--list: the file " + *list + " cannot be read");
    }
    file.clear();  // of the end, where the list is empty
    return &file;
}

std::string left_out_text(const std::map<std::string, std::size_t, std::less<>>& files) {
    std::string text;
    for (const auto& [ending, count] : files) {
        text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + ending;
    }
    return text;
}

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

run_place opened_archives::place_of(const std::string& path, const storage_options& options) {
    const auto archived = smdebug::detail::archive_in(path);
    if (!archived || archived->inside.empty()) {
        return {path, std::nullopt};
    }
    std::string archive = path.substr(0, path.size() - archived->inside.size());
    while (archive.ends_with('/')) {
        archive.pop_back();  // "jobs.tar!"
    }
    const std::shared_ptr<opened> item = item_of(archive);
    const std::lock_guard lock{item->guard};
    if (!item->places) {
        item->places = places_of(archive, options);
    }
    for (const run_place& each : item->places->runs) {
        if (each.path == path) {
            return each;
        }
    }
    return {path, std::nullopt};  // opening it reports what is wrong
}

std::shared_ptr<opened_archives::opened> opened_archives::item_of(const std::string& path) {
    const std::lock_guard lock{guard_};
    if (const std::shared_ptr<opened>* const known = items_.find(path)) {
        return *known;
    }
    const auto fresh = std::make_shared<opened>();
    items_.put(path, fresh);
    return fresh;
}

std::vector<std::string> runs_from_folders(std::vector<std::string> paths, const storage_options& storage,
                                           folders_without_runs others) {
    std::vector<std::string> runs;
    for (std::string& path : paths) {
        std::vector<std::string> folders;
        std::vector<problem> unseen;
        try {
            const any_storage store = smdebug::detail::open_folder(path, storage);
            folders = log_folders(store);
            unseen = store.problems();
        } catch (const error&) {
            // reported when it is opened
        }
        if (folders.empty() && others == folders_without_runs::stay) {
            runs.push_back(std::move(path));
        }
        for (const problem& one : folders.empty() ? std::vector<problem>{} : unseen) {
            folders.push_back(one.where);  // it cannot be opened, which names it
        }
        for (const std::string& folder : folders) {
            const std::string above = plain_path(path);
            runs.push_back(folder.empty() ? above : above + (above.ends_with('/') ? "" : "/") + folder);
        }
    }
    return runs;
}

}  // namespace smdebug::inline v1::cli::detail
