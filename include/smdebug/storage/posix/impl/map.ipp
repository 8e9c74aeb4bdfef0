// The bodies of <smdebug/storage/posix/map.hpp>.
#pragma once

#include <smdebug/storage/posix/map.hpp>

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>

#include <csignal>

namespace smdebug {
inline namespace v1 {
namespace detail {
namespace posix {

SMDEBUG_INLINE std::optional<leased_map> leased_map::open(const file& of) noexcept {
    const int handle = of.handle();
    struct ::statfs system = {};
    if (of.size() == 0 || ::fstatfs(handle, &system) != 0 || !leases_bind(static_cast<std::uint32_t>(system.f_type))) {
        return std::nullopt;
    }
    // Who breaks the lease sends a signal.  It is to be one that does nothing, and then to go to nobody.
    if (::fcntl(handle, F_SETSIG, SIGURG) != 0 || ::fcntl(handle, F_SETLEASE, F_RDLCK) != 0) {
        return std::nullopt;
    }
    static_cast<void>(::fcntl(handle, F_SETOWN, 0));
    leased_map made{handle};
    // It may have been cut before the lease came.
    struct ::stat now = {};
    if (::fstat(handle, &now) != 0 || static_cast<std::uint64_t>(now.st_size) != of.size() ||
        !made.map(static_cast<std::size_t>(of.size()))) {
        return std::nullopt;
    }
    return made;
}

SMDEBUG_INLINE leased_map::~leased_map() {
    if (at_ != nullptr) {
        ::munmap(at_, size_);
    }
    if (handle_ >= 0) {
        static_cast<void>(::fcntl(handle_, F_SETLEASE, F_UNLCK));
    }
}

SMDEBUG_INLINE bool leased_map::map(std::size_t size) noexcept {
    void* const at = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, handle_, 0);
    if (at == MAP_FAILED) {
        return false;
    }
    at_ = at;
    size_ = size;
    // Reads what is not in the page cache yet, and tells of bad disks by an error; touching would by a signal.
    constexpr int populate_read = 22;  // MADV_POPULATE_READ, Linux 5.14
    return ::madvise(at, size, populate_read) == 0;
}

SMDEBUG_INLINE bool read_ahead(const file& soon) noexcept {
    // One byte that is there tells that the file is, mostly: asking for all of a cached file would look at every page.
    std::byte first{};
    struct ::iovec into = {.iov_base = &first, .iov_len = 1};
    if (::preadv2(soon.handle(), &into, 1, 0, RWF_NOWAIT) >= 0) {
        return true;
    }
    constexpr std::uint64_t most = std::uint64_t{64} << 20U;
    const auto length = static_cast<off_t>(std::min(soon.size(), most));
    static_cast<void>(::posix_fadvise(soon.handle(), 0, length, POSIX_FADV_WILLNEED));
    return false;
}

}  // namespace posix
}  // namespace detail
}  // namespace v1
}  // namespace smdebug
