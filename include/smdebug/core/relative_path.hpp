// Relative keys that stay below their root, in a folder as in a bucket.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace smdebug {
inline namespace v1 {

/// Whether a relative path names something below its root: not empty, not absolute, no "..", no NUL.
/// To an object store all of these are ordinary keys; but a proxy on the way may take them for paths,
/// and no file of a run has such a name.
[[nodiscard]] constexpr bool stays_inside(std::string_view path) noexcept {
    if (path.empty() || path.front() == '/' || path.find('\0') != std::string_view::npos) {
        return false;
    }
    for (std::size_t begin = 0; begin <= path.size();) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        if (path.substr(begin, end - begin) == "..") {
            return false;
        }
        begin = end + 1;
    }
    return true;
}

/// Whether a key is that of a resource fork, "._x" beside "x", as macOS leaves them on other file systems and in archives:
/// such a file belongs to no run, whatever its name ends with.
[[nodiscard]] constexpr bool is_resource_fork(std::string_view key) noexcept {
    return key.substr(key.rfind('/') + 1).starts_with("._");  // npos + 1 is 0
}

}  // namespace v1
}  // namespace smdebug
