// Detects whether a run has changed: a text made of its files' names, sizes and versions, without reading them.
#pragma once

#include <smdebug/batch/search/folder_walk.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/open_storage.hpp>
#include <smdebug/storage/uri.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1 {
namespace detail {

/// 128 bits of the entries that were added, in their order.  Two lists share a digest by chance once in 2^64 pairs or
/// less often.  Not secure against intent.
class version_digest {
public:
    void add(const object_entry& one);
    void add(std::string_view text);
    /// 32 hexadecimal digits.
    [[nodiscard]] std::string text() const;

private:
    std::uint64_t low_ = 0;
    std::uint64_t high_ = 1;
    std::string bytes_ = {};  // of one entry; reused
};

/// Whether a key is that of a file that belongs to a run.
[[nodiscard]] inline bool is_file_of_run(std::string_view key) noexcept {
    return key.starts_with(locations::collections_folder) || key.starts_with(locations::events_folder) ||
           key.starts_with(locations::index_folder) || key == locations::end_of_job ||
           (key.find('/') == std::string_view::npos && key.ends_with(".json"));
}

/// An entry of a storage without versions; nothing if the object was removed.
[[nodiscard]] inline std::optional<object_entry> entry_of(const any_storage& store, std::string key) {
    const std::optional<std::uint64_t> size = store.size(key);
    if (!size) {
        return std::nullopt;
    }
    object_entry entry{.key = std::move(key), .size = *size};
    if (const auto written = store.modified(entry.key)) {
        entry.version = std::to_string(written->time_since_epoch().count());
    }
    return entry;
}

}  // namespace detail

/// The state of a run in a listing.
struct run_files {
    std::string version = {};  ///< 32 hexadecimal digits; changes whenever a file appears, disappears or is written
    std::uint64_t bytes = 0;   ///< the size of all its files, or of its archive
    std::size_t files = 0;
    friend bool operator==(const run_files&, const run_files&) = default;
};

/// The version of the run in a storage; nothing if it has no files of a run: those in collections/, events/ and index/,
/// .json files at its root, and the mark of the job's end.  Other files, such as caches, are ignored.
/// Versions come from entries(): on this machine size, inode and times, in S3 ETags; else sizes, and times if the
/// storage has them.  A file that was written a moment ago may have a different version at each call, so that equal
/// versions always mean equal bytes.
/// Cost: one listing of everything below the root; for a storage without entries() also a size() and a modified() for
///       each file.       Memory: a part of the listing, at most 65,536 files.
/// Errors: those of the storage.
[[nodiscard]] inline std::optional<run_files> run_version(const any_storage& store) {
    const auto is_of_run = [&](std::string_view key) {
        return store.source() != nullptr || detail::is_file_of_run(key);  // logs and checkpoints have any name
    };
    constexpr std::size_t page_keys = std::size_t{1} << 16U;
    run_files all;
    detail::version_digest digest;
    const auto add = [&](const object_entry& one) {
        digest.add(one);
        all.bytes += one.size;
        ++all.files;
    };
    std::string after;
    for (bool goes_on = true; goes_on;) {
        const std::optional<std::vector<object_entry>> page = store.entries("", after, page_keys);
        if (!page) {
            for (std::string& key : store.list("", "")) {
                if (is_of_run(key)) {
                    if (const std::optional<object_entry> one = detail::entry_of(store, std::move(key))) {
                        add(*one);
                    }
                }
            }
            break;
        }
        for (const object_entry& one : *page) {
            if (is_of_run(one.key)) {
                add(one);
            }
        }
        goes_on = page->size() == page_keys;
        after = goes_on ? page->back().key : after;
    }
    if (all.files == 0) {
        return std::nullopt;
    }
    all.version = digest.text();
    return all;
}

/// The version of the run at a path as create_trial() takes it.  For a run in an archive it is made of the archive's
/// own file and the path in it, at the cost of one look-up, without opening the archive.
/// Errors: those of open_storage() for an invalid or unreachable path.
[[nodiscard]] inline std::optional<run_files> run_version_at(std::string_view path,
                                                             const storage_options& options = {}) {
    const std::optional<detail::archive_path> archived = detail::archive_in(path);
    if (!archived) {
        return run_version(detail::open_place(path, options.s3));
    }
    std::optional<object_entry> file;
    if (detail::is_in_s3(archived->folder)) {
        // If the key exists, it is the first one with this prefix.
        const auto first = detail::open_place(archived->folder, options.s3).entries(archived->key, "", 1);
        if (first && !first->empty() && first->front().key == archived->key) {
            file = first->front();
        }
    } else {
        file = detail::file_entry_of(archived->folder, archived->key);
    }
    if (!file) {
        return std::nullopt;
    }
    detail::version_digest digest;
    digest.add(*file);
    digest.add(archived->inside);
    return run_files{.version = digest.text(), .bytes = file->size, .files = 1};
}

namespace detail {

inline void version_digest::add(const object_entry& one) {
    // No key has a byte 0: each entry begins where the last one ends.
    bytes_.assign(one.key).append(1, '\0').append(std::to_string(one.size)).append(1, '\0').append(one.version);
    low_ = content_hash(as_bytes(bytes_), low_);
    high_ = content_hash(as_bytes(bytes_), high_);
}

inline void version_digest::add(std::string_view text) {
    low_ = content_hash(as_bytes(text), low_);
    high_ = content_hash(as_bytes(text), high_);
}

inline std::string version_digest::text() const {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const std::uint64_t half : {high_, low_}) {
        for (unsigned shift = 64; shift != 0; shift -= 4) {
            text.push_back(digits[(half >> (shift - 4)) & 0xFU]);
        }
    }
    return text;
}

}  // namespace detail

}  // namespace smdebug::inline v1
