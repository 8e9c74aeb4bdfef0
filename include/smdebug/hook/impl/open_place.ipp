// The bodies of <smdebug/hook/open_place.hpp>.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/hook/local_place.hpp>
#include <smdebug/hook/open_place.hpp>
#include <smdebug/s3/s3_storage.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/uri.hpp>

#include <utility>

namespace smdebug {
inline namespace v1 {

SMDEBUG_INLINE any_place open_place(std::string_view out_dir, s3_options options) {
    if (kind_of(out_dir) == uri_kind::s3) {
        return any_place{s3_storage<>{out_dir, std::move(options)}};
    }
    return any_place{local_storage{local_place_of(out_dir)}};
}

}  // namespace v1
}  // namespace smdebug
