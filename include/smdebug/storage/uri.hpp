// What is written as the path of a run: in S3, or a folder of this machine.
#pragma once

#include <smdebug/core/form.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Whether it begins with "s3://".  Errors: value_error for no path at all, and for other addresses ("gs://", "s3:/x").
[[nodiscard]] bool is_in_s3(std::string_view path);

/// The path of an archive, or of a folder in it ("runs.tar!/job"), in its parts.
struct archive_path {
    std::string folder = {};  ///< where the archive lies: a folder of this machine, or an address in S3
    std::string key = {};     ///< its name there
    std::string inside = {};  ///< the folder in it; empty: none was given
    bool is_named_so = true;  ///< its name ends as an archive's; else only its bytes can tell
};

/// The end of an archive's name: ".tar", ".tar.gz", ".tgz", ".tar.zst", ".tzst" or ".zip"; empty: it is none's.
[[nodiscard]] std::string_view archive_extension_of(std::string_view path) noexcept;

/// Whether a name is that of a file of data that is no archive of runs: .safetensors, .npz (which is a zip), .npy, a log of
/// TensorBoard ("tfevents" in it).
[[nodiscard]] bool is_data_file(std::string_view path) noexcept;

/// Of this machine: a file, whatever its name but for those of is_data_file(); else, and in S3, a name that ends in .tar, .tar.gz, .tgz, .tar.zst, .tzst or
/// .zip, or what has "!/" in it.  Nothing for others, and where there is a folder of that name.
/// Errors: as is_in_s3().
[[nodiscard]] std::optional<archive_path> archive_in(std::string_view path);

/// The path of a folder, without "file://" before it, and with the home folder instead of "~" or "~/", as in the Python
/// package.
/// Errors: those of is_in_s3(); unsupported for S3, and for an archive's name where no folder has it; value_error for "~" where HOME is not set.
[[nodiscard]] std::string local_path(std::string_view path);

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/impl/uri.ipp>
#endif
