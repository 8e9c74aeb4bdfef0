// The bodies of <smdebug/s3.hpp>, which is not included here: it would make the component known to programs of the compiled form.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/s3/s3_storage.hpp>
#include <smdebug/storage/cached_storage.hpp>
#include <smdebug/storage/disk_cache.hpp>
#include <smdebug/storage/open_storage.hpp>

#include <utility>

namespace smdebug::inline v1::s3::detail {

SMDEBUG_INLINE any_storage open_storage(std::string_view path, const storage_options& options) {
    s3_storage<> bucket{path, options.s3};
    if (!options.cache_folder.empty()) {
        return any_storage{cached_storage{std::move(bucket),
                                          disk_cache{options.cache_folder, options.cache_folder_bytes},
                                          {.cacheable = options.cacheable}}};
    }
    return any_storage{
        cached_storage{std::move(bucket), memory_cache{options.memory_bytes}, {.cacheable = options.cacheable}}};
}

SMDEBUG_INLINE any_storage open_place(std::string_view path, const s3_options& options) {
    return any_storage{s3_storage<>{path, options}};
}

}  // namespace smdebug::inline v1::s3::detail
