// --runs-from-folders: a path stands for every folder of TensorBoard logs below it.
#pragma once

#include <smdebug/storage/open_storage.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace smdebug::inline v1::cli::detail {

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
