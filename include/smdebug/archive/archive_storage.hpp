// A storage over an archive: reads a run inside a .tar, .tar.gz, .tar.zst or .zip in place, without unpacking it.
#pragma once

#include <smdebug/archive/directory/contents.hpp>
#include <smdebug/archive/directory/member.hpp>
#include <smdebug/archive/options.hpp>
#include <smdebug/archive/stream/byte_source.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/storage/any_storage.hpp>
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
#include <utility>
#include <vector>

// An archive that is an object of a storage.
namespace smdebug::inline v1 {

class archive_storage;

namespace archive::detail {

/// A folder of an archive that is already open under that path.  Errors: not_found.
[[nodiscard]] archive_storage folder_of(std::shared_ptr<const contents> all, std::string path, std::string_view folder);

/// Reads the object as it was at construction: if its size, version or time has changed since, a read is `unavailable`.
/// Cost of that check: none if the storage returns versions with reads, else one look-up of size and time a read.
class stored_source final : public byte_source {
public:
    /// Errors: not_found, and those of the storage.
    stored_source(any_storage inner, std::string key);

    [[nodiscard]] SMDEBUG_INLINE byte_buffer read(byte_range where) const override;
    SMDEBUG_INLINE void read_many(std::span<const byte_range> ranges, part_sink sink) const override;
    [[nodiscard]] SMDEBUG_INLINE std::size_t read_at(std::uint64_t offset, std::span<std::byte> into) const override;
    [[nodiscard]] std::uint64_t size() const override { return size_; }
    [[nodiscard]] SMDEBUG_INLINE std::string version() const override;
    [[nodiscard]] SMDEBUG_INLINE std::shared_ptr<const byte_source> sibling(std::string_view more) const override;
    [[nodiscard]] std::string name() const override { return smdebug::detail::path_of(inner_, key_); }
    [[nodiscard]] bool batches_ranges() const override { return inner_.abilities().batches_ranges; }

private:
    [[noreturn]] void fail_changed(std::uint64_t offset) const;
    [[nodiscard]] byte_range cut(byte_range where) const noexcept;
    [[nodiscard]] bool changed() const;

    any_storage inner_;
    std::string key_;
    std::uint64_t size_ = 0;
    std::optional<std::chrono::system_clock::time_point> written_;
    object_version version_;
    std::unique_ptr<opened_object> opened_;  // null where reading through the storage costs the same
};

}  // namespace archive::detail

/// The files of an archive, or those below a folder of it; a key is a path relative to that folder.
/// The archive is an object of any storage: a file, an object in S3, bytes in memory.  Every read sees the archive as
/// it was when it was opened: a later change makes reads `unavailable`.  Nothing is written, except an index where
/// archive_options.index_folder says so.
/// Formats, detected by content: tar (ustar, pax, GNU), plain or in gzip or zstd, and zip (stored, deflated, zstd;
/// zip64).
/// Copies are handles on the same opened archive.  Threads: all functions may be called concurrently.
/// Cost: opening reads the directory: all heads of a .tar, the end of a .zip, all of a compressed .tar, inflated once.
///       A read is one read of the inner storage; in a compressed archive up to 2 MiB more than requested are inflated,
///       and cached.
/// Memory: archive_options.memory_bytes, and some 200 bytes a member.
class archive_storage : public storage_base {
public:
    /// Errors: not_found (no such object, or nothing below the folder), unsupported (no archive of a known format),
    ///         corrupt_data (nothing of it can be read), those of the storage.
    archive_storage(any_storage inner, std::string key, std::string_view folder = {},
                    const archive_options& options = {});

    /// Errors: not_found; corrupt_data, with archive, member and offset; unsupported for a member that is sparse,
    ///         encrypted or compressed by another method; those of the storage.
    [[nodiscard]] SMDEBUG_INLINE byte_buffer read(std::string_view key, byte_range where = whole_object) const override;
    SMDEBUG_INLINE void read_each(std::span<const std::string> keys, object_sink sink) const override;
    SMDEBUG_INLINE void read_ranges(std::span<const object_range> ranges, range_sink sink) const override;
    /// A member of a .tar as an object to be read in pieces, each at the cost of its own bytes; null for a member of a
    /// zip, and where read() would fail.
    [[nodiscard]] SMDEBUG_INLINE std::unique_ptr<opened_object> open(std::string_view key) const override;
    [[nodiscard]] SMDEBUG_INLINE std::vector<std::string> list(std::string_view prefix,
                                                               std::string_view after) const override;
    [[nodiscard]] SMDEBUG_INLINE std::optional<std::uint64_t> size(std::string_view key) const override;
    /// The archive's path, and "!/folder" where one was given.
    [[nodiscard]] std::string name() const override { return name_; }
    [[nodiscard]] storage_abilities abilities() const override {
        return {.batches_ranges = contents_->batches_ranges(),
                .views = false,
                .reads_ahead = false,
                .opens_small = contents_->kind() != "zip"};
    }

    /// Where in the archive the bytes of these files begin, as they are read in place: nothing for those that are
    /// missing or compressed, and in a tar.      Errors: corrupt_data, those of the storage.
    /// Cost: a small read for each, all together.
    [[nodiscard]] SMDEBUG_INLINE std::vector<std::optional<std::uint64_t>> stored_places(
        std::span<const std::string> keys) const;

    /// The folders of the archive in which runs lie, "" for its root, regardless of the folder that this storage was
    /// opened with.
    [[nodiscard]] std::vector<std::string> runs() const { return archive::detail::runs_in(contents_->members()); }
    /// Damaged places, a sentence each; everything readable around them is read.
    [[nodiscard]] std::vector<std::string> damage() const;
    /// Damaged places, and the members that are left out; reported for each run in the archive, as any of them may have
    /// lost files.
    [[nodiscard]] SMDEBUG_INLINE std::vector<problem> problems() const override;

    /// The bytes of an index that makes opening the archive fast the next time, when stored beside it under its name
    /// and ".smdx".  Empty where none is needed: for a zip, an archive smaller than 1 MiB, a tar of few members, a
    /// .tar.zst in a single frame; and where none is possible: for a damaged archive, and in storages without versions
    /// or times.  At most some 32 MiB, and 20 to 100 bytes a member.
    /// Errors: those of the storage.  Cost: two reads of the archive.
    [[nodiscard]] byte_buffer index() const { return byte_buffer::take(contents_->index()); }

    /// Another folder of the same archive, which is not read again.  Errors: not_found (nothing lies below the folder).
    [[nodiscard]] archive_storage within(std::string_view folder) const { return {contents_, path_, folder}; }

private:
    friend archive_storage archive::detail::folder_of(std::shared_ptr<const archive::detail::contents> all,
                                                      std::string path, std::string_view folder);

    archive_storage(std::shared_ptr<const archive::detail::contents> all, std::string path, std::string_view folder);

    [[nodiscard]] const std::pair<const std::string, archive::detail::member>* find(std::string_view key) const;

    std::shared_ptr<const archive::detail::contents> contents_;
    std::string path_;    // of the archive
    std::string folder_;  // with '/' at its end, or empty
    std::string name_;
};

namespace archive::detail {

/// A run of an archive.
struct opened_run {
    std::string inside = {};  ///< the folder in the archive; its root if empty
    any_storage store;
};

/// An archive that is opened once for all its runs.
struct opened_runs {
    std::string name = {};  ///< of the archive
    std::vector<opened_run> runs = {};
    std::vector<std::string> damage = {};  ///< a sentence for each damaged place of its directory
};

/// The run at `inside` of the archive under `key`; if `inside` is empty, all its runs; if it has none, its root.
/// Nothing if the object is not an archive of a known format.
/// Errors: those of archive_storage.
[[nodiscard]] std::optional<opened_runs> open_runs(const any_storage& folder, const std::string& key,
                                                   std::string_view inside, const archive_options& options);

/// The text of an error that lists the damage.
[[nodiscard]] std::string damage_text(const opened_runs& all);

/// The only run.  Errors: value_error if there are several, corrupt_data if the archive is damaged, unless options say
/// to skip damage.
[[nodiscard]] any_storage only_run(opened_runs all, const archive_options& options);

}  // namespace archive::detail
}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/archive/impl/archive_storage.ipp>
#endif
