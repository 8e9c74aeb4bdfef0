// The bodies of <smdebug/storage/posix/output.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/storage/posix/output.hpp>

#include <fcntl.h>
#include <limits.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <system_error>

namespace smdebug {
inline namespace v1 {
namespace detail {
namespace posix {

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
    // That there is no such file means here that what is above takes no folders: /proc, for one.
    const auto give_up = [&](std::size_t end, int code) {
        const std::string made = path.substr(0, end);
        if (code == ENOENT) {
            throw unavailable("cannot make the folder " + made + ": " + std::generic_category().message(code),
                              {.where = made});
        }
        fail_writing(made, code, "cannot make the folder");
    };
    // Whether the folder whose name ends there is there now; what is above it may be missing.
    const auto make = [&](std::size_t end) {
        if (end == 0 || ::mkdir(path.substr(0, end).c_str(), rights) == 0) {
            first_made = end == 0 ? first_made : std::min(first_made, end);
            return true;
        }
        return errno == EEXIST;
    };
    // From the bottom, as most are there, and one need have no rights in those far above.
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
    std::size_t done = 0;                  // bytes of the first piece that are written
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
            // Several writers may be at work in one folder: the first free name is taken.
            fail_writing(path_, code);
        }
    }
}

SMDEBUG_INLINE temporary_file& temporary_file::operator=(temporary_file&& other) noexcept {
    temporary_file mine{std::move(other)};  // what this one held goes now, not with `other`
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

// The folder of a path, or of what is above one: that whose path ends before `end`.
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
        // What may not be read was not made by us, nor was what lies above another file system.
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
        // Not every file system can do that, for folders above all: it then promises no more.
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

}  // namespace posix
}  // namespace detail
}  // namespace v1
}  // namespace smdebug
