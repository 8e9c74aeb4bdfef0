// Listing folders by POSIX calls: std::filesystem costs a stat a file and a path object each.
// Used by: storage/local_storage.hpp, storage/folder_follower.hpp, storage/posix_watch.hpp.
#pragma once

#include <smdebug/storage/posix_file.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace posix {

/// One behind the other, in one allocation.
[[nodiscard]] inline std::string joined(std::string_view stem, std::string_view name) {
    std::string whole;
    whole.reserve(stem.size() + name.size());
    whole.append(stem).append(name);
    return whole;
}

/// Stands for the working directory where a folder's descriptor is asked for.
inline constexpr int working_folder = AT_FDCWD;

/// Which folder it is, whatever its name.
struct folder_identity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    friend auto operator<=>(const folder_identity&, const folder_identity&) = default;
};

/// One name in a folder.
struct folder_entry {
    enum class kind : std::uint8_t {
        file,        ///< a regular file, or a link to one
        folder,      ///< a folder itself
        link,        ///< a link to the folder `target`
        loose,       ///< a link to nothing: it may come to lead to something although its own folder stays as it is
        other,       ///< a pipe or device
        loose_other  ///< a link to one, which may come to lead to something else, too
    };
    std::string_view name;  ///< borrowed, for the visit
    kind what = kind::other;
    folder_identity target = {};
};

/// A folder, open to read what is in it, without what is in the folders below.
class folder_reader {
public:
    /// Opens `name` below the folder `base`; nothing when there is no such folder.  `path` is for messages.
    /// Errors: access_denied, unavailable.
    [[nodiscard]] static std::optional<folder_reader> open_if_there(int base, const std::string& name,
                                                                    std::string path) {
        descriptor handle{::openat(base, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK)};
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
        static_cast<void>(handle.release());  // the stream's now
        return opened;
    }

    [[nodiscard]] int get() const noexcept { return ::dirfd(stream_.get()); }

    /// Nothing when the system does not tell.
    [[nodiscard]] std::optional<folder_identity> identity() const noexcept {
        struct ::stat info = {};
        return ::fstat(get(), &info) == 0 ? std::optional{folder_identity{info.st_dev, info.st_ino}} : std::nullopt;
    }

    /// Calls visit(entry) for each name, in no order.  Once only.
    template <class Visit>
    void each(Visit&& visit) {
        for (errno = 0; const ::dirent* entry = ::readdir(stream_.get()); errno = 0) {
            folder_entry seen{.name = static_cast<const char*>(entry->d_name)};
            if (seen.name != "." && seen.name != "..") {
                classify(*entry, seen);
                visit(std::as_const(seen));
            }
        }
        if (errno != 0) {
            fail("cannot list the folder", path_, errno);
        }
    }

private:
    struct closer {
        void operator()(DIR* stream) const noexcept { ::closedir(stream); }
    };

    explicit folder_reader(std::string path) : path_(std::move(path)) {}

    void classify(const ::dirent& entry, folder_entry& seen) const noexcept {
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

    std::string path_;
    std::unique_ptr<DIR, closer> stream_;
};

/// Lists the regular files below a folder.
class file_lister {
public:
    explicit file_lister(std::string root) : root_(std::move(root)) {}

    /// Appends the paths, relative to the root, of all regular files below root/folder; in no order.  Links are
    /// followed, but not to a folder that is listed anyway: circles end.
    void list(const std::string& folder, std::vector<std::string>& keys) {
        list_without_links(folder, keys);
        // Links come last: only then is it known what is listed anyway.
        while (!links_.empty()) {
            const auto link = links_.extract(links_.begin());
            if (!listed_.contains(link.mapped())) {
                list_without_links(link.key(), keys);
            }
        }
    }

private:
    void list_without_links(const std::string& folder, std::vector<std::string>& keys) {
        std::vector<std::string> below;
        if (std::string path = folder.empty() ? root_ : root_ + "/" + folder;
            auto reader = folder_reader::open_if_there(working_folder, path, path)) {
            if (const auto self = reader->identity()) {
                listed_.insert(*self);
            }
            const std::string stem = folder.empty() ? std::string{} : folder + "/";
            reader->each([&](const folder_entry& entry) {
                using kind = folder_entry::kind;
                if (entry.what == kind::file) {
                    keys.push_back(joined(stem, entry.name));
                } else if (entry.what == kind::folder) {
                    below.push_back(joined(stem, entry.name));
                } else if (entry.what == kind::link) {
                    links_.emplace(joined(stem, entry.name), entry.target);
                }
            });
        }
        for (const std::string& name : below) {
            list_without_links(name, keys);
        }
    }

    std::string root_;
    std::set<folder_identity> listed_;
    std::map<std::string, folder_identity> links_;  // not yet followed, by path
};

}  // namespace posix
}  // namespace v1
}  // namespace smdebug
