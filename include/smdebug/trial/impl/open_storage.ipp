// The bodies of <smdebug/trial/open_storage.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/s3/by_path.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/uri.hpp>
#include <smdebug/trial/open_storage.hpp>

#include <cstdlib>
#include <utility>

namespace smdebug {
inline namespace v1 {

SMDEBUG_INLINE any_storage open_storage(std::string_view path, storage_options options) {
    switch (kind_of(path)) {
        case uri_kind::directory:
            return any_storage{local_storage{std::string{local_path(path)}}};
        case uri_kind::s3: {
            // Read once, at opening; nobody else in this library writes the environment.
            const char* const set = std::getenv("SMDEBUG_CACHE_DIR");  // NOLINT(concurrency-mt-unsafe)
            std::string folder = !options.cache_folder.empty() ? std::move(options.cache_folder)
                                 : set != nullptr              ? std::string{set}
                                                               : std::string{};
            return s3::storage_of(path, options.s3,
                                  {.memory_bytes = options.memory_bytes,
                                   .folder = std::move(folder),
                                   .folder_bytes = options.cache_folder_bytes});
        }
        case uri_kind::archive:
            throw unsupported(
                "runs in archives cannot be read yet: unpack " + std::string{path} + " and give its folder",
                {.where = std::string{path}});
    }
    throw unsupported("not a path of a run: " + std::string{path}, {.where = std::string{path}});
}

}  // namespace v1
}  // namespace smdebug
