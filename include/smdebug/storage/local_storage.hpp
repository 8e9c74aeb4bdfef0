// A storage that is a directory on this machine.
// Files are read; large ones can be viewed in place if no one can truncate them meanwhile (posix/file.hpp).
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/storage_base.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1 {

/// The files below a directory; a key is a path relative to it, with '/' between the parts.
/// The directory need not exist yet: it then lists nothing. A key never leaves it: absolute keys and ".." are not
/// found.
/// Threads: everything may be called concurrently. Cost: one open per read; nothing stays open or cached in between.
class local_storage : public storage_base {
public:
    /// The path as users write it: "file:///runs/a", "~/runs/a". A relative path is below the process's current folder
    /// and is not affected if the process changes that later.
    /// Errors: value_error for an empty path, and for anything that is not a path ("s3:/x"); unsupported for S3, and
    /// for an archive's name (.tar, .tar.gz, .zip, ...) unless it is a folder's.
    explicit local_storage(const std::string& root);

    /// A file, or a part of it, cut at its end, in one buffer of its own.
    /// Errors: not_found, access_denied, unavailable (an error of the system), corrupt_data (not a regular file).
    [[nodiscard]] SMDEBUG_INLINE byte_buffer read(std::string_view key, byte_range where = whole_object) const override;

    /// The whole file and its version: size, inode and times, see entries().
    /// Errors: as read().
    [[nodiscard]] SMDEBUG_INLINE versioned_object read_versioned(std::string_view key) const override;

    /// The whole file in the page cache, without a copy; nothing if that is not safe, not worthwhile (also above 1
    /// GiB), or the file does not exist: use read() then. Opening the file for writing blocks while the buffer lives,
    /// see leased_map: hold it briefly.
    [[nodiscard]] SMDEBUG_INLINE std::optional<byte_buffer> view(std::string_view key) const override;

    /// Opens a file for reading in pieces, at one system call each; null if read() would fail.
    [[nodiscard]] SMDEBUG_INLINE std::unique_ptr<opened_object> open(std::string_view key) const override;

    /// Asks the system to prefetch the beginning of a file if it is not cached; returns whether it was.
    /// Costs an open, more than reading a small cached file: see abilities().
    [[nodiscard]] SMDEBUG_INLINE bool read_ahead(std::string_view key) const override;

    /// Many whole files through one buffer. While a large one is processed, the system prefetches the next one.
    /// Cost: an open, a read and a close each; no allocation once the buffer has the size of the largest.
    /// Errors: as read(), and unsupported for a file above 256 MiB, which would need too much memory at once.
    SMDEBUG_INLINE void read_each(std::span<const std::string> keys, object_sink sink) const override;

    /// Parts of files. Adjacent ranges of one file are of one version of it, even if it is replaced meanwhile: it stays
    /// open.
    /// Cost: one open for adjacent ranges, and a read each. Errors: as read().
    SMDEBUG_INLINE void read_ranges(std::span<const object_range> ranges, range_sink sink) const override;

    /// Reading ranges one by one costs about as much as together, and opening a file early for a later read costs more
    /// than it saves; small files are read through one buffer for less than opening each costs.
    [[nodiscard]] storage_abilities abilities() const override {
        return {.batches_ranges = false,
                .reads_ahead = false,
                .opens_small = false,
                .follows = true,
                .writes = true,
                .removes = true,
                .claims = true};
    }

    [[nodiscard]] SMDEBUG_INLINE std::vector<std::string> list(std::string_view prefix,
                                                               std::string_view after) const override;

    /// What the last list() or entries() of each folder passed over: folders below it that may not be listed, and
    /// links to folders that are not there. Copies of this storage share it.
    [[nodiscard]] SMDEBUG_INLINE std::vector<problem> problems() const override;

    /// Lists files with sizes and versions; a version is the size, inode and times of the file. If a file was changed
    /// less than one tick of its file system's clock ago, each call returns another version, as its times do not
    /// distinguish it from the next.
    /// Cost beyond list(): a stat per file.
    [[nodiscard]] SMDEBUG_INLINE std::optional<std::vector<object_entry>> entries(std::string_view prefix,
                                                                                  std::string_view after,
                                                                                  std::size_t most) const override;

    [[nodiscard]] SMDEBUG_INLINE std::optional<std::uint64_t> size(std::string_view key) const override;

    /// When the file was last written, by its file system's clock.
    [[nodiscard]] SMDEBUG_INLINE std::optional<std::chrono::system_clock::time_point> modified(
        std::string_view key) const override;

    /// Lists what is new in the folder `prefix`, which ends in '/'; costs a check of each folder if nothing is new.
    [[nodiscard]] SMDEBUG_INLINE std::unique_ptr<key_follower> follow(std::string_view prefix) const override;

    /// A signal by inotify, from now on; nothing if the system has no more to give. It does not wake for writes of
    /// other machines to a shared file system, nor for changes in the older ones of more than 1,024 folders.
    [[nodiscard]] SMDEBUG_INLINE std::unique_ptr<change_signal> watch(
        std::span<const std::string> prefixes) const override;

    /// The path of the folder, without trailing slashes.
    [[nodiscard]] std::string name() const override { return name_; }

    /// Errors: access_denied, unavailable.
    [[nodiscard]] SMDEBUG_INLINE place_kind place() const override;

    /// Writes under a temporary name in the same folder and renames: the file appears whole or not at all.
    /// Makes missing folders. Errors: those of create().
    SMDEBUG_INLINE void write(std::string_view key, byte_view bytes) override;

    /// Writes a file piece by piece, without a copy. Until the commit list() shows the temporary name, see
    /// posix::whole_file_output.
    /// `on_disk` also syncs all folders from the storage's own down to the file, including those made by others.
    /// Errors: not_found (no key, or a file where a folder should be), access_denied, unavailable (disk full, folder
    /// removed meanwhile, and any other error of the system).
    [[nodiscard]] SMDEBUG_INLINE std::unique_ptr<object_output> create(std::string_view key) override;

    /// Removes a file; returns whether it existed. Its folder stays. Errors: not_found (no key), access_denied,
    /// unavailable. Cost of `on_disk`: a sync of its folder.
    SMDEBUG_INLINE bool remove(std::string_view key, durability how = durability::cached) override;

    /// Holds a key by a locked file of that name, also against other processes. Errors: in_use, and those of create().
    [[nodiscard]] SMDEBUG_INLINE std::unique_ptr<object_claim> claim(std::string_view key,
                                                                     durability how = durability::cached) override;

    /// Whether a live holder has the key, or something is there that cannot be identified. Errors: as remove().
    [[nodiscard]] SMDEBUG_INLINE bool claimed(std::string_view key) const override;

private:
    // Below this size, mapping costs more than copying.
    static constexpr std::uint64_t worth_mapping = std::uint64_t{256} << 10U;
    static constexpr std::uint64_t most_at_once = std::uint64_t{256} << 20U;
    // A mapping is loaded completely before use: a larger one would evict itself from memory.
    static constexpr std::uint64_t most_mapped = std::uint64_t{1} << 30U;

    [[nodiscard]] std::string path_of(std::string_view key) const;

    std::string name_;
    std::string root_;     // absolute
    struct kept_problems;  // its lock would have every user read <mutex>
    std::shared_ptr<kept_problems> passed_over_;
};

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/impl/local_storage.ipp>
#endif
