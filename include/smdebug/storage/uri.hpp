// What a path names: a place in S3 or on this machine, an archive, a data file, a form that is not read.
#pragma once

#include <smdebug/core/form.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug::inline v1::detail {

/// Whether it begins with "s3://". Errors: value_error for an empty path, and for other addresses ("gs://", "s3:/x").
[[nodiscard]] bool is_in_s3(std::string_view path);

/// The parts of an archive's path, or of a folder in it ("runs.tar!/job").
struct archive_path {
    std::string folder = {};  ///< the place of the archive: a local folder, or an address in S3
    std::string key = {};     ///< its name there
    std::string inside = {};  ///< the folder in it; empty if not given
    bool is_named_so = true;  ///< its name ends like an archive's; otherwise only its bytes can show it
};

/// The extension of an archive: ".tar", ".tar.gz", ".tgz", ".tar.zst", ".tzst" or ".zip"; empty if it is no archive.
[[nodiscard]] std::string_view archive_extension_of(std::string_view path) noexcept;

/// The extension of an archive's index, in the archive's folder and in that of a cache.
inline constexpr std::string_view archive_index_extension = ".smdx";

/// The ending of a name that is a checkpoint's or an array's: .safetensors, .npz and .pt (which are zips), .npy, .pth,
/// .bin, .ckpt, .pkl; empty if it has none of these.
[[nodiscard]] std::string_view data_ending_of(std::string_view path) noexcept;

/// Whether a name belongs to a data file that is not an archive of runs: by its ending, or a TensorBoard log
/// ("tfevents" in its name).
[[nodiscard]] bool is_data_file(std::string_view path) noexcept;

/// A form of other tools' data that is not read.
struct other_form {
    enum class kind : std::uint8_t { foreign, pickled, unfinished };
    std::string_view ending = {};  ///< its files' names end so, or their paths have it
    std::string_view what = {};    ///< "HDF5, as Keras writes it"
    std::string_view how = {};     ///< what converts it
    kind is = kind::foreign;
};

/// The form of a file by its path, or nothing.
[[nodiscard]] std::optional<other_form> other_form_of(std::string_view path) noexcept;

/// The folder of the job whose end a key marks: "a" for "a/training_job_end.ts". Nothing for another key, and for the
/// marks in the two folders of a job's profiler.
[[nodiscard]] std::optional<std::string_view> ended_job_of(std::string_view key) noexcept;

/// The archive that a path names, or nothing. On this machine: any file, except those of is_data_file(); a path that is
/// no file, and in S3: a name that ends in .tar, .tar.gz, .tgz, .tar.zst, .tzst or .zip, or contains "!/". Nothing if
/// there is a folder of that name.
/// Errors: as is_in_s3().
[[nodiscard]] std::optional<archive_path> archive_in(std::string_view path);

/// The path of a folder, without "file://", and with the home folder in place of "~" or "~/", as in the Python package.
/// Errors: those of is_in_s3(); unsupported for S3, and for an archive's name unless it is a folder's; value_error for
/// "~" if HOME is not set.
[[nodiscard]] std::string local_path(std::string_view path);

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/impl/uri.ipp>
#endif
