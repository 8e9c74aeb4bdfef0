// The place that a user means by what is written as out_dir: a folder of this machine, or objects in S3.
// Used by: hook (smdebug::hook), users.
#pragma once

#include <smdebug/hook/local_place.hpp>
#include <smdebug/hook/place_opener.hpp>
#include <smdebug/s3/options.hpp>
#include <smdebug/s3/s3_storage.hpp>
#include <smdebug/storage/any_place.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/uri.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace smdebug {
inline namespace v1 {

/// "s3://bucket/prefix" is S3, by `options`, and by what the environment says (keys, region, endpoint); anything else
/// is a folder, see local_place_of.  Neither need be there yet.
/// Errors: unsupported for the names of archives; what s3_storage throws for an address that can be none.
[[nodiscard]] inline any_place open_place(std::string_view out_dir, s3_options options = {}) {
    if (kind_of(out_dir) == uri_kind::s3) {
        return any_place{s3_storage<>{out_dir, std::move(options)}};
    }
    return any_place{local_storage{local_place_of(out_dir)}};
}

template <>
struct place_opener<any_place> {
    [[nodiscard]] static any_place open(const std::string& text) { return open_place(text); }
};

}  // namespace v1
}  // namespace smdebug
