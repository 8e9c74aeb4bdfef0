// The bodies of <smdebug/storage/open_storage.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/open_storage.hpp>
#include <smdebug/storage/uri.hpp>

#include <cstdlib>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE void refuse_without_s3(std::string_view path, bool is_there) {
    if (!is_there) {
        throw unsupported(
            "this program was built without S3, so that it cannot open " + std::string{path} +
                ": include <smdebug/s3.hpp> in one of its files and link smdebug::s3 (libcurl, OpenSSL, pugixml)",
            {.where = std::string{path}});
    }
}

SMDEBUG_INLINE any_storage open_place(std::string_view path, const s3_options& options) {
    if (!is_in_s3(path)) {
        return any_storage{local_storage{std::string{path}}};
    }
    refuse_without_s3(path, &s3::detail::open_place != nullptr);
    return s3::detail::open_place(path, options);
}

}  // namespace detail

SMDEBUG_INLINE any_storage open_storage(std::string_view path, storage_options options) {
    if (!detail::is_in_s3(path)) {
        return any_storage{local_storage{std::string{path}}};
    }
    detail::refuse_without_s3(path, &s3::detail::open_storage != nullptr);
    // Read once, at opening; nobody else in this library writes the environment.
    const char* const set = std::getenv("SMDEBUG_CACHE_DIR");  // NOLINT(concurrency-mt-unsafe)
    if (options.cache_folder.empty() && set != nullptr) {
        options.cache_folder = set;
    }
    if (!options.cache_folder.empty()) {
        options.cache_folder = detail::local_path(options.cache_folder);
    }
    return s3::detail::open_storage(path, options);
}

}  // namespace v1
}  // namespace smdebug
