// The folder that a user means by what is written as out_dir.
// Used by: hook (basic_hook).
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/storage/uri.hpp>

#include <cstdlib>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {

/// A path on this machine: "file://" is taken away, "~" is the home folder, as in the Python package.
/// Errors: unsupported for s3:// and for the names of archives.
[[nodiscard]] inline std::string local_place_of(std::string_view out_dir) {
    const std::string_view path = local_path(out_dir);
    if (kind_of(path) != uri_kind::directory) {
        throw unsupported("a hook cannot write to " + std::string{out_dir} +
                              ": it writes to folders; give the path of one, or a storage of your own",
                          {.where = std::string{out_dir}});
    }
    const char* const home = std::getenv("HOME");
    const bool is_at_home = path == "~" || path.starts_with("~/");
    return is_at_home && home != nullptr ? std::string{home}.append(path.substr(1)) : std::string{path};
}

}  // namespace v1
}  // namespace smdebug
