// The arrays of an .npz, numpy's zip of .npy files.
// Needs the component `archive`: in a program of which no file includes <smdebug/archive.hpp> it is refused.
#pragma once

#include <smdebug/archive/options.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/formats/checkpoints/stored_tensor.hpp>
#include <smdebug/storage/any_storage.hpp>

#include <string>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace formats {
namespace detail {

struct npz_directory {
    /// The .npy files as objects: array NAME, which may be any text, is under "NAME.npy", and stored_tensor::where counts in
    /// it, unpacked.
    any_storage files;
    std::vector<stored_tensor> tensors = {};  ///< by name
    /// Members that are no .npy, arrays of what is no number, and damaged ones, with what is wrong.
    std::vector<left_out> not_read = {};
};

/// Opens the .npz under `key` and reads each array's header.  Names of arrays are no paths: "../x", "/x" and "x//y" are
/// names like others.  Of a name that comes twice the last one counts, and the others are in `not_read`.
/// Errors:  unsupported without the component `archive`, and for more members than options allow; corrupt_data for what is
///          no zip, or has a damaged directory; not_found; those of the storage.
/// Bombs:   a member inflates to at most 1032 times its size, which is deflate's own limit and what arrays of zeros come
///          to, and to options.most_bytes; members share no bytes.  Nothing is inflated here but the first 2 MiB of each.
/// Cost:    two or three reads for the directory, and two for each array; where they are compressed, inflating these 2 MiB.
[[nodiscard]] npz_directory read_npz_directory(const any_storage& folder, const std::string& key,
                                               const archive_options& options = {});

}  // namespace detail
}  // namespace formats
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/formats/checkpoints/impl/npz_directory.ipp>
#endif
