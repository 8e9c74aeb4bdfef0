// The bodies of <smdebug/storage/uri.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/storage/posix/file.hpp>
#include <smdebug/storage/uri.hpp>

#include <cstdlib>

namespace smdebug {
inline namespace v1 {
namespace detail {

inline constexpr std::string_view file_scheme = "file://";

SMDEBUG_INLINE bool is_in_s3(std::string_view path) {
    if (path.empty() || path == file_scheme) {
        throw value_error("the path of a run is empty: is a variable unset?");
    }
    if (path.starts_with("s3://")) {
        return true;
    }
    // An address of another kind, or a misspelt one, would become a folder of that name.
    const std::string_view scheme = path.substr(0, path.find_first_of(":/"));
    const std::string_view rest = path.substr(scheme.size());
    const bool is_address = rest.starts_with("://") || (rest.starts_with(":") && (scheme == "s3" || scheme == "file"));
    if (is_address && !path.starts_with(file_scheme)) {
        throw value_error("\"" + std::string{path} +
                              "\" is no path of a run: a folder is written as its path or as file:///folder, a run in "
                              "S3 as s3://bucket/prefix",
                          {.where = std::string{path}});
    }
    return false;
}

SMDEBUG_INLINE std::string local_path(std::string_view path) {
    const error_context context{.where = std::string{path}};
    if (is_in_s3(path)) {
        throw unsupported(std::string{path} +
                              " is in S3, where a local_storage does not reach: open it by smdebug::create_trial or "
                              "write it by smdebug::hook",
                          context);
    }
    if (path.starts_with(file_scheme)) {
        path.remove_prefix(file_scheme.size());
    }
    std::string folder{path};
    if (path == "~" || path.starts_with("~/")) {
        const char* const home = std::getenv("HOME");  // NOLINT(concurrency-mt-unsafe)
        if (home == nullptr || *home == '\0') {
            throw value_error("which folder is " + folder + "? HOME is not set", context);
        }
        folder.replace(0, 1, home);
    }
    for (const std::string_view ending : {".tar", ".tar.gz", ".tgz", ".zip"}) {
        if (path.ends_with(ending) && !posix::directory_handle::open(folder)) {
            throw unsupported(folder +
                                  " is the name of an archive, and archives can be neither read nor written yet: " +
                                  "unpack it, or give the path of a folder",
                              context);
        }
    }
    return folder;
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
