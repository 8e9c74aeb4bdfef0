// A storage over an archive: reads a run inside a .tar, .tar.gz, .tar.zst or .zip in place, without unpacking it.
#pragma once

#include <smdebug/archive/directory/contents.hpp>
#include <smdebug/archive/directory/member.hpp>
#include <smdebug/archive/options.hpp>
#include <smdebug/archive/stream/byte_source.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/batch_read.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/writable.hpp>

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
namespace archive::detail {

/// Reads the object as it was at construction: if its size, version or time has changed since, a read is `unavailable`.
/// Cost of that check: none if the storage returns versions with reads, else one look-up of size and time a read.
template <storage Inner>
class stored_source final : public byte_source {
public:
    /// Errors: not_found, and those of the storage.
    stored_source(Inner inner, std::string key)
        : stored_source(std::make_shared<const Inner>(std::move(inner)), std::move(key)) {}
    stored_source(std::shared_ptr<const Inner> inner, std::string key)
        : inner_(std::move(inner)), key_(std::move(key)) {
        const std::optional<std::uint64_t> bytes = inner_->size(key_);
        if (!bytes) {
            throw not_found("there is no archive " + name(), {.where = name()});
        }
        size_ = *bytes;
        written_ = time_of(*inner_, key_);
        opened_ = open_object(*inner_, key_);
        const object_range head{key_, {0, 1}};
        read_ranges(
            *inner_, {&head, 1},
            [&](std::size_t, const std::optional<byte_buffer>&, const object_version& version) { version_ = version; });
    }

    [[nodiscard]] byte_buffer read(byte_range where) const override {
        byte_buffer part;
        read_many({&where, 1}, [&](std::size_t, byte_buffer bytes) { part = std::move(bytes); });
        return part;
    }

    void read_many(std::span<const byte_range> ranges, part_sink sink) const override {
        std::vector<object_range> parts;
        parts.reserve(ranges.size());
        for (const byte_range& range : ranges) {
            parts.push_back({key_, cut(range)});
        }
        read_ranges(
            *inner_, parts, [&](std::size_t i, std::optional<byte_buffer> bytes, const object_version& version) {
                if (!bytes || version.differs_from(version_) || bytes->size() < parts[i].where.length || changed()) {
                    fail_changed(parts[i].where.offset);
                }
                sink(i, std::move(*bytes));
            });
    }

    [[nodiscard]] std::size_t read_at(std::uint64_t offset, std::span<std::byte> into) const override {
        if (opened_ == nullptr) {
            return byte_source::read_at(offset, into);
        }
        const byte_range part = cut({offset, into.size()});
        const std::size_t length = opened_->read_at(part.offset, into.first(static_cast<std::size_t>(part.length)));
        if (length < part.length || changed()) {
            fail_changed(part.offset);
        }
        return length;
    }

    [[nodiscard]] std::uint64_t size() const override { return size_; }
    [[nodiscard]] std::string version() const override {
        if (!version_.tag.empty()) {
            return "tag " + version_.tag;
        }
        return written_ ? "time " + std::to_string(written_->time_since_epoch().count()) : std::string{};
    }
    [[nodiscard]] std::shared_ptr<const byte_source> sibling(std::string_view more) const override {
        std::string key = key_ + std::string{more};
        return inner_->size(key) ? std::make_shared<const stored_source>(inner_, std::move(key)) : nullptr;
    }
    [[nodiscard]] std::string name() const override { return smdebug::detail::path_of(*inner_, key_); }
    [[nodiscard]] bool batches_ranges() const override { return abilities_of(*inner_).batches_ranges; }

private:
    [[noreturn]] void fail_changed(std::uint64_t offset) const {
        throw unavailable("the archive " + name() + " has changed while it was read: open it again",
                          {.where = name(), .offset = offset});
    }
    [[nodiscard]] byte_range cut(byte_range where) const noexcept {
        const std::uint64_t begin = where.offset < size_ ? where.offset : size_;
        return {begin, where.length < size_ - begin ? where.length : size_ - begin};
    }
    [[nodiscard]] bool changed() const {
        if (!version_.tag.empty()) {
            return false;  // each read returns the version
        }
        return inner_->size(key_) != size_ || time_of(*inner_, key_) != written_;
    }

    std::shared_ptr<const Inner> inner_;
    std::string key_;
    std::uint64_t size_ = 0;
    std::optional<std::chrono::system_clock::time_point> written_;
    object_version version_;
    std::unique_ptr<opened_object> opened_;  // null: reading through the storage costs the same
};

/// The members of an archive below one of its folders, whatever storage the archive lies in.
class opened_archive {
public:
    /// Errors: those of contents; not_found where the archive has nothing below `folder`.
    opened_archive(std::shared_ptr<const byte_source> archive, std::string_view folder, const archive_options& options)
        : opened_archive(std::make_shared<const contents>(archive, options), archive->name(), folder) {}
    /// Another folder of an archive that is already open.
    opened_archive(std::shared_ptr<const contents> all, std::string path, std::string_view folder);

    [[nodiscard]] byte_buffer read(std::string_view key, byte_range where) const;
    void read_each(std::span<const std::string> keys, object_sink sink) const;
    void read_ranges(std::span<const object_range> ranges, range_sink sink) const;
    [[nodiscard]] std::unique_ptr<opened_object> open(std::string_view key) const;
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
template <storage Inner>
class archive_storage {
public:
    /// Errors: not_found (no such object, or nothing below the folder), unsupported (no archive of a known format),
    ///         corrupt_data (nothing of it can be read), those of the storage.
    archive_storage(Inner inner, std::string key, std::string_view folder = {}, const archive_options& options = {})
        : opened_(std::make_shared<archive::detail::opened_archive>(
              std::make_shared<archive::detail::stored_source<Inner>>(std::move(inner), std::move(key)), folder,
              options)) {}

    /// Errors: not_found; corrupt_data, with archive, member and offset; unsupported for a member that is sparse,
    ///         encrypted or compressed by another method; those of the storage.
    [[nodiscard]] byte_buffer read(std::string_view key, byte_range where = whole_object) const {
        return opened_->read(key, where);
    }
    void read_each(std::span<const std::string> keys, object_sink sink) const { opened_->read_each(keys, sink); }
    void read_ranges(std::span<const object_range> ranges, range_sink sink) const {
        opened_->read_ranges(ranges, sink);
    }
    /// A member of a .tar as an object to be read in pieces, each at the cost of its own bytes; null for a member of a
    /// zip, and where read() would fail.
    [[nodiscard]] std::unique_ptr<opened_object> open(std::string_view key) const { return opened_->open(key); }
    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const {
        return opened_->list(prefix, after);
    }
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const { return opened_->size(key); }
    /// The archive's path, and "!/folder" where one was given.
    [[nodiscard]] std::string name() const { return opened_->name(); }
    [[nodiscard]] storage_abilities abilities() const {
        return {.batches_ranges = opened_->all()->batches_ranges(), .opens_small = opened_->all()->kind() != "zip"};
    }

    /// The folders of the archive in which runs lie, "" for its root, regardless of the folder that this storage was
    /// opened with.
    [[nodiscard]] std::vector<std::string> runs() const { return archive::detail::runs_in(opened_->all()->members()); }
    /// Damaged places, a sentence each; everything readable around them is read.
    [[nodiscard]] std::vector<std::string> damage() const;
    /// The same, and the members that are left out; reported for each run in the archive, as any of them may have lost
    /// files.
    [[nodiscard]] std::vector<problem> problems() const;

    /// The bytes of an index that makes opening the archive fast the next time, when stored beside it under its name
    /// and ".smdx".  Empty where none is needed: for a zip, an archive smaller than 1 MiB, a tar of few members, a
    /// .tar.zst in a single frame; and where none is possible: for a damaged archive, and in storages without versions
    /// or times.  At most some 32 MiB, and 20 to 100 bytes a member.
    /// Errors: those of the storage.  Cost: two reads of the archive.
    [[nodiscard]] byte_buffer index() const { return byte_buffer::take(opened_->all()->index()); }

    /// Another folder of the same archive, which is not read again.  Errors: not_found (nothing lies below the folder).
    [[nodiscard]] archive_storage within(std::string_view folder) const {
        return archive_storage{
            std::make_shared<archive::detail::opened_archive>(opened_->all(), opened_->path(), folder)};
    }

    /// Wraps an archive that is already open.
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

namespace archive::detail {

/// A run of an archive.
struct opened_run {
    std::string inside = {};  ///< the folder in the archive; empty: its root
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
