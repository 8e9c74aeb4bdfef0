// The bodies of <smdebug/s3/by_path.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/s3/by_path.hpp>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

[[noreturn]] SMDEBUG_INLINE void refuse_without_s3(std::string_view path) {
    throw unsupported(
        "this program was built without S3, so that it cannot open " + std::string{path} +
            ": include <smdebug/s3.hpp> in one of its files and link smdebug::s3 (libcurl, OpenSSL, pugixml)",
        {.where = std::string{path}});
}

}  // namespace detail

SMDEBUG_INLINE any_storage storage_of(std::string_view path, const storage_options& options) {
    if (&detail::open_storage == nullptr) {
        detail::refuse_without_s3(path);
    }
    return detail::open_storage(path, options);
}

SMDEBUG_INLINE any_place place_of(std::string_view path, const s3_options& options) {
    if (&detail::open_place == nullptr) {
        detail::refuse_without_s3(path);
    }
    return detail::open_place(path, options);
}

}  // namespace s3
}  // namespace v1
}  // namespace smdebug
