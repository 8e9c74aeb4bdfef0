// Holds a file's name for one process exclusively: a locked file, so that the system releases it when the holder dies.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/posix/file.hpp>
#include <smdebug/storage/posix/output.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace smdebug::inline v1::detail::posix {

/// Whether the name is still that of the open file.
[[nodiscard]] bool leads_to(const std::string& path, int handle) noexcept;

/// Whether a live holder has the claim, or that cannot be determined. Disturbs no holder. Errors: access_denied,
/// unavailable.
[[nodiscard]] bool is_claimed(const std::string& path);

/// A file that this process holds exclusively until release() or destruction, which remove it.
///
/// The file contains the line "smdebug, process <number>" and is locked (flock). It gets its name after it is locked
/// and written, so that a live holder's file is never seen in another state. However the holder dies, the lock
/// ends, and the next taker removes the file and makes its own.
///
/// A child that was forked and has not called exec keeps the lock alive beyond its parent's death; its copy of this
/// object removes nothing. If the file system has no hard links, the file is made in place, with O_EXCL; if it has no
/// locks, the file's line says so, and the claim is held until the file is removed, by release() or by hand.
class file_claim final : public object_claim {
public:
    /// Makes missing folders, which stay. `on_disk`: the file is on disk before it gets its name, and so are all
    /// folders above it, up to the top of their file system, including those made by others. After a loss of power the
    /// file still shows its holder.
    /// Errors: in_use (a live holder has it, or that cannot be determined; where() is the path), and those of
    /// whole_file_output. Never waits for a holder; tries for 5 ms before in_use.
    explicit file_claim(std::string path, durability how = durability::cached);
    inline ~file_claim() override;

    /// Whether the file still exists and was not replaced. Always true if the file system gives its files no identity.
    /// Cost: two stats of the file, some microseconds.
    [[nodiscard]] bool holds() const override {
        return handle_.get() >= 0 && (!is_found_ || leads_to(path_, handle_.get()));
    }

    /// Removes the file, unless others removed or replaced it, and releases it. Errors: access_denied, unavailable if
    /// it cannot be removed; it is released anyway.
    inline void release() override;

private:
    // Makes the file, locked and written before it has its name; false if another process was faster.
    [[nodiscard]] bool make(durability how);

    // Without hard links. Until its line is written the file is empty, which counts as held.
    [[nodiscard]] bool make_in_place(durability how);

    // Locks the file, tries that for so many milliseconds, and writes its line.
    void write_line(int handle, int patience, durability how) const;

    std::string path_;
    descriptor handle_{-1};  // locked
    long holder_ = process_number();
    bool is_found_ = false;  // under its name, when it was new
};

inline bool leads_to(const std::string& path, int handle) noexcept {
    struct ::stat named = {};
    struct ::stat opened = {};
    return ::lstat(path.c_str(), &named) == 0 && ::fstat(handle, &opened) == 0 && named.st_dev == opened.st_dev &&
           named.st_ino == opened.st_ino;
}

// How many milliseconds a taker keeps trying, and how often it restarts when the file has changed hands.
inline constexpr int takers_patience = 5;
inline constexpr int most_attempts = 100;
// A claim's line, as far as the number of its process.
inline constexpr std::string_view start_of_line = "smdebug, process ";

// Takes a lock (LOCK_EX, LOCK_SH) that ends when the file is closed for the last time, in whatever process. Returns 0,
// EWOULDBLOCK if others hold it after so many milliseconds (one may just be inspecting the file), or why there is none.
inline int take_lock(int handle, int kind, int patience) {
    while (::flock(handle, kind | LOCK_NB) != 0) {
        if (errno != EINTR && (errno != EWOULDBLOCK || patience-- == 0)) {
            return errno;
        }
        if (errno == EWOULDBLOCK) {
            std::this_thread::sleep_for(std::chrono::milliseconds{1});
        }
    }
    return 0;
}

// What is in the place of a claim: nothing, if neither is set.
struct claim_place {
    std::string held = {};  // by a live holder, or something that cannot be identified: a sentence on it
    descriptor dead{-1};    // the file of a holder that is gone; while it is open, no other taker finds it dead
};

// `to_take`: the caller wants to take it over from a dead holder. Errors: access_denied, unavailable.
inline claim_place look_at_claim(const std::string& path, bool to_take) {
    // Links are not followed, since a claim that is taken over is removed; O_NONBLOCK: a pipe must not block the open.
    const int how = (to_take ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    descriptor handle{open_unbroken(path, how)};
    if (handle.get() < 0 && errno != ELOOP && errno != EISDIR && errno != ENXIO) {
        if (means_missing(errno) || errno == ESTALE) {
            return {};
        }
        fail("cannot open", path, errno);
    }
    struct ::stat info = {};
    if (handle.get() >= 0 && ::fstat(handle.get(), &info) != 0) {
        fail("cannot look at", path, errno);
    }
    if (!S_ISREG(info.st_mode)) {
        return {.held = path + " is not a file."};
    }
    const int locked = take_lock(handle.get(), to_take ? LOCK_EX : LOCK_SH, to_take ? takers_patience : 0);
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
    const bool is_claim = line.starts_with(start_of_line);
    const std::string by = is_claim ? " (" + std::string{line} + ")" : "";
    if (locked == EWOULDBLOCK) {
        return {.held = path + " is held by another writer" + by + ". Wait for its end, or write elsewhere."};
    }
    if (got == 0) {
        return {.held = path +
                        " is held by a writer that keeps no lock, as the Python package does. If its process is gone, "
                        "remove the file."};
    }
    if (!is_claim) {
        return {.held = path + " is there, and is not a claim. If it is not needed, remove the file."};
    }
    if (locked != 0 || line.find_first_not_of("0123456789", start_of_line.size()) != std::string_view::npos) {
        return {.held = path + " is held by a writer" + by +
                        " where the file system has no locks. If its process is gone, remove the file."};
    }
    return {.dead = std::move(handle)};
}

inline bool is_claimed(const std::string& path) {
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
        const claim_place seen = look_at_claim(path, false);
        if (seen.dead.get() < 0 || leads_to(path, seen.dead.get())) {
            return !seen.held.empty();
        }
    }
    return true;  // it keeps changing hands
}

inline file_claim::file_claim(std::string path, durability how) : path_(std::move(path)) {
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
        const claim_place seen = look_at_claim(path_, true);
        if (!seen.held.empty()) {
            throw unavailable(error_code::in_use, seen.held, {.where = path_});
        }
        // While this process has the lock, no other taker removes the file or replaces it.
        if (seen.dead.get() >= 0 && leads_to(path_, seen.dead.get())) {
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
    throw unavailable(error_code::in_use, path_ + " keeps changing hands. Try again.", {.where = path_});
}

inline file_claim::~file_claim() {
    try {
        release();
    } catch (...) {
        // The next taker will find that the holder is gone.
    }
}

inline void file_claim::release() {
    const descriptor mine = std::move(handle_);
    if (mine.get() >= 0 && holder_ == process_number() && leads_to(path_, mine.get())) {
        remove_file(path_);
    }
}

inline bool file_claim::make(durability how) {
    whole_file_output made{path_};  // never committed: removed under its temporary name
    write_line(made.handle(), 0, how);
    const int code = ::link(made.name().c_str(), path_.c_str()) == 0 ? 0 : errno;
    // A network file system may repeat the request: the second one fails with EEXIST although the first made the link.
    if (code == 0 || (code == EEXIST && leads_to(path_, made.handle()))) {
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

inline bool file_claim::make_in_place(durability how) {
    descriptor made{open_unbroken(path_, O_WRONLY | O_CREAT | O_EXCL, 0666)};
    if (made.get() < 0) {
        if (errno != EEXIST) {
            fail_writing(path_, errno);
        }
        return false;
    }
    try {
        write_line(made.get(), takers_patience, how);
    } catch (...) {
        ::unlink(path_.c_str());
        throw;
    }
    handle_ = std::move(made);
    return true;
}

inline void file_claim::write_line(int handle, int patience, durability how) const {
    const bool locked = take_lock(handle, LOCK_EX, patience) == 0;
    const std::string line =
        std::string{start_of_line} + std::to_string(holder_) + (locked ? "\n" : ", without a lock\n");
    const byte_view bytes = as_bytes(line);
    write_pieces(handle, {&bytes, 1}, path_);
    if (how == durability::on_disk) {
        sync_to_disk(handle, path_);
    }
}

}  // namespace smdebug::inline v1::detail::posix
