// What a run's path says about where it lies: a directory, S3, an archive.
#pragma once

#include <cstdint>
#include <string_view>

namespace smdebug {
inline namespace v1 {

enum class uri_kind : std::uint8_t { directory, s3, archive };

/// "s3://..." is S3; a name that ends in .tar, .tar.gz, .tgz or .zip is an archive; anything else is a directory.
[[nodiscard]] constexpr uri_kind kind_of(std::string_view path) noexcept {
    if (path.starts_with("s3://")) {
        return uri_kind::s3;
    }
    for (const std::string_view ending : {".tar", ".tar.gz", ".tgz", ".zip"}) {
        if (path.ends_with(ending)) {
            return uri_kind::archive;
        }
    }
    return uri_kind::directory;
}

/// A directory's path without the "file://" that may stand before it.
[[nodiscard]] constexpr std::string_view local_path(std::string_view path) noexcept {
    constexpr std::string_view scheme = "file://";
    return path.starts_with(scheme) ? path.substr(scheme.size()) : path;
}

}  // namespace v1
}  // namespace smdebug
