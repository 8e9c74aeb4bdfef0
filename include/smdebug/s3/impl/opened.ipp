// The bodies of <smdebug/s3.hpp>, which is not included here: it would make the component known to programs of the compiled form.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/s3/s3_storage.hpp>
#include <smdebug/storage/cached_storage.hpp>
#include <smdebug/storage/open_storage.hpp>

namespace smdebug::inline v1::s3::detail {

SMDEBUG_INLINE any_storage open_storage(std::string_view path, const storage_options& options) {
    return cached_storage{s3_storage{path, options.s3},
                          {.memory_bytes = options.memory_bytes,
                           .folder = options.cache_folder,
                           .folder_bytes = options.cache_folder_bytes,
                           .cacheable = options.cacheable}};
}

SMDEBUG_INLINE any_storage open_place(std::string_view path, const s3_options& options) {
    return s3_storage{path, options};
}

}  // namespace smdebug::inline v1::s3::detail
