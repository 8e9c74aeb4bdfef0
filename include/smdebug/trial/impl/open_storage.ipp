// The bodies of <smdebug/trial/open_storage.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/s3/by_path.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/uri.hpp>
#include <smdebug/trial/open_storage.hpp>

#include <cstdlib>

namespace smdebug {
inline namespace v1 {

SMDEBUG_INLINE any_storage open_storage(std::string_view path, storage_options options) {
    switch (kind_of(path)) {
        case uri_kind::directory:
            return any_storage{local_storage{std::string{local_path(path)}}};
        case uri_kind::s3: {
            // Read once, at opening; nobody else in this library writes the environment.
            const char* const set = std::getenv("SMDEBUG_CACHE_DIR");  // NOLINT(concurrency-mt-unsafe)
            if (options.cache_folder.empty() && set != nullptr) {
                options.cache_folder = set;
            }
            return s3::storage_of(path, options);
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
