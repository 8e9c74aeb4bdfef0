// Looking at a whole file without copying it, where nothing can take its bytes away meanwhile.
// A mapping is the only way to reduce a file at the memory's speed, and touching one that was cut short kills the
// process; a lease, which Linux gives on the files of its own disks, makes whoever wants to cut or write it wait.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/storage/posix/file.hpp>

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

// Linux, beyond what <fcntl.h> shows without _GNU_SOURCE, which g++ and clang set for C++.
#if !defined(F_SETLEASE) || !defined(F_SETSIG)
#error "smdebug reads local runs by Linux's file leases; another system is not supported yet"
#endif

namespace smdebug {
inline namespace v1 {
namespace detail {
namespace posix {

/// Whether files on this kind of file system (statfs's f_type) change by this kernel alone, so that its leases bind
/// everybody.
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

/// A whole file in memory as the page cache has it, under a read lease.  Movable; the bytes stay where they are.
/// While it lives, who opens the file for writing or cuts it waits (with O_NONBLOCK: is refused), this thread too:
/// until it is gone, at most for the system's /proc/sys/fs/lease-break-time (45 s).  Then the system takes the lease
/// back, and touching bytes that were cut away ends the process by SIGBUS, as with any mapping.  So: hold it briefly,
/// and never while calling code that may block. Replacing the file by a rename, and removing it, go on as ever; the
/// bytes stay.
class leased_map {
public:
    /// The file's bytes, all of them read into the page cache; nothing where that is not to be had safely: the file is
    /// open for writing somewhere, is another user's, has changed since it was opened, is empty, cannot be read whole,
    /// or lies on a file system that other machines may write to.  Then reading is the way, and tells what is wrong.
    /// Borrows: `of`, for its life: closing it ends the lease.      Cost: some system calls; no copy.
    [[nodiscard]] static std::optional<leased_map> open(const file& of) noexcept;

    leased_map(leased_map&& other) noexcept
        : handle_(std::exchange(other.handle_, -1)), at_(std::exchange(other.at_, nullptr)), size_(other.size_) {}
    leased_map(const leased_map&) = delete;
    leased_map& operator=(const leased_map&) = delete;
    leased_map& operator=(leased_map&&) = delete;
    ~leased_map();

    [[nodiscard]] byte_view view() const noexcept { return {static_cast<const std::byte*>(at_), size_}; }

private:
    explicit leased_map(int handle) noexcept : handle_(handle) {}

    [[nodiscard]] bool map(std::size_t size) noexcept;

    int handle_ = -1;
    void* at_ = nullptr;
    std::size_t size_ = 0;
};

/// Asks the system to read a file (64 MiB of it) that will be wanted soon, if it has not.
/// Returns at once, whether it has.
[[nodiscard]] bool read_ahead(const file& soon) noexcept;

}  // namespace posix
}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/posix/impl/map.ipp>
#endif
