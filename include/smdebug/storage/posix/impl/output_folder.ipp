// The bodies of <smdebug/storage/posix/output_folder.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/storage/posix/folder.hpp>
#include <smdebug/storage/posix/output.hpp>
#include <smdebug/storage/posix/output_folder.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {
namespace posix {

SMDEBUG_INLINE bool is_there(const std::string& path) {
    struct ::stat facts {};
    if (::lstat(path.c_str(), &facts) == 0) {
        return true;
    }
    if (!means_missing(errno)) {
        fail("cannot look at", path, errno);
    }
    return false;
}

SMDEBUG_INLINE bool is_folder(const std::string& path) {
    struct ::stat facts {};
    return ::stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
}

SMDEBUG_INLINE std::string real_path(const std::string& path) {
    const std::unique_ptr<char, void (*)(void*)> found{::realpath(path.c_str(), nullptr), &std::free};
    return found ? std::string{found.get()} : path;
}

// Removes what is in the folder `name` of the open folder `above`, and then the folder.
inline void remove_folder_at(int above, const char* name) noexcept {
    const int handle = open_unbroken(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (DIR* const stream = handle < 0 ? nullptr : ::fdopendir(handle)) {
        while (const ::dirent* const entry = ::readdir(stream)) {
            const std::string_view each{static_cast<const char*>(entry->d_name)};
            if (each != "." && each != ".." && ::unlinkat(::dirfd(stream), entry->d_name, 0) != 0) {
                remove_folder_at(::dirfd(stream), entry->d_name);
            }
        }
        ::closedir(stream);
    } else if (handle >= 0) {
        ::close(handle);
    }
    ::unlinkat(above, name, AT_REMOVEDIR);
}

SMDEBUG_INLINE void remove_folder(const std::string& path) noexcept { remove_folder_at(AT_FDCWD, path.c_str()); }

SMDEBUG_INLINE void check_output_folder(const std::string& path, bool replace,
                                        function_ref<bool(std::string_view)> ours) {
    if (!is_there(path)) {
        return;
    }
    const auto refuse = [&](const std::string& why) { throw run_exists(path + why, {.where = path}); };
    if (!is_folder(path)) {
        refuse(" is there already, and no folder");
    }
    std::vector<std::string> keys;
    file_lister{path}.list("", keys);
    if (keys.empty()) {
        return;
    }
    if (!replace) {
        refuse(" is there already, and not empty: name another output, or ask for it to be replaced");
    }
    for (const std::string& key : keys) {
        if (!ours(key)) {
            refuse(" is not replaced: " + key + " in it is not what an export of this kind writes");
        }
    }
}

SMDEBUG_INLINE output_folder::output_folder(std::string path) : path_(std::move(path)) {
    while (path_.size() > 1 && path_.ends_with('/')) {
        path_.pop_back();
    }
    path_ = real_path(path_);  // a link to a folder stays one
    make_folders_above(path_);
    constexpr int most_numbers = 1000;
    for (int number = 0;; ++number) {
        std::string name =
            path_ + std::string{temporary_mark} + std::to_string(::getpid()) + "." + std::to_string(number);
        if (::mkdir(name.c_str(), 0777) == 0) {
            place_ = std::move(name);
            return;
        }
        if (errno != EEXIST || number == most_numbers) {
            fail_writing(path_, errno, "cannot make the folder");
        }
    }
}

SMDEBUG_INLINE output_folder::~output_folder() {
    if (!place_.empty()) {
        remove_folder(place_);
    }
}

SMDEBUG_INLINE void output_folder::take_its_place(bool replace) {
    const auto made = directory_handle::open(place_);
    if (!made) {
        fail_writing(path_, ENOENT);
    }
    while (::syncfs(made->get()) != 0) {
        if (errno != EINTR) {
            fail_writing(path_, errno);
        }
    }
    // An empty folder gives way by itself.
    if (std::rename(place_.c_str(), path_.c_str()) == 0) {
        place_.clear();
    } else if (errno != EEXIST && errno != ENOTEMPTY) {
        fail_writing(path_, errno);
    } else if (!replace) {
        throw run_exists(path_ + " is there already, and not empty: it came meanwhile", {.where = path_});
    } else if (::renameat2(AT_FDCWD, place_.c_str(), AT_FDCWD, path_.c_str(), RENAME_EXCHANGE) != 0) {
        const std::string older = place_ + ".older";  // not every file system exchanges names
        if (std::rename(path_.c_str(), older.c_str()) != 0) {
            fail_writing(path_, errno);
        }
        if (std::rename(place_.c_str(), path_.c_str()) != 0) {
            const int code = errno;
            static_cast<void>(std::rename(older.c_str(), path_.c_str()));
            fail_writing(path_, code);
        }
        place_ = older;
    }
    // What is under the temporary name now is the older folder: the destructor removes it.
    const std::size_t slash = path_.rfind('/');
    const auto above = directory_handle::open(slash == std::string::npos ? "." : path_.substr(0, slash + 1));
    if (above) {
        temporary_file::sync(above->get(), path_);
    }
}

}  // namespace posix
}  // namespace detail
}  // namespace v1
}  // namespace smdebug
