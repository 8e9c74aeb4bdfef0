// The folder that a user means by what is written as out_dir.
// Used by: hook (place_opener, open_place).
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
    if (const uri_kind kind = kind_of(path); kind != uri_kind::directory) {
        throw unsupported("this hook cannot write to " + std::string{out_dir} +
                              (kind == uri_kind::s3 ? ": it writes to folders; smdebug::hook writes to S3, too"
                                                    : ": that is the name of an archive; give the path of a folder"),
                          {.where = std::string{out_dir}});
    }
    const char* const home = std::getenv("HOME");
    const bool is_at_home = path == "~" || path.starts_with("~/");
    return is_at_home && home != nullptr ? std::string{home}.append(path.substr(1)) : std::string{path};
}

}  // namespace v1
}  // namespace smdebug
