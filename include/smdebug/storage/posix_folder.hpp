// Listing the files below a folder, by POSIX calls: std::filesystem costs a stat a file and a path object each.
// Used by: storage/local_storage.hpp.
#pragma once

#include <smdebug/storage/posix_file.hpp>

#include <dirent.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace posix {

/// Lists the regular files below a folder.
class file_lister {
public:
    explicit file_lister(std::string root) : root_(std::move(root)) {}

    /// Appends the paths, relative to the root, of all regular files below root/folder; in no order.  Links are
    /// followed, but a folder that has been listed is not listed again through a link: circles end.
    void list(const std::string& folder, std::vector<std::string>& keys) {
        const std::string path = folder.empty() ? root_ : root_ + "/" + folder;
        const std::unique_ptr<DIR, closer> stream{::opendir(path.c_str())};
        if (!stream) {
            if (means_missing(errno)) {
                return;
            }
            fail("cannot list the folder", path, errno);
        }
        struct ::stat self = {};
        if (::fstat(::dirfd(stream.get()), &self) == 0) {
            listed_.emplace(self.st_dev, self.st_ino);
        }
        const std::string stem = folder.empty() ? std::string{} : folder + "/";
        for (errno = 0; const ::dirent* entry = ::readdir(stream.get()); errno = 0) {
            const std::string_view name = static_cast<const char*>(entry->d_name);
            if (name == "." || name == "..") {
                continue;
            }
            std::string key = std::string{stem}.append(name);
            switch (kind_of(*entry, ::dirfd(stream.get()))) {
                case kind::file:
                    keys.push_back(std::move(key));
                    break;
                case kind::folder:
                    list(key, keys);
                    break;
                case kind::other:
                    break;
            }
        }
        if (errno != 0) {
            fail("cannot list the folder", path, errno);
        }
    }

private:
    struct closer {
        void operator()(DIR* stream) const noexcept { ::closedir(stream); }
    };
    enum class kind : std::uint8_t { file, folder, other };

    [[nodiscard]] kind kind_of(const ::dirent& entry, int folder) const {
        if (entry.d_type == DT_REG) {
            return kind::file;
        }
        if (entry.d_type == DT_DIR) {
            return kind::folder;
        }
        struct ::stat info = {};
        if ((entry.d_type != DT_LNK && entry.d_type != DT_UNKNOWN) ||
            ::fstatat(folder, static_cast<const char*>(entry.d_name), &info, 0) != 0) {
            return kind::other;
        }
        if (S_ISDIR(info.st_mode)) {
            return listed_.contains({info.st_dev, info.st_ino}) ? kind::other : kind::folder;
        }
        return S_ISREG(info.st_mode) ? kind::file : kind::other;
    }

    std::string root_;
    std::set<std::pair<::dev_t, ::ino_t>> listed_;
};

}  // namespace posix
}  // namespace v1
}  // namespace smdebug
