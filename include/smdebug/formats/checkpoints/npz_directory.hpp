// The arrays of an .npz, numpy's zip of .npy files.
// Needs the component `archive`: a program that nowhere includes <smdebug/archive.hpp> refuses these files.
#pragma once

#include <smdebug/archive/options.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/formats/checkpoints/safetensors_header.hpp>
#include <smdebug/storage/any_storage.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace smdebug::inline v1::formats::detail {

struct npz_directory {
    /// The .npy files as objects: array NAME, which may be any text, has the key "NAME.npy"; stored_tensor::where
    /// refers to its unpacked bytes.
    any_storage files;
    std::vector<stored_tensor> tensors = {};  ///< by name
    /// Members that are not .npy, non-numeric arrays, and damaged ones, with the reason.
    std::vector<left_out> not_read = {};
};

/// Opens the .npz under `key` and reads each array's header.  Names of arrays are not paths, see
/// open_zip().  If a name occurs twice, the last one counts, and the others are in `not_read`.
/// Errors:  unsupported without the component `archive`, and for more members than options allow; corrupt_data if the
///          file is not a zip, or has a damaged directory; not_found; those of the storage.
/// Bombs:   a member inflates to at most 1032 times its size, which is deflate's own limit and the ratio of arrays of
///          zeros, and to options.most_bytes; members share no bytes.  Only the first 2 MiB of each member are inflated
///          here.
/// Cost:    two or three reads for the directory, and two for each array; for compressed members, inflating these 2
///          MiB.
[[nodiscard]] npz_directory read_npz_directory(const any_storage& folder, const std::string& key,
                                               const archive_options& options = {});

/// The typical header of a numeric array has some hundred bytes.
inline constexpr std::uint64_t most_npy_header_bytes = std::uint64_t{64} << 10U;

/// The array in a file of `size` bytes, without a name; `file` names it in errors.  Bytes after the elements are
/// ignored, as by numpy.load; left_behind() names them.
/// Errors:  unsupported, with advice, for elements that are neither numbers nor booleans (Python objects, texts,
///          records, dates, raw bytes) or of an unsupported size (long double), and for other versions; corrupt_data
///          for every other invalid header, such as elements beyond the file's end; those of `read`.
/// Cost:    one read of 4 KiB, for a longer header another.
[[nodiscard]] stored_tensor read_npy_header(const std::string& file, std::uint64_t size, range_reader read);

/// The bytes after an array's elements in a file of `size` bytes, such as a second array, if there are any.
[[nodiscard]] std::vector<left_out> left_behind(const std::string& name, const stored_tensor& array,
                                                std::uint64_t size);

}  // namespace smdebug::inline v1::formats::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/formats/checkpoints/impl/npz_directory.ipp>
#endif
