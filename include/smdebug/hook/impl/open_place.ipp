// The bodies of <smdebug/hook/open_place.hpp>.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/hook/local_place.hpp>
#include <smdebug/hook/open_place.hpp>
#include <smdebug/s3/by_path.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/uri.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE any_place open_place(std::string_view out_dir, const s3_options& options) {
    if (smdebug::kind_of(out_dir) == uri_kind::s3) {
        return s3::place_of(out_dir, options);
    }
    return any_place{local_storage{local_place_of(out_dir)}};
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
