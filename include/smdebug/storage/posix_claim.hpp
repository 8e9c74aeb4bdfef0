// Holding a file's name for one process alone: a locked file, so that the system lets go of it when the holder dies.
// Used by: storage/local_storage.hpp.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/posix_file.hpp>
#include <smdebug/storage/posix_output.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace posix {

/// What stands under the name of a claim.
struct claim_state {
    enum class kind : std::uint8_t {
        free,  ///< nothing
        dead,  ///< a claim whose holder is gone
        held   ///< a claim of somebody alive, or something of which nobody can tell
    };
    kind what = kind::free;
    std::string why = {};  ///< held: the sentence that says by whom, and what can be done
    descriptor lock{-1};   ///< dead: nobody else finds it dead while this lives
};

/// Whether the name is still that of the open file.
[[nodiscard]] inline bool leads_to(const std::string& path, int handle) noexcept {
    struct ::stat named = {};
    struct ::stat opened = {};
    return ::lstat(path.c_str(), &named) == 0 && ::fstat(handle, &opened) == 0 && named.st_dev == opened.st_dev &&
           named.st_ino == opened.st_ino;
}

/// Milliseconds for which a taker goes on trying, and how often it begins again when the file has changed hands.
inline constexpr int takers_patience = 5;
inline constexpr int most_attempts = 100;

enum class lock_result : std::uint8_t { taken, refused, impossible };

/// Takes a lock (LOCK_EX, LOCK_SH) that goes when the file is closed for the last time, in whatever process.
/// `patience`: milliseconds to go on for, as somebody may just be looking at it.
[[nodiscard]] inline lock_result try_lock(int handle, int kind, int patience) {
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

/// Looks at a claim.  `to_take`: by whoever wants to take it over from a dead holder; else it is only looked at.
/// Errors: access_denied, unavailable.
[[nodiscard]] inline claim_state look_at_claim(const std::string& path, bool to_take) {
    using kind = claim_state::kind;
    const auto held = [&](const std::string& why) { return claim_state{.what = kind::held, .why = path + " " + why}; };
    // Not through links, and a pipe must not hang it: what is taken over will be removed.
    const int how = (to_take ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    descriptor handle{::open(path.c_str(), how)};
    while (handle.get() < 0 && errno == EINTR) {
        handle = descriptor{::open(path.c_str(), how)};
    }
    if (handle.get() < 0) {
        if (errno == ELOOP || errno == EISDIR || errno == ENXIO) {
            return held("is not a file.");
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
        return held("is not a file.");
    }
    const lock_result lock =
        to_take ? try_lock(handle.get(), LOCK_EX, takers_patience) : try_lock(handle.get(), LOCK_SH, 0);
    std::array<char, 64> content = {};
    const ::ssize_t got = ::pread(handle.get(), content.data(), content.size(), 0);
    if (got < 0) {
        fail("cannot read", path, errno);
    }
    std::string_view line{content.data(), static_cast<std::size_t>(got)};
    line = line.substr(0, line.find('\n'));
    constexpr std::string_view start = "smdebug, process ";
    if (lock == lock_result::refused) {
        return held("is held by another writer" + (line.starts_with(start) ? " (" + std::string{line} + ")" : "") +
                    ". Wait for its end, or write elsewhere.");
    }
    if (got == 0) {
        return held(
            "is held by a writer that keeps no lock, as the Python package does. If its process is gone, "
            "remove the file.");
    }
    if (!line.starts_with(start)) {
        return held("is there, and is no claim. If nobody needs it, remove the file.");
    }
    if (lock == lock_result::impossible ||
        line.find_first_not_of("0123456789", start.size()) != std::string_view::npos) {
        return held("is held by a writer (" + std::string{line} +
                    ") where the file system has no locks. If its process is gone, remove the file.");
    }
    return {.what = kind::dead, .lock = std::move(handle)};
}

/// Whether anyone alive holds the claim, or nobody can tell.  Disturbs nobody.  Errors: access_denied, unavailable.
[[nodiscard]] inline bool is_claimed(const std::string& path) {
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
        const claim_state seen = look_at_claim(path, false);
        if (seen.what != claim_state::kind::dead || leads_to(path, seen.lock.get())) {
            return seen.what == claim_state::kind::held;
        }
    }
    return true;  // it changes hands all the time
}

/// A file that is held for this process alone until release() or destruction, which remove it; models object_claim.
///
/// The file holds the line "smdebug, process <number>" and is locked (flock).  It gets its name when it is locked and
/// written, so that nobody ever finds a living holder's file otherwise.  When the holder dies, by whatever death, the
/// lock goes, and who comes next removes the file and makes its own.
///
/// A child that was forked and has not called exec keeps the lock alive beyond its parent's death; its copy of this
/// object removes nothing.  Where the file system has no hard links, the file is made in place, with O_EXCL; where it
/// has no locks, it says so in its line, and stays held until it is removed, by release() or by hand.
class file_claim {
public:
    /// Makes the folders on the way; they stay.
    /// Errors: in_use (somebody alive holds it, or nobody can tell; where() is the path), and those of
    /// whole_file_output.  Waits for nobody; 5 ms before it says in_use.
    explicit file_claim(std::string path) : path_(std::move(path)) {
        for (int attempt = 0; attempt < most_attempts; ++attempt) {
            claim_state found = look_at_claim(path_, true);
            if (found.what == claim_state::kind::held) {
                throw in_use(found.why, {.where = path_});
            }
            // While it is locked here, no other taker can have removed it, and no new one have its name.
            if (found.what == claim_state::kind::dead && leads_to(path_, found.lock.get())) {
                remove_file(path_);
            }
            if (make()) {
                is_found_ = leads_to(path_, handle_.get());
                return;
            }
        }
        throw in_use(path_ + " changes hands all the time. Try again.", {.where = path_});
    }
    file_claim(file_claim&& other) noexcept
        : path_(std::move(other.path_)),
          handle_(std::move(other.handle_)),
          holder_(other.holder_),
          is_found_(other.is_found_) {}
    file_claim& operator=(file_claim&& other) noexcept {
        file_claim mine{std::move(other)};  // what this one held goes now, not with `other`
        path_.swap(mine.path_);
        std::swap(handle_, mine.handle_);
        std::swap(holder_, mine.holder_);
        std::swap(is_found_, mine.is_found_);
        return *this;
    }
    file_claim(const file_claim&) = delete;
    file_claim& operator=(const file_claim&) = delete;
    ~file_claim() {
        try {
            release();
        } catch (...) {
            // Whoever comes next will find that nobody holds it.
        }
    }

    /// Whether the file is still there, and no other in its place.  True for ever where the file system does not tell
    /// its files apart.      Cost: two looks at the file, some microseconds.
    [[nodiscard]] bool holds() const noexcept {
        return handle_.get() >= 0 && (!is_found_ || leads_to(path_, handle_.get()));
    }

    /// Removes the file, unless it was removed or replaced by others, and lets go of it.  Errors: access_denied,
    /// unavailable when it cannot be removed; it is let go of all the same.
    void release() {
        const descriptor mine = std::move(handle_);
        if (mine.get() >= 0 && holder_ == ::getpid() && leads_to(path_, mine.get())) {
            remove_file(path_);
        }
    }

private:
    // Makes the file, locked and written before it has its name; false when somebody else was faster.
    [[nodiscard]] bool make() {
        temporary_file made{path_};
        write_line(made.handle(), 0);
        const bool linked = ::link(made.name().c_str(), path_.c_str()) == 0;
        const int code = linked ? 0 : errno;
        // A file server that answers a second time says that the name exists, although it has made it.
        if (linked || (code == EEXIST && leads_to(path_, made.handle()))) {
            handle_ = made.take_handle();
            return true;
        }
        if (code == EPERM || code == ENOTSUP || code == ENOSYS) {
            return make_in_place();
        }
        if (code != EEXIST) {
            fail_writing(path_, code);
        }
        return false;
    }

    // Without links.  Until its line is written it is empty, and that counts as held.
    [[nodiscard]] bool make_in_place() {
        descriptor made{::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)};
        if (made.get() < 0) {
            if (errno != EEXIST) {
                fail_writing(path_, errno);
            }
            return false;
        }
        try {
            write_line(made.get(), takers_patience);
        } catch (...) {
            ::unlink(path_.c_str());
            throw;
        }
        handle_ = std::move(made);
        return true;
    }

    void write_line(int handle, int patience) const {
        const bool locked = try_lock(handle, LOCK_EX, patience) == lock_result::taken;
        const std::string line = "smdebug, process " + std::to_string(holder_) + (locked ? "\n" : ", without a lock\n");
        const byte_view bytes = as_bytes(line);
        write_pieces(handle, {&bytes, 1}, path_);
    }

    std::string path_;
    descriptor handle_{-1};
    ::pid_t holder_ = ::getpid();
    bool is_found_ = false;  // under its name, when it was new
};

static_assert(observable_claim<file_claim>);

}  // namespace posix
}  // namespace v1
}  // namespace smdebug
