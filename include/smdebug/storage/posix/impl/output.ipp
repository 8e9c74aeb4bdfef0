// The bodies of <smdebug/storage/posix/output.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/storage/posix/file.hpp>
#include <smdebug/storage/posix/output.hpp>

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace smdebug::inline v1::detail::posix {

SMDEBUG_INLINE void fail_writing(const std::string& path, int code, const std::string& doing) {
    const char* const why = code == ENOSPC || code == EDQUOT ? "the disk is full; make room on it"
                            : code == EFBIG                  ? "the disk is full, or the file larger than it may be"
                            : code == ENOENT ? "a folder on the way to it, or its temporary file, was removed meanwhile"
                                             : nullptr;
    if (why == nullptr) {
        fail(doing, path, code);
    }
    throw unavailable(doing + " " + path + ": " + why + " (" + std::generic_category().message(code) + ")",
                      {.where = path});
}

SMDEBUG_INLINE void refuse_special_file(const std::string& path) {
    struct ::stat facts {};
    constexpr std::string_view of_processes = "/proc/";  // where /dev/stdout leads, also if that is a file
    std::array<char, of_processes.size()> target{};
    const ::ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
    const bool is_stream = length > 0 && std::string_view{target.data(), target.size()} == of_processes;
    const bool is_other = ::stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode);
    if (is_stream || is_other) {
        throw unavailable(
            "cannot write " + path + ": it is a pipe, a device, a socket or a stream of the program; name a file",
            {.where = path});
    }
}

SMDEBUG_INLINE std::size_t make_folders_above(const std::string& path, readable_by whom) {
    const std::size_t slash = path.rfind('/');
    const std::string folder = path.substr(0, path.find_last_not_of('/', slash) + 1);  // "a" for "a//b"
    if (slash == std::string::npos || folder.empty()) {
        return std::string::npos;
    }
    const auto make = [&] { return ::mkdir(folder.c_str(), whom == readable_by::owner ? 0700 : 0777) == 0; };
    std::size_t first_made = std::string::npos;
    bool made = make();
    if (!made && errno == ENOENT) {  // from the bottom, as most exist, and those far above may be inaccessible
        first_made = make_folders_above(folder, whom);
        made = make();
    }
    if (!made && errno == ENOENT) {  // the folder above takes no folders: /proc, for one
        throw unavailable("cannot make the folder " + folder + ": " + std::generic_category().message(ENOENT),
                          {.where = folder});
    }
    if (!made && errno != EEXIST) {
        fail_writing(folder, errno, "cannot make the folder");
    }
    return made ? std::min(first_made, folder.size()) : first_made;
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

SMDEBUG_INLINE std::string hashed_name(std::string_view text, std::string_view extension) {
    std::string name;
    for (const std::uint64_t seed : {0U, 1U}) {
        std::uint64_t hash = content_hash(as_bytes(text), seed);
        for (std::size_t i = 0; i < hashed_digits / 2; ++i, hash >>= 4U) {
            name += "0123456789abcdef"[hash & 15U];
        }
    }
    return name.append(extension);
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

// The folder of a path, or the one above a folder; that of "/" is itself.
inline std::string folder_of(const std::string& path) {
    const std::size_t end = path.rfind('/');
    return end == std::string::npos ? "." : path.substr(0, std::max<std::size_t>(end, 1));
}
inline bool is_topmost(const std::string& folder) { return folder == "/" || folder == "."; }

SMDEBUG_INLINE void sync_folder_of(const std::string& path) {
    const std::string above = folder_of(path);
    if (const auto folder = open_folder(above)) {
        sync_to_disk(folder->get(), above);
    }
}

SMDEBUG_INLINE void sync_all_folders_above(const std::string& path) {
    std::optional<::dev_t> device;
    std::string above = path;
    do {
        above = folder_of(above);
        const descriptor folder{open_unbroken(above, O_RDONLY | O_DIRECTORY)};
        struct ::stat facts {};
        // An unreadable folder was not made by us, nor was anything above another file system.
        if (folder.get() < 0 || ::fstat(folder.get(), &facts) != 0 || device.value_or(facts.st_dev) != facts.st_dev) {
            return;
        }
        device = facts.st_dev;
        sync_to_disk(folder.get(), above);
    } while (!is_topmost(above));
}

SMDEBUG_INLINE void sync_to_disk(int handle, const std::string& path) {
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

SMDEBUG_INLINE whole_file_output::whole_file_output(std::string path, readable_by whom, std::size_t synced_from)
    : path_(std::move(path)), synced_from_(synced_from) {
    refuse_special_file(path_);
    const ::mode_t rights = whom == readable_by::owner ? 0600 : 0666;
    const std::size_t name = path_.rfind('/') + 1;  // npos + 1 is 0
    const std::size_t dot = path_.rfind('.');
    const std::string stem = path_.substr(0, dot != std::string::npos && dot > name ? dot : std::string::npos)
                                 .append(temporary_mark)
                                 .append(std::to_string(maker_) + ".");
    bool has_made_folders = false;
    for (int number = 0; handle_.get() < 0;) {
        name_ = stem + std::to_string(number);
        handle_ = descriptor{open_unbroken(name_, O_WRONLY | O_CREAT | O_EXCL, rights)};
        if (handle_.get() >= 0) {
            return;
        }
        const int code = errno;
        if (code == ENOENT && !has_made_folders) {
            has_made_folders = true;
            // The first new folder is an entry of the existing one above it, from which on all are synced.
            synced_from_ = std::min(synced_from_, make_folders_above(path_, whom) - 1);
        } else if (code != EEXIST || ++number > most_numbers) {
            // Several writers may work in one folder: the first free name is taken.
            fail_writing(path_, code);
        }
    }
}

SMDEBUG_INLINE whole_file_output::~whole_file_output() {
    if (!name_.empty() && maker_ == process_number()) {
        ::unlink(name_.c_str());
    }
}

SMDEBUG_INLINE void whole_file_output::commit(durability how) {
    if (how == durability::on_disk) {
        sync();
    }
    if (::close(handle_.release()) != 0 || std::rename(name_.c_str(), path_.c_str()) != 0) {
        fail_writing(path_, errno);
    }
    name_.clear();
    for (std::string above = path_; how == durability::on_disk;) {
        above = folder_of(above);
        const auto folder = open_folder(above);
        if (!folder) {
            fail_writing(path_, ENOENT);
        }
        sync_to_disk(folder->get(), above);
        if (is_topmost(above) || above.size() <= synced_from_) {
            return;
        }
    }
}

SMDEBUG_INLINE void write_whole(const std::string& path, byte_view bytes) {
    whole_file_output out{path};
    out.append({&bytes, 1});
    out.commit(durability::cached);
}

}  // namespace smdebug::inline v1::detail::posix
