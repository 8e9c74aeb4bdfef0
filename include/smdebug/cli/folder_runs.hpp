// --runs-from-folders: a path stands for every folder of TensorBoard logs below it.
#pragma once

#include <smdebug/cli/runs.hpp>
#include <smdebug/formats/tensorboard/log_files.hpp>
#include <smdebug/storage/open_storage.hpp>

#include <string>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

/// Puts in the place of each path the folders below it in which logs lie.  A path without any stays, and so does one that cannot
/// be looked at, as opening it tells why.
[[nodiscard]] inline std::vector<std::string> runs_from_folders(std::vector<std::string> paths,
                                                                const storage_options& storage) {
    std::vector<std::string> runs;
    for (std::string& path : paths) {
        std::vector<std::string> folders;
        try {
            folders = log_folders(smdebug::detail::open_folder(path, storage));
        } catch (const error&) {
            // told by who opens it
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

/// The same for the arguments of a command that has the option.
template <class Arguments>
void spread_folders(Arguments& args) {
    if constexpr (requires { args.check.how; }) {
        spread_folders(args.check);
    } else if constexpr (requires { args.runs, args.how.storage; }) {
        if (!args.how.storage.formats.folders_are_workers) {
            args.runs = runs_from_folders(std::move(args.runs), args.how.storage);
        }
    }
}

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
