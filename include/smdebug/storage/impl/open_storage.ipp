// The bodies of <smdebug/storage/open_storage.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/open_storage.hpp>
#include <smdebug/storage/uri.hpp>

#include <cstdlib>
#include <utility>

namespace smdebug::inline v1 {
namespace detail {

SMDEBUG_INLINE path_openers& known_openers() noexcept {
    static constinit path_openers known;
    return known;
}

[[nodiscard]] inline const s3_openers& openers_of_s3(std::string_view path) {
    const s3_openers* const known = known_openers().s3;
    if (known == nullptr) {
        throw unsupported(
            "this program was built without S3, so that it cannot open " + std::string{path} +
                ": include <smdebug/s3.hpp> in one of its files and link smdebug::s3 (libcurl, OpenSSL, pugixml)",
            {.where = std::string{path}});
    }
    return *known;
}

SMDEBUG_INLINE const archive_openers& openers_of_archives(std::string_view path) {
    const archive_openers* const known = known_openers().archives;
    if (known == nullptr) {
        throw unsupported("this program was built without archives, so that it cannot open " + std::string{path} +
                              ": include <smdebug/archive.hpp> in one of its files and link smdebug::archive (zlib, "
                              "libzstd)",
                          {.where = std::string{path}});
    }
    return *known;
}

SMDEBUG_INLINE any_storage open_place(std::string_view path, const s3_options& options) {
    if (!is_in_s3(path)) {
        return any_storage{local_storage{std::string{path}}};
    }
    return openers_of_s3(path).open_place(path, options);
}

/// SMDEBUG_CACHE_DIR if options name no folder; empty if there is none.
[[nodiscard]] inline std::string cache_folder_of(const storage_options& options) {
    // Read once, at opening; nothing else in this library writes the environment.
    const char* const set = std::getenv("SMDEBUG_CACHE_DIR");  // NOLINT(concurrency-mt-unsafe)
    const std::string folder = options.cache_folder.empty() && set != nullptr ? set : options.cache_folder;
    return folder.empty() ? folder : local_path(folder);
}

SMDEBUG_INLINE archive_options archives_with_cache(const storage_options& options) {
    archive_options how = options.archive;
    if (how.index_folder.empty()) {
        how.index_folder = cache_folder_of(options);
    }
    return how;
}

SMDEBUG_INLINE any_storage open_folder(std::string_view path, storage_options options) {
    if (!is_in_s3(path)) {
        return any_storage{local_storage{std::string{path}}};
    }
    options.cache_folder = cache_folder_of(options);
    return openers_of_s3(path).open_storage(path, options);
}

}  // namespace detail

SMDEBUG_INLINE any_storage open_storage(std::string_view path, storage_options options) {
    const std::optional<detail::archive_path> archived = detail::archive_in(path);
    if (!archived) {
        return detail::open_folder(path, std::move(options));
    }
    const bool must_be_archive = archived->is_named_so || !archived->inside.empty();
    const detail::archive_openers* const archives =
        must_be_archive ? &detail::openers_of_archives(path) : detail::known_openers().archives.load();
    if (archives != nullptr) {
        const archive_options how = detail::archives_with_cache(options);
        std::optional<any_storage> run = archives->open_run(detail::open_folder(archived->folder, std::move(options)),
                                                            archived->key, archived->inside, how);
        if (run) {
            return *std::move(run);
        }
    }
    if (must_be_archive) {
        throw unsupported(
            std::string{path} + " is not an archive of a known format: tar, tar.gz, tar.zst and zip are read",
            {.where = std::string{path}});
    }
    return any_storage{local_storage{std::string{path}}};  // reports that a file is there instead
}

}  // namespace smdebug::inline v1
