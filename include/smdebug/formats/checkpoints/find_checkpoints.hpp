// The checkpoints in a folder, by steps: single files, folders of Hugging Face's Trainer, sharded files.
// Uses names alone; read_checkpoint() in checkpoint_source.hpp reads the content of the files.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/formats/checkpoints/safetensors_header.hpp>
#include <smdebug/index/regex.hpp>
#include <smdebug/storage/any_storage.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1::formats::detail {

/// The kind of a file, by its name.  `pickle`: .pt, .pth, .bin, .ckpt and .pkl, which contain programs and are never
/// read.
enum class checkpoint_kind : std::uint8_t { none, safetensors, safetensors_index, npz, npy, pickle };
[[nodiscard]] checkpoint_kind kind_of(std::string_view key) noexcept;

/// The common part of the names of one checkpoint's shards and their index: "a/model" for
/// "a/model-00001-of-00002.safetensors" and "a/model.safetensors.index.json", "a/model.fp16" for a variant.  Other
/// files: their own key.
[[nodiscard]] std::string checkpoint_of(std::string_view key);

/// The files of one step.
struct checkpoint_step {
    step_number step = 0;
    std::string folder = {};              ///< holds all of it, with '/' at its end; empty: the storage's root
    std::vector<std::string> files = {};  ///< keys of the files to read, in order, including indexes of shards
    friend bool operator==(const checkpoint_step&, const checkpoint_step&) = default;
};

struct found_checkpoints {
    std::vector<checkpoint_step> steps = {};  ///< by step, each once
    /// Keys of pickled files, of files without a step beside files with one (the Trainer's final model.safetensors),
    /// and of broken links to folders of a step.
    std::vector<left_out> not_read = {};
};

struct checkpoint_search {
    std::string step_regex = {};  ///< see step_pattern; empty: step_of_name
    /// Leaves out folders "tmp-checkpoint-500/", as versions of the Trainer name one that they are writing.
    bool finished_alone = false;
};

/// Groups keys, which are in order, into steps; `place` names their location in errors.  Files of other kinds are
/// skipped; without checkpoint files there are no steps.
/// Files without a number in their names: a single file, or the shards of one, is step 0.
/// Errors:  value_error for several files without a number, for a step in two places, and for an invalid step_regex;
///          unsupported if there are only pickled files: the message explains how to convert them.
/// Cost:    some microseconds a key.
[[nodiscard]] found_checkpoints group_checkpoints(const std::string& place, std::span<const std::string> keys,
                                                  const checkpoint_search& how = {});

/// The same for all keys of a storage.  Errors: also those of the storage.  Cost: also one listing.
[[nodiscard]] found_checkpoints find_checkpoints(const any_storage& store, const checkpoint_search& how = {});

// The step of a checkpoint, from the name of its file or folder.

/// A step, and where its number ends in the path.
struct named_step {
    step_number step = 0;
    std::size_t end = 0;
    friend bool operator==(const named_step&, const named_step&) = default;
};

/// The parts of a shard's name, "model-00001-of-00002" or "model-00001-of-00002.fp16".
struct shard_name {
    std::string_view before = {};  ///< "model"; borrowed, as are the others
    std::string_view number = {};  ///< "00001"
    std::string_view count = {};   ///< "00002"
    std::string_view behind = {};  ///< ".fp16", or nothing
};

/// The parts of a path without its extension; nothing if it is not the name of a shard.
[[nodiscard]] std::optional<shard_name> shard_of(std::string_view stem) noexcept;

/// The name of a file, without extension and without the numbers of a shard: "model" for "model-00001-of-00002".
[[nodiscard]] std::string_view without_shard(std::string_view stem) noexcept;

/// The step in a path, "checkpoint-500/model.safetensors".  If it has several numbers, this order decides:
///  1. after "step": `step_500`, `global_step500`, `epoch=3-step=500`;  or before it: `model_500_steps`;
///  2. after "iter", "iters", "iteration" or "iterations";  3. after "checkpoint" or "ckpt";  4. after "epoch";
///  5. at the end of a file's name without its extension, alone or after one of "_-=": `model_000500.safetensors`; or a
///     folder's whole name: `500/model.npz`.
/// Case is ignored; between word and number there may be any of "=_-. :".  Of two numbers of the same rank the inner
/// one counts, and in one name the later one.  The numbers of shards, `-00001-of-00005`, do not count.
/// Nothing if there is no such number, or one beyond 2^63-1.
[[nodiscard]] std::optional<named_step> step_of_name(std::string_view path);

/// The step that the group of a user's pattern matches in a path (--step-regex).
class step_pattern {
public:
    /// Errors: value_error for an invalid regular expression, and for one without exactly one group.
    explicit step_pattern(std::string_view pattern);

    /// Nothing if the pattern does not occur in the path.
    /// Errors: value_error if the group's match is not a whole number up to 2^63-1, and those of regex::search().
    [[nodiscard]] std::optional<named_step> operator()(std::string_view path) const;

private:
    regex pattern_;
};

}  // namespace smdebug::inline v1::formats::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/formats/checkpoints/impl/find_checkpoints.ipp>
#endif
