// Checkpoints of torch.distributed.checkpoint: a folder of `.metadata`, a pickle, and files `__0_0.distcp` with the
// chunks of tensors, as FSDP, torchtitan and Accelerate write them.
#pragma once

#include <smdebug/archive/options.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/formats/checkpoints/joined_object.hpp>
#include <smdebug/formats/checkpoints/safetensors_header.hpp>
#include <smdebug/storage/any_storage.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace smdebug::inline v1::formats::detail {

struct distributed_tensors {
    std::vector<stored_tensor> tensors = {};  ///< places refer to `chunks`
    std::vector<left_out> not_read = {};
    /// The elements of the files: chunks that follow each other in a tensor's order follow each other here, so that
    /// they are reduced in place.  Tensors that are cut otherwise are put together when they are read.
    std::shared_ptr<const joined_object> chunks = nullptr;
};

/// Chunks of one tensor that are put together, at most.
inline constexpr std::size_t most_chunks_apart = 4'096;

/// Reads the `.metadata` under `key`, and the heads of the chunks that it names.
/// Left out and noted, while all others are read: a tensor with a chunk that is missing, lies beyond its file or the
/// tensor, overlaps another, or is compressed by an extension; one whose chunks do not cover it, or are of another
/// dtype or shape than the metadata says.  Objects that are not tensors are passed over.
/// Errors:  corrupt_data for a damaged `.metadata`; not_found; those of the storage.
/// Cost:    a read of the metadata, and some five small reads for each chunk.
[[nodiscard]] distributed_tensors read_distributed(const any_storage& store, const std::string& key,
                                                   const archive_options& options = {});

}  // namespace smdebug::inline v1::formats::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/formats/checkpoints/impl/distributed.ipp>
#endif
