// Keys that stay below the place that they are relative to, whatever kind of place that is.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace smdebug {
inline namespace v1 {

/// Whether a relative path names something below its root: not empty, not absolute, no "..", no NUL.
/// To a store of objects all of these are keys like others; but what carries a request there may take them for paths,
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

}  // namespace v1
}  // namespace smdebug
