// --runs-from-folders: a path stands for every folder of TensorBoard logs below it.
#pragma once

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
[[nodiscard]] std::vector<std::string> runs_from_folders(std::vector<std::string> paths,
                                                         const storage_options& storage);

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
