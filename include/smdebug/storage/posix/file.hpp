// Opens and reads files by POSIX calls, with errors that name the path and the system's reason.
// POSIX instead of <fstream> or <filesystem>, since opening a run means opening ten thousand small files.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace smdebug::inline v1::detail::posix {

/// Whether an errno means that the file does not exist: also for a name that is too long, or a circle of links.
[[nodiscard]] inline bool means_missing(int code) noexcept {
    return code == ENOENT || code == ENOTDIR || code == ENAMETOOLONG || code == ELOOP;
}

/// How far a file system's clock must advance after the time that it gives as the last change of a file or folder,
/// until a further change is sure to change that time: longer than a tick of the kernel, or of a file system with a
/// resolution of one or two seconds.
[[nodiscard]] constexpr std::chrono::nanoseconds guard_of(std::chrono::nanoseconds changed) noexcept {
    using namespace std::chrono_literals;
    return changed % 1s != 0ns ? 50ms : 2100ms;
}

/// Throws the error for `code` (an errno).
[[noreturn]] void fail(const std::string& doing, const std::string& path, int code);

/// A path that stays valid when the process changes its folder. An empty path is returned unchanged, and so is a
/// relative one if the process's folder was removed, so that the system has no path for it.
[[nodiscard]] std::string absolute_path(const std::string& path);

/// The number of this process; a forked child has another one.
[[nodiscard]] inline long process_number() noexcept { return ::getpid(); }

/// openat(), repeated if a signal interrupts it, which happens on slow file systems.
[[nodiscard]] inline int open_unbroken(int folder, const char* name, int flags, ::mode_t rights = 0) noexcept {
    int handle = -1;
    do {
        handle = ::openat(folder, name, flags | O_CLOEXEC, rights);
    } while (handle < 0 && errno == EINTR);
    return handle;
}
[[nodiscard]] inline int open_unbroken(const std::string& path, int flags, ::mode_t rights = 0) noexcept {
    return open_unbroken(AT_FDCWD, path.c_str(), flags, rights);
}

/// Owns a file descriptor.
class descriptor {
public:
    explicit descriptor(int number) noexcept : number_(number) {}
    descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    descriptor& operator=(descriptor&& other) noexcept;
    descriptor(const descriptor&) = delete;
    descriptor& operator=(const descriptor&) = delete;
    ~descriptor();
    [[nodiscard]] int get() const noexcept { return number_; }
    [[nodiscard]] int release() noexcept { return std::exchange(number_, -1); }

private:
    int number_;
};

/// Opens a folder, to sync it or to open files relative to it; nothing if there is none.
/// Errors: access_denied, unavailable.
[[nodiscard]] std::optional<descriptor> open_folder(const std::string& path);

/// A buffer that is reused from file to file and not initialised: its users overwrite it.
class scratch_buffer {
public:
    /// Room for `size` bytes; the contents are lost if it has to grow.
    [[nodiscard]] std::span<std::byte> at_least(std::size_t size);

private:
    std::unique_ptr<std::byte[]> bytes_;
    std::size_t size_ = 0;
};

/// What the system said of a regular file.
class file_facts {
public:
    explicit file_facts(const struct ::stat& said) noexcept : said_(said) {}

    [[nodiscard]] std::uint64_t size() const noexcept { return static_cast<std::uint64_t>(said_.st_size); }
    /// When it was last written, by its file system's clock.
    [[nodiscard]] std::chrono::system_clock::time_point modified() const noexcept;
    /// A text that changes whenever the file's bytes change: its size, inode and times. If the file was changed a
    /// moment ago, it may change again before the file system's clock ticks: the text is then unique.
    [[nodiscard]] std::string version() const;

private:
    struct ::stat said_;
};

/// The facts of a file; nothing if there is no regular file of that name. Errors: access_denied, unavailable.
[[nodiscard]] std::optional<file_facts> facts_of(const std::string& path);
/// The facts of a file by its name in an open folder; nothing if there is no regular file of that name, or if the
/// folder may only be listed. `folder_name` is for messages.
[[nodiscard]] std::optional<file_facts> facts_of(const descriptor& folder, const std::string& name,
                                                 const std::string& folder_name);

/// A regular file, open for reading.
class file {
public:
    /// Errors: not_found, access_denied, unavailable; corrupt_data when it is a folder, pipe or device.
    explicit file(std::string path);

    /// Opens a file below `folder`; nothing if there is no such file. `folder_name` is for messages.
    [[nodiscard]] static std::optional<file> open_if_there(const descriptor& folder, const std::string& name,
                                                           const std::string& folder_name);

    /// As of its opening.
    [[nodiscard]] std::uint64_t size() const noexcept { return facts_.size(); }
    [[nodiscard]] std::chrono::system_clock::time_point modified() const noexcept { return facts_.modified(); }
    /// As of now.
    [[nodiscard]] std::string version() const { return facts().version(); }
    /// For system calls; this object closes it.
    [[nodiscard]] int handle() const noexcept { return handle_.get(); }

    /// Reads until `into` is full or the file ends; returns the number of bytes read.
    [[nodiscard]] std::size_t read_at(std::uint64_t offset, std::span<std::byte> into) const;

    /// A part of the file, cut at its end as of its opening, in a buffer of its own.
    [[nodiscard]] byte_buffer read(byte_range where = whole_object) const;

    /// Reads the whole file into `buffer`, up to the size at opening if the file is growing.
    /// The bytes are valid until the buffer is used again.
    [[nodiscard]] byte_view read_all(scratch_buffer& buffer) const;

private:
    file(std::string path, descriptor handle);

    [[nodiscard]] file_facts facts() const;

    std::string path_;
    descriptor handle_;
    file_facts facts_;
};

/// Sets the file's times to now, if the system permits it.
inline void touch(const std::string& path) noexcept {
    static_cast<void>(::utimensat(AT_FDCWD, path.c_str(), nullptr, 0));
}

}  // namespace smdebug::inline v1::detail::posix

// Views a whole file without copying it, if nothing can truncate it meanwhile.
// Only a mapping lets a file be reduced at the memory's speed, but touching a truncated one kills the process. A lease,
// which Linux grants on files of local disks, makes a process that wants to truncate or write the file wait.
// Linux, beyond what <fcntl.h> shows without _GNU_SOURCE, which g++ and clang set for C++.
#if !defined(F_SETLEASE) || !defined(F_SETSIG)
#error "smdebug reads local runs by Linux's file leases; another system is not supported yet"
#endif

namespace smdebug::inline v1::detail::posix {

/// Whether files on this kind of file system (statfs's f_type) change through this kernel only, so that its leases bind
/// every writer.
[[nodiscard]] constexpr bool leases_bind(std::uint32_t kind) noexcept {
    constexpr std::array<std::uint32_t, 8> known{
        0xEF53,      // ext2, ext3, ext4
        0x58465342,  // xfs
        0x9123683E,  // btrfs
        0x01021994,  // tmpfs
        0x858458F6,  // ramfs
        0xF2F52010,  // f2fs
        0x2FC12FC1,  // zfs
        0xCA451A4E,  // bcachefs
    };
    return std::find(known.begin(), known.end(), kind) != known.end();
}

/// A whole file in memory, in the page cache, under a read lease. Movable; the bytes do not move.
/// While it lives, opening the file for writing or truncating it blocks (with O_NONBLOCK: fails), in this thread too:
/// until this object is destroyed, at most for the system's /proc/sys/fs/lease-break-time (45 s). Then the system
/// revokes the lease, and touching truncated bytes ends the process by SIGBUS, as with any mapping. So hold it briefly,
/// and never while calling code that may block. Replacing the file by a rename, or removing it, is not blocked; the
/// bytes stay.
class leased_map {
public:
    /// The file's bytes, all of them read into the page cache; nothing if that is not safe: the file is open for
    /// writing somewhere, belongs to another user, has changed since it was opened, is empty, cannot be read whole, or
    /// is on a file system to which other machines may write. Read the file then, which reports any error.
    /// Borrows: `of`, for its life: closing it ends the lease. Cost: some system calls; no copy.
    [[nodiscard]] static std::optional<leased_map> open(const file& of) noexcept;

    leased_map(leased_map&& other) noexcept
        : handle_(std::exchange(other.handle_, -1)), bytes_(std::exchange(other.bytes_, {})) {}
    leased_map(const leased_map&) = delete;
    leased_map& operator=(const leased_map&) = delete;
    leased_map& operator=(leased_map&&) = delete;
    ~leased_map();

    [[nodiscard]] byte_view view() const noexcept { return bytes_; }

private:
    explicit leased_map(int handle) noexcept : handle_(handle) {}

    int handle_;
    byte_view bytes_ = {};
};

/// Asks the system to prefetch a file (64 MiB of it) unless it is cached.
/// Returns at once, with whether it was cached.
[[nodiscard]] bool read_ahead(const file& soon) noexcept;

}  // namespace smdebug::inline v1::detail::posix

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/posix/impl/file.ipp>
#endif
