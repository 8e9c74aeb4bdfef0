// The folder that a user means by what is written as out_dir.
#pragma once

#include <smdebug/core/form.hpp>

#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// A path on this machine: "file://" is taken away, "~" is the home folder, as in the Python package.
/// Errors: unsupported for s3:// and for the names of archives.
[[nodiscard]] std::string local_place_of(std::string_view out_dir);

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/local_place.ipp>
#endif
