// Opens the storage for a path, chosen at run time, for trials, hooks and the program smdebug.
// <smdebug/s3.hpp> adds S3 (libcurl, OpenSSL, pugixml) to a program, <smdebug/archive.hpp> archives (zlib, libzstd);
// each must be included in one of its files.
#pragma once

#include <smdebug/archive/options.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/formats/options.hpp>
#include <smdebug/s3/options.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/concepts.hpp>

#include <atomic>
#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1 {

/// How places are opened for reading: addresses in S3, archives, data of other tools; and what is cached. Files of a
/// local folder are read directly.
struct storage_options {
    s3_options s3 = {};
    archive_options archive = {};
    /// What kind of data is at a path: runs of the Python package are always read, others if a file of the program
    /// includes <smdebug/formats.hpp>.
    format_options formats = {};
    /// Event files are kept in memory after a read, up to so many bytes: their other tensors then need no request.
    std::uint64_t memory_bytes = std::uint64_t{256} << 20U;
    /// A local folder that keeps event and index files between programs, below the memory, and also indexes of
    /// archives, even local ones; many programs may share it. If empty, SMDEBUG_CACHE_DIR names it, or there is none.
    std::string cache_folder = {};
    std::uint64_t cache_folder_bytes = std::uint64_t{10} << 30U;
    /// Which keys may be cached; all if empty. create_trial() and the program use is_written_once.
    std::function<bool(std::string_view)> cacheable = {};
};

/// Opens for reading: "s3://bucket/prefix", with a cache; otherwise a folder, as local_storage takes its path. Neither
/// need exist yet. An archive in either place: "old.tar.gz", "s3://bucket/old.zip", and "old.tar!/job" for one run of
/// several.
/// Errors: unsupported for S3 in a program of which no file includes <smdebug/s3.hpp>, and for archives if none
/// includes <smdebug/archive.hpp>; value_error for an invalid address or setting, and for an archive of several runs if
/// none is named; those of local_storage's and archive_storage's constructors; corrupt_data for a damaged archive,
/// unless options say that damage is skipped.
[[nodiscard]] any_storage open_storage(std::string_view path, storage_options options = {});

namespace detail {

/// Opens a local folder or a bucket as open_storage() does, but never looks for an archive.
[[nodiscard]] any_storage open_folder(std::string_view path, storage_options options = {});

/// How archives are read: with the cache's folder for their indexes, unless options name another.
[[nodiscard]] archive_options archives_with_cache(const storage_options& options);

/// Opens a folder or a bucket for writing.
[[nodiscard]] any_storage open_place(std::string_view path, const s3_options& options = {});

/// A storage that can be opened for writing by its path alone.
template <class Storage>
concept named_storage =
    writable_storage<Storage> && (std::constructible_from<Storage, std::string> || std::same_as<Storage, any_storage>);

/// Opens such a storage. Errors: those of open_place() or of its constructor.
using place_opener = any_storage (*)(const std::string& path);

/// Opens storages of this type; null if a path is not enough.
template <storage Storage>
[[nodiscard]] constexpr place_opener opener_of() noexcept {
    if constexpr (std::same_as<Storage, any_storage>) {
        return [](const std::string& path) { return open_place(path); };
    } else if constexpr (named_storage<Storage>) {
        return [](const std::string& path) { return any_storage{Storage(path)}; };
    } else {
        return nullptr;
    }
}

// What <smdebug/s3.hpp>, <smdebug/archive.hpp> and <smdebug/formats.hpp> add to a program.

struct s3_openers {
    any_storage (*open_storage)(std::string_view path, const storage_options& options);
    any_storage (*open_place)(std::string_view path, const s3_options& options);
};

struct archive_openers {
    /// The run at `inside` in an archive, or the archive's only run. Nothing if this is not an archive.
    std::optional<any_storage> (*open_run)(const any_storage& folder, const std::string& key, std::string_view inside,
                                           const archive_options& options);
    /// All files of an archive; a name that occurs twice in a zip of text names is a problem.
    /// Errors: those of archive_storage; corrupt_data if it is damaged, unless options say that damage is skipped, and
    /// for a zip whose members share bytes.
    any_storage (*open_files)(const any_storage& folder, const std::string& key, const archive_options& options,
                              archive::detail::member_names names);
    /// Where the bytes of files of a zip that open_files() has opened begin in it: see archive_storage::stored_places().
    std::vector<std::optional<std::uint64_t>> (*stored_places)(const any_storage& files,
                                                               std::span<const std::string> keys);
};

struct format_openers {
    /// The data at a path, as a run: see open_data().
    any_storage (*open_run)(std::string_view path, const storage_options& options);
};

/// Null if no file of the program includes the component's header.
struct path_openers {
    std::atomic<const s3_openers*> s3 = nullptr;
    std::atomic<const archive_openers*> archives = nullptr;
    std::atomic<const format_openers*> formats = nullptr;
};

/// The openers of this program. The library's only global state: objects in the components' headers write it, before
/// main() or when a shared library is loaded, and always with the same values.
[[nodiscard]] path_openers& known_openers() noexcept;

/// The openers of archives. Errors: unsupported, with the path of what needs them, if no file of the program includes
/// <smdebug/archive.hpp>.
[[nodiscard]] const archive_openers& openers_of_archives(std::string_view path);

/// Registers a component: each component's header has one such object.
struct known_component {
    explicit known_component(const s3_openers& given) noexcept { known_openers().s3 = &given; }
    explicit known_component(const archive_openers& given) noexcept { known_openers().archives = &given; }
    explicit known_component(const format_openers& given) noexcept { known_openers().formats = &given; }
};

}  // namespace detail
}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/impl/open_storage.ipp>
#endif
