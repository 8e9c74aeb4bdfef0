// The tensors of a file that torch.save, torch.jit.save or torch::save wrote: .pt, .pth, .bin, .ckpt, .pkl.
// Everything is validated: models are shared between strangers.  Nothing in the file is run, see pickle.hpp.
//
//   a zip:     NAME/data.pkl, a pickle | NAME/data/KEY, the elements of a storage | NAME/byteorder
//   until 1.5: five pickles: magic, version, byte order, the object, the keys | for each key u64 count, its elements
#pragma once

#include <smdebug/archive/options.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/formats/checkpoints/joined_object.hpp>
#include <smdebug/formats/checkpoints/pickle.hpp>
#include <smdebug/formats/checkpoints/safetensors_header.hpp>
#include <smdebug/storage/any_storage.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1::formats::detail {

struct torch_tensors {
    /// In the order of the file.  Names are the keys on the way to a tensor, joined by '/', within a module by '.';
    /// empty for a file that is one tensor.  Numbers of the outermost dictionary are tensors without extents.
    /// Views that are not in C order, and what is deflated beside them, are made when they are read.
    std::vector<stored_tensor> tensors = {};
    std::vector<left_out> not_read = {};  ///< a name stands for all with the same reason
    /// The file as its inflated records, to which places refer; null if they refer to the file.
    std::shared_ptr<const joined_object> unpacked = nullptr;
    std::optional<step_number> step = {};  ///< "global_step" of the outermost dictionary, else "epoch"
    std::string root = {};                 ///< the class of the outermost object; empty for a container or a tensor
    bool is_bare = false;                  ///< a pickle alone, which cannot hold tensors
};

/// The limits of one pickle; tighter where less may be inflated, as options for untrusted archives say.
[[nodiscard]] pickle_limits pickle_limits_of(const archive_options& options) noexcept;

/// Reads what the file under `key` says of its tensors.
/// Left out and noted, while all others are read: a tensor of a form or dtype that is not read; one whose storage is
/// missing, or smaller than the tensor or the storage itself claims; tensors in objects of unknown classes, unless
/// these are modules, with their dictionaries of parameters, buffers and modules.
/// Errors:  corrupt_data for a damaged container or pickle; unsupported for files of other tools, for the tar that
///          torch wrote before 0.2, and for a zip in a program without the component `archive`; not_found; those of
///          the storage.
/// Bounds:  the sum of all tensors is at most options.most_ratio times the file, and 64 MiB; the others stand above.
/// Cost:    a zip: four or five reads, and one of 40 bytes for each storage, together; before 1.6: one or two reads, and
///          one of 8 bytes for each storage, together.  Memory: some 10 times the pickle.
[[nodiscard]] torch_tensors read_torch_file(const any_storage& store, const std::string& key,
                                            const archive_options& options = {});

/// The step that the file says inside, see torch_tensors::step.      Errors, bounds: those of read_torch_file().
/// Cost: that of its pickle.
[[nodiscard]] std::optional<step_number> step_in_torch_file(const any_storage& store, const std::string& key,
                                                            const archive_options& options = {});

}  // namespace smdebug::inline v1::formats::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/formats/checkpoints/impl/torch_file.ipp>
#endif
