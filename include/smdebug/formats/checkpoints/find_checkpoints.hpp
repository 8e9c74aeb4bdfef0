// The checkpoints in a folder, by steps: single files, folders as Hugging Face's Trainer leaves them, files in parts.
// Looks at names alone; what is in the files, read_checkpoint.hpp reads.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/formats/checkpoints/stored_tensor.hpp>
#include <smdebug/storage/any_storage.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace formats {
namespace detail {

/// What a file is, by its name.  `pickle`: .pt, .pth, .bin, .ckpt and .pkl, which hold programs and are not read.
enum class checkpoint_kind : std::uint8_t { none, safetensors, safetensors_index, npz, npy, pickle };
[[nodiscard]] checkpoint_kind kind_of(std::string_view key) noexcept;

/// What the shards of one checkpoint and their index have in common: "a/model" of "a/model-00001-of-00002.safetensors" and
/// of "a/model.safetensors.index.json", "a/model.fp16" where they are of a variant.  Other files: their own key.
[[nodiscard]] std::string checkpoint_of(std::string_view key);

/// What is saved of one step.
struct checkpoint_step {
    step_number step = 0;
    std::string folder = {};              ///< in which all of it lies, with '/' at its end; empty: the storage's own
    std::vector<std::string> files = {};  ///< keys of what is read, in order; indexes of shards among them
    friend bool operator==(const checkpoint_step&, const checkpoint_step&) = default;
};

struct found_checkpoints {
    std::vector<checkpoint_step> steps = {};  ///< by step, each once
    /// Keys of pickled files, of files without a step beside such with one (the Trainer's final model.safetensors), and of
    /// links to folders of a step that are not there.
    std::vector<left_out> not_read = {};
};

struct checkpoint_search {
    std::string step_regex = {};  ///< see step_pattern; empty: step_of_name
};

/// Groups keys, which are in order, into steps; `place` names where they are in errors.  Other files than those of
/// checkpoint_kind are passed over; of none there are no steps.
/// Files without a number in their names: one alone, or the shards of one, are step 0.
/// Errors:  value_error for several files without a number, for a step that lies in two places, and for a step_regex that
///          is none; unsupported where there are pickled files only: the sentence says how to convert them.
/// Cost:    some microseconds a key.
[[nodiscard]] found_checkpoints group_checkpoints(const std::string& place, std::span<const std::string> keys,
                                                  const checkpoint_search& how = {});

/// The same for all that a storage has.  Errors: those of the storage besides.  Cost: one listing besides.
[[nodiscard]] found_checkpoints find_checkpoints(const any_storage& store, const checkpoint_search& how = {});

}  // namespace detail
}  // namespace formats
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/formats/checkpoints/impl/find_checkpoints.ipp>
#endif
