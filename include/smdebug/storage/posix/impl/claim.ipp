// The bodies of <smdebug/storage/posix/claim.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/storage/posix/claim.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <string_view>
#include <thread>
#include <utility>

namespace smdebug::inline v1::detail::posix {

SMDEBUG_INLINE bool leads_to(const std::string& path, int handle) noexcept {
    struct ::stat named = {};
    struct ::stat opened = {};
    return ::lstat(path.c_str(), &named) == 0 && ::fstat(handle, &opened) == 0 && named.st_dev == opened.st_dev &&
           named.st_ino == opened.st_ino;
}

SMDEBUG_INLINE lock_result try_lock(int handle, int kind, int patience) {
    while (::flock(handle, kind | LOCK_NB) != 0) {
        if (errno != EINTR && errno != EWOULDBLOCK) {
            return lock_result::impossible;
        }
        if (errno == EWOULDBLOCK) {
            if (patience-- == 0) {
                return lock_result::refused;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds{1});
        }
    }
    return lock_result::taken;
}

SMDEBUG_INLINE claim_state look_at_claim(const std::string& path, bool to_take) {
    using kind = claim_state::kind;
    const auto held_because = [&](const std::string& why) {
        return claim_state{.what = kind::held, .why = path + " " + why};
    };
    // Links are not followed, since a claim that is taken over is removed; O_NONBLOCK: a pipe must not block the open.
    const int how = (to_take ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    descriptor handle{open_unbroken(path, how)};
    if (handle.get() < 0) {
        if (errno == ELOOP || errno == EISDIR || errno == ENXIO) {
            return held_because("is not a file.");
        }
        if (means_missing(errno) || errno == ESTALE) {
            return {};
        }
        fail("cannot open", path, errno);
    }
    struct ::stat info = {};
    if (::fstat(handle.get(), &info) != 0) {
        fail("cannot look at", path, errno);
    }
    if (!S_ISREG(info.st_mode)) {
        return held_because("is not a file.");
    }
    const lock_result lock =
        to_take ? try_lock(handle.get(), LOCK_EX, takers_patience) : try_lock(handle.get(), LOCK_SH, 0);
    std::array<char, 64> content = {};
    ::ssize_t got = 0;
    do {
        got = ::pread(handle.get(), content.data(), content.size(), 0);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
        fail("cannot read", path, errno);
    }
    std::string_view line{content.data(), static_cast<std::size_t>(got)};
    line = line.substr(0, line.find('\n'));
    constexpr std::string_view start = "smdebug, process ";
    if (lock == lock_result::refused) {
        return held_because("is held by another writer" +
                            (line.starts_with(start) ? " (" + std::string{line} + ")" : "") +
                            ". Wait for its end, or write elsewhere.");
    }
    if (got == 0) {
        return held_because(
            "is held by a writer that keeps no lock, as the Python package does. If its process is gone, "
            "remove the file.");
    }
    if (!line.starts_with(start)) {
        return held_because("is there, and is not a claim. If it is not needed, remove the file.");
    }
    if (lock == lock_result::impossible ||
        line.find_first_not_of("0123456789", start.size()) != std::string_view::npos) {
        return held_because("is held by a writer (" + std::string{line} +
                            ") where the file system has no locks. If its process is gone, remove the file.");
    }
    return {.what = kind::dead, .lock = std::move(handle)};
}

SMDEBUG_INLINE bool is_claimed(const std::string& path) {
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
        const claim_state seen = look_at_claim(path, false);
        if (seen.what != claim_state::kind::dead || leads_to(path, seen.lock.get())) {
            return seen.what == claim_state::kind::held;
        }
    }
    return true;  // it keeps changing hands
}

SMDEBUG_INLINE file_claim::file_claim(std::string path, durability how) : path_(std::move(path)) {
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
        claim_state seen = look_at_claim(path_, true);
        if (seen.what == claim_state::kind::held) {
            throw in_use(seen.why, {.where = path_});
        }
        // While this process has the lock, no other taker removes the file or replaces it.
        if (seen.what == claim_state::kind::dead && leads_to(path_, seen.lock.get())) {
            remove_file(path_);
        }
        if (make(how)) {
            is_found_ = leads_to(path_, handle_.get());
            if (how == durability::on_disk) {
                try {
                    sync_all_folders_above(path_);
                } catch (...) {
                    release();
                    throw;
                }
            }
            return;
        }
    }
    throw in_use(path_ + " keeps changing hands. Try again.", {.where = path_});
}

SMDEBUG_INLINE file_claim::~file_claim() {
    try {
        release();
    } catch (...) {
        // The next taker will find that the holder is gone.
    }
}

SMDEBUG_INLINE void file_claim::release() {
    const descriptor mine = std::move(handle_);
    if (mine.get() >= 0 && holder_ == ::getpid() && leads_to(path_, mine.get())) {
        remove_file(path_);
    }
}

SMDEBUG_INLINE bool file_claim::make(durability how) {
    temporary_file made{path_};
    write_line(made.handle(), 0);
    if (how == durability::on_disk) {
        made.sync();
    }
    const bool linked = ::link(made.name().c_str(), path_.c_str()) == 0;
    const int code = linked ? 0 : errno;
    // A network file system may repeat the request: the second one fails with EEXIST although the first made the link.
    if (linked || (code == EEXIST && leads_to(path_, made.handle()))) {
        handle_ = made.take_handle();
        return true;
    }
    if (code == EPERM || code == ENOTSUP || code == ENOSYS) {
        return make_in_place(how);
    }
    if (code != EEXIST) {
        fail_writing(path_, code);
    }
    return false;
}

SMDEBUG_INLINE bool file_claim::make_in_place(durability how) {
    descriptor made{open_unbroken(path_, O_WRONLY | O_CREAT | O_EXCL, 0666)};
    if (made.get() < 0) {
        if (errno != EEXIST) {
            fail_writing(path_, errno);
        }
        return false;
    }
    try {
        write_line(made.get(), takers_patience);
        if (how == durability::on_disk) {
            temporary_file::sync(made.get(), path_);
        }
    } catch (...) {
        ::unlink(path_.c_str());
        throw;
    }
    handle_ = std::move(made);
    return true;
}

SMDEBUG_INLINE void file_claim::write_line(int handle, int patience) const {
    const bool locked = try_lock(handle, LOCK_EX, patience) == lock_result::taken;
    const std::string line = "smdebug, process " + std::to_string(holder_) + (locked ? "\n" : ", without a lock\n");
    const byte_view bytes = as_bytes(line);
    write_pieces(handle, {&bytes, 1}, path_);
}

}  // namespace smdebug::inline v1::detail::posix
