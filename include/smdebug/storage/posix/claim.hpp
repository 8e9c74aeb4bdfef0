// Holding a file's name for one process alone: a locked file, so that the system lets go of it when the holder dies.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/storage/posix/file.hpp>
#include <smdebug/storage/posix/output.hpp>
#include <smdebug/storage/writable.hpp>

#include <unistd.h>

#include <cstdint>
#include <string>

namespace smdebug {
inline namespace v1 {
namespace detail {
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
[[nodiscard]] bool leads_to(const std::string& path, int handle) noexcept;

/// Milliseconds for which a taker goes on trying, and how often it begins again when the file has changed hands.
inline constexpr int takers_patience = 5;
inline constexpr int most_attempts = 100;

enum class lock_result : std::uint8_t { taken, refused, impossible };

/// Takes a lock (LOCK_EX, LOCK_SH) that goes when the file is closed for the last time, in whatever process.
/// `patience`: milliseconds to go on for, as somebody may just be looking at it.
[[nodiscard]] lock_result try_lock(int handle, int kind, int patience);

/// Looks at a claim.  `to_take`: by whoever wants to take it over from a dead holder; else it is only looked at.
/// Errors: access_denied, unavailable.
[[nodiscard]] claim_state look_at_claim(const std::string& path, bool to_take);

/// Whether anyone alive holds the claim, or nobody can tell.  Disturbs nobody.  Errors: access_denied, unavailable.
[[nodiscard]] bool is_claimed(const std::string& path);

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
    /// Makes the folders on the way; they stay.  `on_disk`: the file has its name when it is on the disk, and the folders
    /// on the way to it, to the top of their file system, are on the disk, too, whoever made them.  Whoever finds it
    /// after a loss of power can tell then whose it was.
    /// Errors: in_use (somebody alive holds it, or nobody can tell; where() is the path), and those of
    /// whole_file_output.  Waits for nobody; 5 ms before it says in_use.
    explicit file_claim(std::string path, durability how = durability::cached);
    file_claim(file_claim&& other) noexcept;
    file_claim& operator=(file_claim&& other) noexcept;
    file_claim(const file_claim&) = delete;
    file_claim& operator=(const file_claim&) = delete;
    ~file_claim();

    /// Whether the file is still there, and no other in its place.  True for ever where the file system does not tell
    /// its files apart.      Cost: two looks at the file, some microseconds.
    [[nodiscard]] bool holds() const noexcept {
        return handle_.get() >= 0 && (!is_found_ || leads_to(path_, handle_.get()));
    }

    /// Removes the file, unless it was removed or replaced by others, and lets go of it.  Errors: access_denied,
    /// unavailable when it cannot be removed; it is let go of all the same.
    void release();

private:
    // Makes the file, locked and written before it has its name; false when somebody else was faster.
    [[nodiscard]] bool make(durability how);

    // Without links.  Until its line is written it is empty, and that counts as held.
    [[nodiscard]] bool make_in_place(durability how);

    void write_line(int handle, int patience) const;

    std::string path_;
    descriptor handle_{-1};
    ::pid_t holder_ = ::getpid();
    bool is_found_ = false;  // under its name, when it was new
};

static_assert(object_claim<file_claim>);

}  // namespace posix
}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/posix/impl/claim.ipp>
#endif
