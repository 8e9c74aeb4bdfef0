// What a search for runs comes upon, and by which names a run is told from other folders.
#pragma once

#include <smdebug/core/relative_path.hpp>
#include <smdebug/formats/tensorboard/log_files.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// A place that a search comes upon.
struct found_place {
    enum class kind : std::uint8_t {
        run,
        folder,   ///< that a pattern matches; what is in it is not known yet
        archive,  ///< by its name
        error     ///< could not be searched, `error` says why
    };
    kind what = kind::run;
    std::string path = {};
    std::string error = {};
};

/// Whether a run has a folder of that name at its root.
[[nodiscard]] constexpr bool is_run_part(std::string_view name) noexcept {
    return name == "collections" || name == "events" || name == "index";
}

/// Whether that is a folder in such a folder, "000000000": 9 digits or more.
[[nodiscard]] constexpr bool is_step_group(std::string_view name) noexcept {
    return name.size() >= 9 && std::all_of(name.begin(), name.end(), [](char c) { return '0' <= c && c <= '9'; });
}

/// The run that a key is of, as its part before "/index/000000000/" and the like; empty: the root.  Nothing: of none.  Of a
/// run in a run it is the outer one.
[[nodiscard]] constexpr std::optional<std::string_view> run_of_key(std::string_view key) noexcept {
    std::string_view before;  // the name of the folder before the one at `begin`
    std::size_t begin = 0;
    std::size_t run_end = 0;
    for (std::size_t end = key.find('/'); end != std::string_view::npos; end = key.find('/', begin)) {
        const std::string_view name = key.substr(begin, end - begin);
        if (is_run_part(before) && is_step_group(name)) {
            return key.substr(0, run_end);
        }
        before = name;
        run_end = begin == 0 ? 0 : begin - 1;
        begin = end + 1;
    }
    return std::nullopt;
}

/// Files that a search came upon, and that are no part of what it found: how many, by the ends of their names.
using left_out_files = std::map<std::string, std::size_t, std::less<>>;

/// By which such a file is counted: data of a kind that is read where it lies in a folder of its own, and archives and checkpoints
/// that are not read.  Empty: of any other file.  A log is recognised by its folder, too, which is why it takes a path.
[[nodiscard]] inline std::string_view counted_ending_of(std::string_view path) noexcept {
    if (is_resource_fork(path)) {
        return {};
    }
    constexpr std::array<std::string_view, 22> endings{
        ".safetensors", ".npz",  ".npy",   ".tar.bz2", ".tbz2", ".tar.xz", ".txz",  ".tar.lz4",
        ".tar.lzma",    ".7z",   ".rar",   ".pt",      ".pth",  ".bin",    ".ckpt", ".pkl",
        ".h5",          ".hdf5", ".keras", ".onnx",    ".gguf", ".tar.Z"};
    for (const std::string_view each : endings) {
        if (path.ends_with(each)) {
            return each;
        }
    }
    return is_tensorboard_log(path) ? std::string_view{".tfevents"} : std::string_view{};
}

/// A path below a folder.  That of the folder that the process is in is "."; what would then be taken for something else,
/// "~x" or "s3:x", gets "./" before it.
[[nodiscard]] inline std::string path_below(std::string_view folder, std::string_view name) {
    std::string path;
    path.reserve(folder.size() + 1 + name.size());
    if (folder == ".") {
        const bool is_odd = name.starts_with('~') || name.substr(0, name.find('/')).find(':') != std::string_view::npos;
        path.append(is_odd ? "./" : "");
    } else {
        path.append(folder).append(folder.ends_with('/') ? "" : "/");
    }
    return path.append(name);
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
