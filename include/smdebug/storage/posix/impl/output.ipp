// The bodies of <smdebug/storage/posix/output.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/storage/posix/file.hpp>
#include <smdebug/storage/posix/folder.hpp>
#include <smdebug/storage/posix/output.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

namespace smdebug::inline v1::detail::posix {

SMDEBUG_INLINE void fail_writing(const std::string& path, int code, const std::string& doing) {
    const auto say = [&](const char* why) {
        throw unavailable(doing + " " + path + ": " + why + " (" + std::generic_category().message(code) + ")",
                          {.where = path});
    };
    if (code == ENOSPC || code == EDQUOT) {
        say("the disk is full; make room on it");
    }
    if (code == EFBIG) {
        say("the disk is full, or the file larger than it may be");
    }
    if (code == ENOENT) {
        say("a folder on the way to it, or its temporary file, was removed meanwhile");
    }
    fail(doing, path, code);
}

SMDEBUG_INLINE void refuse_special_file(const std::string& path) {
    struct ::stat facts {};
    if (::stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode)) {
        throw unavailable("cannot write " + path + ": it is a pipe, a device or a socket; name a file",
                          {.where = path});
    }
}

SMDEBUG_INLINE std::size_t make_folders_above(const std::string& path, readable_by whom) {
    constexpr std::size_t none = std::string::npos;
    const ::mode_t rights = whom == readable_by::owner ? 0700 : 0777;
    std::size_t first_made = none;
    // ENOENT here means that the parent takes no folders: /proc, for one.
    const auto give_up = [&](std::size_t end, int code) {
        const std::string made = path.substr(0, end);
        if (code == ENOENT) {
            throw unavailable("cannot make the folder " + made + ": " + std::generic_category().message(code),
                              {.where = made});
        }
        fail_writing(made, code, "cannot make the folder");
    };
    // Whether the folder whose name ends there exists now; a parent may be missing.
    const auto make = [&](std::size_t end) {
        if (end == 0 || ::mkdir(path.substr(0, end).c_str(), rights) == 0) {
            first_made = end == 0 ? first_made : std::min(first_made, end);
            return true;
        }
        return errno == EEXIST;
    };
    // From the bottom, as most exist, and those far above may be inaccessible.
    const std::size_t last = path.rfind('/');
    std::size_t end = last;
    while (end != none && !make(end)) {
        const int code = errno;
        const std::size_t above = path.rfind('/', end - 1);
        if (code != ENOENT || above == none) {
            give_up(end, code);
        }
        end = above;
    }
    while (end != last) {
        end = path.find('/', end + 1);
        if (!make(end)) {
            give_up(end, errno);
        }
    }
    while (first_made != none && path[first_made - 1] == '/') {
        --first_made;  // "a//b" makes "a/"
    }
    return first_made;
}

SMDEBUG_INLINE void write_pieces(int handle, std::span<const byte_view> pieces, const std::string& path) {
    std::array<::iovec, IOV_MAX> vectors;  // filled as far as it is used
    std::size_t done = 0;                  // bytes of the first piece already written
    const auto skip_written = [&] {
        while (!pieces.empty() && done >= pieces.front().size()) {
            done -= pieces.front().size();
            pieces = pieces.subspan(1);
        }
    };
    for (skip_written(); !pieces.empty(); skip_written()) {
        const std::size_t count = std::min(pieces.size(), vectors.size());
        for (std::size_t i = 0; i < count; ++i) {
            const byte_view rest = pieces[i].subspan(i == 0 ? done : 0);
            vectors[i] = {.iov_base = const_cast<std::byte*>(rest.data()), .iov_len = rest.size()};
        }
        const ::ssize_t put = ::writev(handle, vectors.data(), static_cast<int>(count));
        if (put > 0) {
            done += static_cast<std::size_t>(put);
        } else if (put == 0 || errno != EINTR) {
            fail_writing(path, put == 0 ? ENOSPC : errno);
        }
    }
}

SMDEBUG_INLINE bool remove_file(const std::string& path) {
    if (::unlink(path.c_str()) == 0) {
        return true;
    }
    if (!means_missing(errno) && errno != EISDIR) {
        fail("cannot remove", path, errno);
    }
    return false;
}

SMDEBUG_INLINE std::string without_extension(const std::string& path) {
    const std::size_t name = path.rfind('/') + 1;  // npos + 1 is 0
    const std::size_t dot = path.rfind('.');
    return dot == std::string::npos || dot <= name ? path : path.substr(0, dot);
}

SMDEBUG_INLINE temporary_file::temporary_file(std::string path, readable_by whom) : path_(std::move(path)) {
    refuse_special_file(path_);
    const ::mode_t rights = whom == readable_by::owner ? 0600 : 0666;
    const std::string stem = without_extension(path_).append(temporary_mark) + std::to_string(maker_) + ".";
    bool has_made_folders = false;
    for (int number = 0; handle_.get() < 0;) {
        name_ = stem + std::to_string(number);
        handle_ = descriptor{::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, rights)};
        if (handle_.get() >= 0 || errno == EINTR) {
            continue;
        }
        const int code = errno;
        if (code == ENOENT && !has_made_folders) {
            has_made_folders = true;
            first_made_ = make_folders_above(path_, whom);
        } else if (code != EEXIST || ++number > most_numbers) {
            // Several writers may work in one folder: the first free name is taken.
            fail_writing(path_, code);
        }
    }
}

SMDEBUG_INLINE temporary_file& temporary_file::operator=(temporary_file&& other) noexcept {
    temporary_file mine{std::move(other)};  // releases the previous file now, not with `other`
    swap(mine);
    return *this;
}

SMDEBUG_INLINE temporary_file::~temporary_file() {
    if (!name_.empty() && maker_ == ::getpid()) {
        ::unlink(name_.c_str());
    }
}

SMDEBUG_INLINE void temporary_file::take_its_place() {
    if (::close(handle_.release()) != 0 || std::rename(name_.c_str(), path_.c_str()) != 0) {
        fail_writing(path_, errno);
    }
    name_.clear();
}

// The folder of a path, or one above it: the folder whose path ends before `end`.
inline std::string folder_before(const std::string& path, std::size_t end) {
    return end == std::string::npos ? "." : path.substr(0, std::max<std::size_t>(end, 1));
}

SMDEBUG_INLINE void sync_folder_of(const std::string& path) {
    const std::string above = folder_before(path, path.rfind('/'));
    if (const auto folder = directory_handle::open(above)) {
        temporary_file::sync(folder->get(), above);
    }
}

SMDEBUG_INLINE void sync_all_folders_above(const std::string& path) {
    std::optional<::dev_t> device;
    std::size_t end = path.size();
    do {
        end = end == 0 ? std::string::npos : path.rfind('/', end - 1);
        const std::string above = folder_before(path, end);
        const descriptor folder{open_unbroken(above, O_RDONLY | O_DIRECTORY)};
        struct ::stat facts {};
        // An unreadable folder was not made by us, nor was anything above another file system.
        if (folder.get() < 0 || ::fstat(folder.get(), &facts) != 0 || device.value_or(facts.st_dev) != facts.st_dev) {
            return;
        }
        device = facts.st_dev;
        temporary_file::sync(folder.get(), above);
    } while (end != std::string::npos && end != 0);
}

SMDEBUG_INLINE void temporary_file::sync_folders(std::size_t from) const {
    std::size_t end = path_.size();
    const auto goes_on = [&](std::size_t made_or_wanted, bool itself) {
        return made_or_wanted != std::string::npos && (end > made_or_wanted || (itself && end == made_or_wanted));
    };
    do {
        end = end == 0 ? std::string::npos : path_.rfind('/', end - 1);
        const std::string above = folder_before(path_, end);
        const auto folder = directory_handle::open(above);
        if (!folder) {
            fail_writing(path_, ENOENT);
        }
        sync(folder->get(), above);
    } while (end != std::string::npos && (goes_on(first_made_, true) || goes_on(from, false)));
}

SMDEBUG_INLINE void temporary_file::sync(int handle, const std::string& path) {
    while (::fsync(handle) != 0) {
        // Some file systems cannot do that, especially for folders: they then promise no more.
        if (errno == EINVAL || errno == ENOTSUP || errno == ENOSYS) {
            return;
        }
        if (errno != EINTR) {
            fail_writing(path, errno);
        }
    }
}

SMDEBUG_INLINE void temporary_file::swap(temporary_file& other) noexcept {
    path_.swap(other.path_);
    name_.swap(other.name_);
    std::swap(handle_, other.handle_);
    std::swap(first_made_, other.first_made_);
    std::swap(maker_, other.maker_);
}

SMDEBUG_INLINE void whole_file_output::commit(durability how) {
    if (how == durability::on_disk) {
        file_.sync();
    }
    file_.take_its_place();
    if (how == durability::on_disk) {
        file_.sync_folders(synced_from_);
    }
}

SMDEBUG_INLINE void write_whole(const std::string& path, byte_view bytes) {
    whole_file_output out{path};
    out.append({&bytes, 1});
    out.commit(durability::cached);
}

SMDEBUG_INLINE void buffered_output::append(byte_view piece) {
    if (piece.size() >= small) {
        put(piece);
        return;
    }
    pending_.insert(pending_.end(), piece.begin(), piece.end());
    if (pending_.size() >= 4 * small) {
        flush();
    }
}

SMDEBUG_INLINE void buffered_output::put(byte_view piece) {
    const std::array pieces{byte_view{pending_}, piece};
    file_.append(pieces);
    written_ += pending_.size() + piece.size();
    pending_.clear();
}

SMDEBUG_INLINE void buffered_output::overwrite(std::uint64_t offset, byte_view bytes) {
    if (offset >= written_) {
        std::copy(bytes.begin(), bytes.end(), pending_.begin() + static_cast<std::ptrdiff_t>(offset - written_));
        return;
    }
    flush();
    while (!bytes.empty()) {
        const ::ssize_t put = ::pwrite(file_.handle(), bytes.data(), bytes.size(), static_cast<::off_t>(offset));
        if (put > 0) {
            bytes = bytes.subspan(static_cast<std::size_t>(put));
            offset += static_cast<std::uint64_t>(put);
        } else if (put == 0 || errno != EINTR) {
            fail_writing(path_, put == 0 ? ENOSPC : errno);
        }
    }
}

SMDEBUG_INLINE void buffered_output::make_room(std::uint64_t offset, std::uint64_t distance) {
    flush();
    const std::uint64_t end = written_;
    written_ = end + distance;
    std::vector<std::byte> block(
        static_cast<std::size_t>(std::min<std::uint64_t>(end - offset, std::uint64_t{4} << 20U)));
    const file written{file_.name()};
    // Last block first, so that each move overwrites only bytes already moved.
    for (std::uint64_t at = end; at > offset;) {
        const std::size_t length = static_cast<std::size_t>(std::min<std::uint64_t>(at - offset, block.size()));
        at -= length;
        const std::span<std::byte> moved = std::span{block}.first(length);
        if (written.read_at(at, moved) != length) {
            fail_writing(path_, EIO);
        }
        overwrite(at + distance, moved);
    }
    if (::lseek(file_.handle(), static_cast<::off_t>(written_), SEEK_SET) < 0) {
        fail_writing(path_, errno);
    }
}

SMDEBUG_INLINE void buffered_output::finish(durability how) {
    flush();
    if (how == durability::on_disk) {
        file_.sync();
    }
    file_.take_its_place();
    if (how == durability::on_disk) {
        file_.sync_folders();
    }
}

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

// Removes the contents of the folder `name` in the open folder `above`, and then the folder.
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
    path_ = real_path(path_);  // a link to a folder stays a link
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
    // The rename replaces an empty folder.
    if (std::rename(place_.c_str(), path_.c_str()) == 0) {
        place_.clear();
    } else if (errno != EEXIST && errno != ENOTEMPTY) {
        fail_writing(path_, errno);
    } else if (!replace) {
        throw run_exists(path_ + " is there already, and not empty: it came meanwhile", {.where = path_});
    } else if (::renameat2(AT_FDCWD, place_.c_str(), AT_FDCWD, path_.c_str(), RENAME_EXCHANGE) != 0) {
        const std::string older = place_ + ".older";  // not every file system can exchange names
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
    // The temporary name now belongs to the older folder: the destructor removes it.
    const std::size_t slash = path_.rfind('/');
    const auto above = directory_handle::open(slash == std::string::npos ? "." : path_.substr(0, slash + 1));
    if (above) {
        temporary_file::sync(above->get(), path_);
    }
}

}  // namespace smdebug::inline v1::detail::posix
