// The bodies of <smdebug/storage/posix/folder.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/storage/posix/folder.hpp>

#include <sys/stat.h>

#include <algorithm>

namespace smdebug::inline v1::detail::posix {

SMDEBUG_INLINE std::string joined(std::string_view stem, std::string_view name) {
    std::string whole;
    whole.reserve(stem.size() + name.size());
    whole.append(stem).append(name);
    return whole;
}

SMDEBUG_INLINE std::optional<folder_reader> folder_reader::open_if_there(int base, const std::string& name,
                                                                         std::string path) {
    descriptor handle{open_unbroken(base, name.c_str(), O_RDONLY | O_DIRECTORY | O_NONBLOCK)};
    if (handle.get() < 0 && means_missing(errno)) {
        return std::nullopt;
    }
    folder_reader opened{std::move(path)};
    if (handle.get() >= 0) {
        opened.stream_.reset(::fdopendir(handle.get()));
    }
    if (!opened.stream_) {
        fail("cannot list the folder", opened.path_, errno);
    }
    static_cast<void>(handle.release());  // the stream owns it now
    return opened;
}

SMDEBUG_INLINE std::optional<folder_identity> folder_reader::identity() const noexcept {
    struct ::stat info = {};
    return ::fstat(get(), &info) == 0 ? std::optional{folder_identity{info.st_dev, info.st_ino}} : std::nullopt;
}

SMDEBUG_INLINE void folder_reader::classify(const ::dirent& entry, folder_entry& seen) const noexcept {
    using kind = folder_entry::kind;
    const char* name = static_cast<const char*>(entry.d_name);
    struct ::stat info = {};
    unsigned char type = entry.d_type;
    if (type == DT_UNKNOWN && ::fstatat(get(), name, &info, AT_SYMLINK_NOFOLLOW) == 0) {
        type = static_cast<unsigned char>(IFTODT(info.st_mode));
    }
    if (type == DT_REG) {
        seen.what = kind::file;
    } else if (type == DT_DIR) {
        seen.what = kind::folder;
    } else if (type == DT_LNK) {
        if (::fstatat(get(), name, &info, 0) != 0) {
            seen.what = kind::loose;
        } else if (S_ISDIR(info.st_mode)) {
            seen.what = kind::link;
            seen.target = {info.st_dev, info.st_ino};
        } else {
            seen.what = S_ISREG(info.st_mode) ? kind::file : kind::loose_other;
        }
    }
}

SMDEBUG_INLINE bool may_name_folder(std::string_view name) noexcept {
    const std::string_view end = name.substr(std::min(name.rfind('.'), name.size()));
    const bool is_short = end.size() > 1 && end.size() <= 5 && (end[1] < '0' || end[1] > '9');
    const bool is_file = is_short || end == ".safetensors" || end == ".jsonl" || end == ".model" ||
                         name.find("tfevents") != std::string_view::npos;
    return !name.starts_with('.') && !is_file;
}

SMDEBUG_INLINE void file_lister::list(const std::string& folder, std::vector<std::string>& keys) {
    list_without_links(folder, keys);
    // Links come last: only then all listed folders are known.
    while (!links_.empty()) {
        const auto link = links_.extract(links_.begin());
        if (!listed_.contains(link.mapped())) {
            list_below(link.key(), keys);
        }
    }
}

SMDEBUG_INLINE void file_lister::list_below(const std::string& folder, std::vector<std::string>& keys) {
    try {
        list_without_links(folder, keys);
    } catch (const access_denied& denied) {
        passed_over_.push_back({problem_kind::damaged, folder, denied.what()});
    }
}

SMDEBUG_INLINE void file_lister::list_without_links(const std::string& folder, std::vector<std::string>& keys) {
    std::vector<std::string> below;
    if (std::string path = folder.empty() ? root_ : root_ + "/" + folder;
        auto reader = folder_reader::open_if_there(working_folder, path, path)) {
        if (const auto self = reader->identity()) {
            listed_.insert(*self);
        }
        const std::string stem = folder.empty() ? std::string{} : folder + "/";
        reader->each([&](const folder_entry& entry) {
            using kind = folder_entry::kind;
            if (entry.what == kind::file || entry.what == kind::loose) {
                keys.push_back(joined(stem, entry.name));
                if (entry.what == kind::loose && may_name_folder(entry.name)) {
                    passed_over_.push_back(
                        {problem_kind::left_out, keys.back(), "it is a link to a folder that is not there"});
                }
            } else if (entry.what == kind::folder) {
                below.push_back(joined(stem, entry.name));
            } else if (entry.what == kind::link) {
                links_.emplace(joined(stem, entry.name), entry.target);
            }
        });
    }
    for (const std::string& name : below) {
        list_below(name, keys);
    }
}

}  // namespace smdebug::inline v1::detail::posix
