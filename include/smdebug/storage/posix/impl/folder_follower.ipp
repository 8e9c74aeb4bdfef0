// The bodies of <smdebug/storage/posix/folder_follower.hpp>.
#pragma once

#include <smdebug/storage/posix/folder_follower.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>

namespace smdebug::inline v1::detail::posix {

SMDEBUG_INLINE folder_look folder_system::look(int base, const char* name) noexcept {
    struct ::statx info = {};
    if (::statx(base, name, AT_EMPTY_PATH | AT_STATX_FORCE_SYNC,
                STATX_TYPE | STATX_INO | STATX_SIZE | STATX_MTIME | STATX_CTIME, &info) != 0) {
        return {.is = means_missing(errno) ? folder_look::state::missing : folder_look::state::unknown};
    }
    if (!S_ISDIR(info.stx_mode)) {
        return {.is = folder_look::state::missing};
    }
    return {.is = folder_look::state::there,
            .stamp = {.self = {makedev(info.stx_dev_major, info.stx_dev_minor), info.stx_ino},
                      .changed = since_1970(info.stx_ctime),
                      .modified = since_1970(info.stx_mtime),
                      .size = info.stx_size}};
}

SMDEBUG_INLINE bool folder_system::trusts(int folder) noexcept {
    struct ::statfs info = {};
    return ::fstatfs(folder, &info) == 0 && moves_folder_times(static_cast<std::uint32_t>(info.f_type));
}

SMDEBUG_INLINE std::chrono::nanoseconds folder_system::since_1970(const ::statx_timestamp& at) noexcept {
    // A damaged file system may report any number: the difference of two must also fit.
    constexpr std::int64_t farthest = 4'600'000'000;
    return std::chrono::seconds{std::clamp<std::int64_t>(at.tv_sec, -farthest, farthest)} +
           std::chrono::nanoseconds{at.tv_nsec};
}

}  // namespace smdebug::inline v1::detail::posix
