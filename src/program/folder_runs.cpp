#include <program/folder_runs.hpp>

#include <program/runs.hpp>
#include <smdebug/formats/tensorboard/log_files.hpp>

namespace smdebug::inline v1::cli::detail {

std::vector<std::string> runs_from_folders(std::vector<std::string> paths, const storage_options& storage) {
    std::vector<std::string> runs;
    for (std::string& path : paths) {
        std::vector<std::string> folders;
        try {
            folders = log_folders(smdebug::detail::open_folder(path, storage));
        } catch (const error&) {
            // reported when it is opened
        }
        if (folders.empty()) {
            runs.push_back(std::move(path));
        }
        for (const std::string& folder : folders) {
            const std::string above = plain_path(path);
            runs.push_back(folder.empty() ? above : above + (above.ends_with('/') ? "" : "/") + folder);
        }
    }
    return runs;
}

}  // namespace smdebug::inline v1::cli::detail
