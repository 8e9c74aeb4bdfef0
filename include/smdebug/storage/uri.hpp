// What is written as the path of a run: in S3, or a folder of this machine.
#pragma once

#include <smdebug/core/form.hpp>

#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Whether it begins with "s3://".  Errors: value_error for no path at all, and for other addresses ("gs://", "s3:/x").
[[nodiscard]] bool is_in_s3(std::string_view path);

/// The path of a folder, without "file://" before it, and with the home folder instead of "~" or "~/", as in the Python
/// package.
/// Errors: those of is_in_s3(); unsupported for S3, and for a name of an archive (.tar, .tar.gz, .tgz, .zip) where no
///         folder has it; value_error for "~" where HOME is not set.
[[nodiscard]] std::string local_path(std::string_view path);

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/impl/uri.ipp>
#endif
