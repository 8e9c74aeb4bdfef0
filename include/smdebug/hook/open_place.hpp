// The place that a user means by what is written as out_dir: a folder of this machine, or objects in S3.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/hook/place_opener.hpp>
#include <smdebug/s3/options.hpp>
#include <smdebug/storage/any_place.hpp>

#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// "s3://bucket/prefix" is S3, by `options`, and by what the environment says (keys, region, endpoint); anything else
/// is a folder, see local_place_of.  Neither need be there yet.
/// Errors: unsupported for the names of archives, and for S3 in a program of which no file includes <smdebug/s3.hpp>;
/// what s3_storage throws for an address that can be none.
[[nodiscard]] any_place open_place(std::string_view out_dir, const s3_options& options = {});

template <>
struct place_opener<any_place> {
    [[nodiscard]] static any_place open(const std::string& text) { return open_place(text); }
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/open_place.ipp>
#endif
