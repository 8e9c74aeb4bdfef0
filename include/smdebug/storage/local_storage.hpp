// A storage that is a directory on this machine.
// Files are read; large ones can be looked at in place, where nobody can cut them short meanwhile (posix_map.hpp).
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/storage/abilities.hpp>
#include <smdebug/storage/change_signal.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/opened_object.hpp>
#include <smdebug/storage/posix/claim.hpp>
#include <smdebug/storage/posix/folder_follower.hpp>
#include <smdebug/storage/posix/output.hpp>
#include <smdebug/storage/versioned_read.hpp>
#include <smdebug/storage/writable.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {

namespace detail::posix {
class file;
class leased_map;
}  // namespace detail::posix

/// The files below a directory; a key is a path relative to it, with '/' between the parts.
/// The directory need not exist yet: it then lists nothing.  A key never leaves it: absolute keys and ".." are not
/// found. Threads: everything may be called at once.  Cost: one open a read; nothing is kept open or cached in between.
class local_storage {
public:
    /// The path as users write it: "file:///runs/a", "~/runs/a".  A relative path is one below the folder that the
    /// process is in now: it stays there when the process changes its folder.
    /// Errors: value_error for an empty path, and for what is no path ("s3:/x"); unsupported for S3, and for
    ///         an archive's name (.tar, .tar.gz, .zip, ...) where no folder has it.
    explicit local_storage(const std::string& root);

    /// The whole file, in one buffer of its own.
    /// Errors:  not_found, access_denied, unavailable (the system's word), corrupt_data (not a regular file).
    [[nodiscard]] byte_buffer read(std::string_view key) const;

    /// A part of it, cut at its end.  Never allocates more than the file holds, whatever the range asks for.
    [[nodiscard]] byte_buffer read(std::string_view key, byte_range where) const;

    /// The whole file, and which version of it: by size, inode and times, see entries().
    /// Errors: as read().
    [[nodiscard]] versioned_object read_versioned(std::string_view key) const;

    /// The whole file as the page cache has it, without a copy; nothing where that is not safe, not worth its while
    /// (above 1 GiB, too), or the file is not there: read() then is the way.  Who opens the file for writing waits
    /// while the buffer lives, see leased_map: hold it briefly.
    [[nodiscard]] std::optional<byte_buffer> view(std::string_view key) const;

    /// Opens a file to be read in pieces, at a system call each; null where read() will fail.
    [[nodiscard]] std::unique_ptr<detail::opened_object> open(std::string_view key) const;

    /// Asks the system to read the beginning of a file, if it has not; returns whether it has.
    /// It costs an open, more than reading a small file that the system has: see abilities().
    [[nodiscard]] bool read_ahead(std::string_view key) const;

    /// Many whole files through one buffer.  While a large one is worked on, the system reads the next one from the
    /// disk. Cost:   an open, a read and a close each; no allocation once the buffer has the size of the largest.
    /// Errors: as read(), and unsupported for a file above 256 MiB: it is not worth that much memory at once.
    void read_each(std::span<const std::string> keys, object_sink sink) const;

    /// Parts of files.  Those of one file that stand next to each other are of one version of it, though another may
    /// come in its place meanwhile: it stays open.  Cost: an open for these, and a read each.  Errors: as read().
    void read_ranges(std::span<const object_range> ranges, range_sink sink) const;

    /// Reading ranges one by one costs about as much as together, and opening twice what is wanted some time later more
    /// than it gives; small files are read through one buffer for less than opening each costs.
    [[nodiscard]] static storage_abilities abilities() noexcept {
        return {.batches_ranges = false, .reads_ahead = false, .opens_small = false};
    }

    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const;

    /// The same with sizes and versions: size, inode and times of the file.  Of a file that was changed less than a
    /// tick of its file system's clock ago, each call gives another version, as its times do not tell it from the next.
    /// Cost: a look at each file, beyond that of list().
    [[nodiscard]] std::vector<object_entry> entries(std::string_view prefix, std::string_view after,
                                                    std::size_t most) const;

    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const;

    /// When the file was last written, by its file system's clock.
    [[nodiscard]] std::optional<std::chrono::system_clock::time_point> modified(std::string_view key) const;

    /// Lists what is new in the folder `prefix`, which ends in '/', at a look a folder when nothing is.
    [[nodiscard]] detail::folder_follower follow(std::string_view prefix) const;

    /// A signal by inotify, from now on.  Nothing when the system has none left.  It is not woken by what other
    /// machines write to a shared file system, nor by what comes into the older ones of more than 1,024 folders.
    [[nodiscard]] std::unique_ptr<change_signal> watch(std::span<const std::string> prefixes) const;

    /// The path of the folder, without slashes at its end.
    [[nodiscard]] std::string name() const { return name_; }

    /// Whether the directory is there.
    [[nodiscard]] bool exists() const;

    /// Whether a file is there in its place.  Errors: access_denied, unavailable.
    [[nodiscard]] bool is_file() const;

    /// Writes under a temporary name in the same folder and renames: the file is there whole or not at all.
    /// Makes the folders on the way.  Errors: those of create().
    void write(std::string_view key, byte_view bytes);

    /// The same piece by piece, without a copy.  Until the commit list() shows the temporary name, see temporary_file.
    /// On the disk it is with all folders from the storage's on, whoever made them.
    /// Errors: not_found (no key, or a file where a folder should be), access_denied, unavailable (disk full, folder
    /// removed meanwhile, and whatever else the system says).
    [[nodiscard]] detail::posix::whole_file_output create(std::string_view key);

    /// Removes a file; returns whether it was there.  Its folder stays.  Errors: not_found (no key), access_denied,
    /// unavailable.
    bool remove(std::string_view key);

    /// Brings to the disk that a file was removed.  Errors: not_found (no key), unavailable.  Cost: a sync of its folder.
    void settle(std::string_view key);

    /// Holds a key, by a locked file under it, also against other processes.  Errors: in_use, and those of create().
    [[nodiscard]] detail::posix::file_claim claim(std::string_view key, durability how = durability::cached);

    /// Whether anyone alive holds the key, or something is there of which nobody can tell.  Errors: as remove().
    [[nodiscard]] bool claimed(std::string_view key) const;

private:
    // Below that, making a mapping costs more than copying.
    static constexpr std::uint64_t worth_mapping = std::uint64_t{256} << 10U;
    static constexpr std::uint64_t most_at_once = std::uint64_t{256} << 20U;
    // A mapping is read whole before it is looked at: what is larger would push itself out of memory again.
    static constexpr std::uint64_t most_mapped = std::uint64_t{1} << 30U;

    [[nodiscard]] static std::optional<detail::posix::leased_map> mapped(const detail::posix::file& of) noexcept;

    [[nodiscard]] static byte_buffer part_of(const detail::posix::file& file, byte_range where);

    [[nodiscard]] std::optional<detail::posix::file> open_if_there(std::string_view key) const;

    [[nodiscard]] std::string path_of(std::string_view key) const;

    std::string name_;
    std::string root_;  // absolute
};

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/impl/local_storage.ipp>
#endif
