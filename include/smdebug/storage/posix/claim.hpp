// Holds a file's name for one process exclusively: a locked file, so that the system releases it when the holder dies.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/posix/file.hpp>
#include <smdebug/storage/posix/output.hpp>

#include <string>

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
    SMDEBUG_INLINE ~file_claim() override;

    /// Whether the file still exists and was not replaced. Always true if the file system gives its files no identity.
    /// Cost: two stats of the file, some microseconds.
    [[nodiscard]] bool holds() const override {
        return handle_.get() >= 0 && (!is_found_ || leads_to(path_, handle_.get()));
    }

    /// Removes the file, unless others removed or replaced it, and releases it. Errors: access_denied, unavailable if
    /// it cannot be removed; it is released anyway.
    SMDEBUG_INLINE void release() override;

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

}  // namespace smdebug::inline v1::detail::posix

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/posix/impl/claim.ipp>
#endif
