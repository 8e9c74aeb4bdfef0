#include <program/folder_runs.hpp>

#include <program/runs.hpp>
#include <smdebug/formats/tensorboard/log_files.hpp>

namespace smdebug::inline v1::cli::detail {

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
