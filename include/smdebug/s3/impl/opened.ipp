// What <smdebug/s3.hpp> brings into a program: the functions that <smdebug/storage/open_storage.hpp> declares.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/s3/s3_storage.hpp>
#include <smdebug/storage/cached_storage.hpp>
#include <smdebug/storage/disk_cache.hpp>
#include <smdebug/storage/open_storage.hpp>

#include <utility>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

#ifdef SMDEBUG_COMPILED
extern const int opened_by_path;  // <smdebug/s3.hpp> refers to it
const int opened_by_path = 1;
#endif

// Not inline, though every file that includes the header has them: they are weak, of which the linker keeps one.
any_storage open_storage(std::string_view path, const storage_options& options) {
    s3_storage<> bucket{path, options.s3};
    if (!options.cache_folder.empty()) {
        return any_storage{cached_storage{std::move(bucket),
                                          disk_cache{options.cache_folder, options.cache_folder_bytes},
                                          {.cacheable = options.cacheable}}};
    }
    return any_storage{
        cached_storage{std::move(bucket), memory_cache{options.memory_bytes}, {.cacheable = options.cacheable}}};
}

any_storage open_place(std::string_view path, const s3_options& options) {
    return any_storage{s3_storage<>{path, options}};
}

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug
