// All tensors of one step of a folder of checkpoints, whatever files they lie in.
#pragma once

#include <smdebug/archive/options.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/formats/checkpoints/find_checkpoints.hpp>
#include <smdebug/formats/checkpoints/stored_tensor.hpp>
#include <smdebug/formats/checkpoints/unpacked_npz.hpp>
#include <smdebug/storage/any_storage.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace formats {
namespace detail {

/// A tensor, and the file in which it lies: stored_tensor::where counts in that.
struct checkpoint_tensor {
    stored_tensor is = {};
    std::size_t file = 0;  ///< place in step_contents::files
};

/// A file of the storage with tensors.
struct checkpoint_file {
    std::string key = {};
    std::shared_ptr<const unpacked_npz> npz = nullptr;  ///< of an .npz: its members, in which places of tensors count
};

struct step_contents {
    std::vector<checkpoint_file> files = {};
    std::vector<checkpoint_tensor> tensors = {};  ///< by name, each once
    std::vector<left_out> not_read = {};          ///< tensors, members and whole files, each with a sentence
    std::vector<std::pair<std::string, std::string>> metadata = {};  ///< of .safetensors, as they come
};

/// Reads the headers of a step's files.  A .npy has one tensor, which is called as the file is, without its ending.
/// Where files of a step have tensors of one name (model.safetensors and adapter.safetensors), each of that name gets the
/// file's before it: "adapter/layer.weight".  A damaged file is in `not_read`, the others are read; and so is an index of
/// shards that is damaged, names a file that is not there, or a tensor that the file does not have.  A shard that is missing,
/// by the numbers in the names of others, is there, too, and one that the index does not name.
/// Errors:  corrupt_data where two tensors have one name even so; unsupported for an .npz in a program without the component
///          `archive`; those of the storage, but not_found.
/// Cost:    one or two reads a file; of an .npz as npz_directory.hpp says.
[[nodiscard]] step_contents read_checkpoint(const any_storage& store, const checkpoint_step& step,
                                            const archive_options& options = {});

}  // namespace detail
}  // namespace formats
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/formats/checkpoints/impl/read_checkpoint.ipp>
#endif
