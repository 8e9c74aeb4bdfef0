// The bodies of <smdebug/storage/uri.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/storage/posix/file.hpp>
#include <smdebug/storage/posix/folder.hpp>
#include <smdebug/storage/uri.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>

namespace smdebug::inline v1::detail {

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
        throw value_error(
            "\"" + std::string{path} +
                "\" is not a path of a run: a folder is written as its path or as file:///folder, a run in "
                "S3 as s3://bucket/prefix",
            {.where = std::string{path}});
    }
    return false;
}

/// Without "file://", and with the home folder in place of "~".
[[nodiscard]] inline std::string expanded(std::string_view path) {
    if (path.starts_with(file_scheme)) {
        path.remove_prefix(file_scheme.size());
    }
    std::string folder{path};
    if (path == "~" || path.starts_with("~/")) {
        const char* const home = std::getenv("HOME");  // NOLINT(concurrency-mt-unsafe)
        if (home == nullptr || *home == '\0') {
            throw value_error("which folder is " + folder + "? HOME is not set", {.where = std::string{path}});
        }
        folder.replace(0, 1, home);
    }
    return folder;
}

SMDEBUG_INLINE std::string_view archive_extension_of(std::string_view path) noexcept {
    constexpr std::array<std::string_view, 6> endings{".tar", ".tar.gz", ".tgz", ".tar.zst", ".tzst", ".zip"};
    const auto ending =
        std::find_if(endings.begin(), endings.end(), [&](std::string_view each) { return path.ends_with(each); });
    return ending == endings.end() ? std::string_view{} : *ending;
}

[[nodiscard]] inline archive_path parts_of(std::string_view archive, std::string_view inside) {
    const std::size_t slash = archive.rfind('/');
    std::string_view folder = slash == std::string_view::npos ? "." : archive.substr(0, slash);
    if (folder.empty()) {
        folder = "/";
    }
    return {.folder = std::string{folder},
            .key = std::string{slash == std::string_view::npos ? archive : archive.substr(slash + 1)},
            .inside = std::string{inside},
            .is_named_so = !archive_extension_of(archive).empty()};
}

SMDEBUG_INLINE bool is_data_file(std::string_view path) noexcept {
    const std::string_view name = path.substr(path.rfind('/') + 1);  // npos + 1 is 0
    return name.ends_with(".safetensors") || name.ends_with(".npz") || name.ends_with(".npy") ||
           (name.find("tfevents") != std::string_view::npos && !name.ends_with(".tfevents"));
}

SMDEBUG_INLINE std::optional<archive_path> archive_in(std::string_view path) {
    const bool far = is_in_s3(path);
    std::string whole = far ? std::string{path} : expanded(path);
    while (whole.size() > 1 && whole.ends_with('/')) {
        whole.pop_back();
    }
    if (!far && posix::directory_handle::open(whole)) {
        return std::nullopt;
    }
    const auto is_file = [](const std::string& name) { return posix::regular_file_facts(name).has_value(); };
    for (std::size_t mark = whole.find('!'); mark != std::string::npos; mark = whole.find('!', mark + 1)) {
        const std::string before = whole.substr(0, mark);
        const bool is_mark = mark + 1 == whole.size() || whole[mark + 1] == '/';
        if (is_mark && (!archive_extension_of(before).empty() || (!far && is_file(before)))) {
            return parts_of(before, std::string_view{whole}.substr(std::min(mark + 2, whole.size())));
        }
    }
    if (!archive_extension_of(whole).empty() || (!far && !is_data_file(whole) && is_file(whole))) {
        return parts_of(whole, {});
    }
    return std::nullopt;
}

SMDEBUG_INLINE std::string local_path(std::string_view path) {
    const error_context context{.where = std::string{path}};
    if (is_in_s3(path)) {
        throw unsupported(std::string{path} +
                              " is in S3, where a local_storage does not reach: open it by smdebug::create_trial or "
                              "write it by smdebug::hook",
                          context);
    }
    std::string folder = expanded(path);
    if (!archive_extension_of(folder).empty() && !posix::directory_handle::open(folder)) {
        throw unsupported(folder +
                              " is the name of an archive, which smdebug::create_trial opens and no hook writes: give "
                              "the path of a folder",
                          context);
    }
    return folder;
}

}  // namespace smdebug::inline v1::detail
