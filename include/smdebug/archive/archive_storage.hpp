// A storage that is an archive: a run where it lies, in a .tar, .tar.gz, .tar.zst or .zip, without unpacking it.
#pragma once

#include <smdebug/archive/directory/contents.hpp>
#include <smdebug/archive/directory/member.hpp>
#include <smdebug/archive/options.hpp>
#include <smdebug/archive/stream/stored_source.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/storage/abilities.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/opened_object.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

namespace archive {
namespace detail {

/// An archive's members below a folder of it, whatever storage the archive lies in.
class opened_archive {
public:
    /// Errors: those of contents; not_found where the archive has nothing below `folder`.
    opened_archive(std::shared_ptr<const byte_source> archive, std::string_view folder, const archive_options& options)
        : opened_archive(std::make_shared<const contents>(archive, options), archive->name(), folder) {}
    /// Another folder of one that is open.
    opened_archive(std::shared_ptr<const contents> all, std::string path, std::string_view folder);

    [[nodiscard]] byte_buffer read(std::string_view key, byte_range where) const;
    void read_each(std::span<const std::string> keys, object_sink sink) const;
    void read_ranges(std::span<const object_range> ranges, range_sink sink) const;
    [[nodiscard]] std::unique_ptr<smdebug::detail::opened_object> open(std::string_view key) const;
    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const;
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const;
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    [[nodiscard]] const std::shared_ptr<const contents>& all() const noexcept { return contents_; }

private:
    [[nodiscard]] const std::pair<const std::string, member>* find(std::string_view key) const;

    std::shared_ptr<const contents> contents_;
    std::string path_;    // of the archive
    std::string folder_;  // with '/' at its end, or empty
    std::string name_;
};

}  // namespace detail
}  // namespace archive

/// The files of an archive, or those below a folder of it; a key is a path relative to that.
/// The archive is an object of any storage: a file, an object in S3, bytes in memory.  It is read as it was when it was opened:
/// one that changes since is `unavailable`.  Nothing is written, but for an index where archive_options.index_folder says so.
/// Formats, by content: tar (ustar, pax, GNU), also in gzip or zstd, and zip (stored, deflated, zstd; zip64).
/// Copies are handles on the same opened archive.  Threads: everything may be called at once.
/// Cost: opening reads the directory: of a .tar all heads, of a .zip its end, of a compressed .tar all of it, inflated once.
///       A read is one of the inner storage; compressed, up to 2 MiB are inflated beyond what is wanted, and kept.
/// Memory: archive_options.memory_bytes, some 200 bytes a member.
template <storage Inner>
class archive_storage {
public:
    /// Errors: not_found (no such object, or nothing below the folder), unsupported (no archive of a known format),
    ///         corrupt_data (nothing of it can be read), those of the storage.
    archive_storage(Inner inner, std::string key, std::string_view folder = {}, const archive_options& options = {})
        : opened_(std::make_shared<archive::detail::opened_archive>(
              std::make_shared<archive::detail::stored_source<Inner>>(std::move(inner), std::move(key)), folder,
              options)) {}

    /// Errors: not_found; corrupt_data, with archive, member and offset; unsupported for a member that is sparse, encrypted
    ///         or packed in another way; those of the storage.
    [[nodiscard]] byte_buffer read(std::string_view key) const { return opened_->read(key, {0, UINT64_MAX}); }
    [[nodiscard]] byte_buffer read(std::string_view key, byte_range where) const { return opened_->read(key, where); }
    void read_each(std::span<const std::string> keys, object_sink sink) const { opened_->read_each(keys, sink); }
    void read_ranges(std::span<const object_range> ranges, range_sink sink) const {
        opened_->read_ranges(ranges, sink);
    }
    /// A member of a .tar to be read in pieces, at the cost of their bytes; null for one of a zip, and where read() will
    /// fail.
    [[nodiscard]] std::unique_ptr<smdebug::detail::opened_object> open(std::string_view key) const {
        return opened_->open(key);
    }
    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const {
        return opened_->list(prefix, after);
    }
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const { return opened_->size(key); }
    /// The archive's path, and "!/folder" where one was given.
    [[nodiscard]] std::string name() const { return opened_->name(); }
    [[nodiscard]] storage_abilities abilities() const {
        return {.batches_ranges = opened_->all()->batches_ranges(), .opens_small = opened_->all()->kind() != "zip"};
    }

    /// The folders of the archive in which runs lie, "" for its root, whatever folder was given.
    [[nodiscard]] std::vector<std::string> runs() const { return archive::detail::runs_in(opened_->all()->members()); }
    /// What is damaged, a sentence each with the place: what can be read around it is read.
    [[nodiscard]] std::vector<std::string> damage() const;
    /// The same, and members that are left out: of each run in the archive, as any of them may have lost files.
    [[nodiscard]] std::vector<problem> problems() const;

    /// What opening the archive again is quick with, once it lies beside it under its name and ".smdx"; empty for what needs
    /// none: a zip, what is smaller than 1 MiB, a tar of few members, a .tar.zst in a single frame; and where none can be:
    /// of what is damaged, and in storages that tell neither versions nor times.  At most some 32 MiB, and 20 to 100 bytes a member.
    /// Errors: those of the storage.  Cost: two reads of the archive.
    [[nodiscard]] byte_buffer index() const { return byte_buffer::take(opened_->all()->index()); }

    /// Another folder of the same archive, which is not read again.  Errors: not_found (nothing lies below it).
    [[nodiscard]] archive_storage within(std::string_view folder) const {
        return archive_storage{
            std::make_shared<archive::detail::opened_archive>(opened_->all(), opened_->path(), folder)};
    }

    /// Of an archive that is open already.
    explicit archive_storage(std::shared_ptr<const archive::detail::opened_archive> opened)
        : opened_(std::move(opened)) {}

private:
    std::shared_ptr<const archive::detail::opened_archive> opened_;
};

template <storage Inner>
std::vector<std::string> archive_storage<Inner>::damage() const {
    std::vector<std::string> places;
    for (const archive::detail::damaged_place& one : opened_->all()->members().damage) {
        places.push_back("at byte " + std::to_string(one.offset) + ": " + one.what);
    }
    return places;
}

template <storage Inner>
std::vector<problem> archive_storage<Inner>::problems() const {
    std::vector<problem> all;
    for (const archive::detail::damaged_place& one : opened_->all()->members().damage) {
        all.push_back({.kind = problem_kind::damaged,
                       .where = opened_->path() + ", byte " + std::to_string(one.offset),
                       .what = "the archive is damaged: " + one.what});
    }
    for (const problem& one : opened_->all()->members().problems) {
        all.push_back({.kind = one.kind, .where = opened_->path() + one.where, .what = one.what});
    }
    return all;
}

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/archive/impl/archive_storage.ipp>
#endif
