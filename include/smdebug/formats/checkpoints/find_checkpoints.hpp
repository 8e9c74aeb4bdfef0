// The checkpoints in a folder, by steps: single files, folders of Hugging Face's Trainer, sharded files.
// Uses names, and what indexes of shards say; read_checkpoint() in checkpoint_source.hpp reads the other files.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/formats/checkpoints/safetensors_header.hpp>
#include <smdebug/index/regex.hpp>
#include <smdebug/storage/any_storage.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1::formats::detail {

/// The kind of a file, by its name.  `torch`: .pt, .pth, .bin, .ckpt and .pkl; `distributed`: the .metadata of a folder
/// of torch.distributed.checkpoint; `pickle`: .joblib and .pickle, which are not read.
enum class checkpoint_kind : std::uint8_t { none, safetensors, index, npz, npy, torch, distributed, pickle };
[[nodiscard]] checkpoint_kind kind_of(std::string_view key) noexcept;

/// The common part of the names of one checkpoint's shards and their index: "a/model" for
/// "a/model-00001-of-00002.safetensors" and "a/model.safetensors.index.json", "a/model.fp16" for a variant;
/// "a/model.bin" for .bin.  Other files: their own key.
[[nodiscard]] std::string checkpoint_of(std::string_view key);

/// The key of a file, or of the folder that a .metadata stands for: "a/optimizer_0" for "a/optimizer_0/.metadata".
[[nodiscard]] std::string_view named_by(std::string_view key) noexcept;

/// The files of one step.
struct checkpoint_step {
    step_number step = 0;
    std::string folder = {};              ///< holds all of it, with '/' at its end; the storage's root if empty
    std::vector<std::string> files = {};  ///< keys of the files to read, in order, including indexes of shards
    /// What each file is called at every step: its path in the folder without extension and the numbers of steps and
    /// shards, "optimizer" for "optimizer_500.npz".  Not compared.
    std::vector<std::string> names = {};
    friend bool operator==(const checkpoint_step& a, const checkpoint_step& b) {
        return a.step == b.step && a.folder == b.folder && a.files == b.files;
    }
};

struct found_checkpoints {
    std::vector<checkpoint_step> steps = {};  ///< by step, each once
    /// Keys of pickled files, of files without a step beside files with one (the Trainer's final model.safetensors), of
    /// the first file of a step in a form that is not read, of folders of steps without a checkpoint, and of broken
    /// links to folders of a step.
    std::vector<left_out> not_read = {};
};

struct checkpoint_search {
    std::string step_regex = {};  ///< see step_pattern; if empty, step_of_name
    /// Leaves out folders "tmp-checkpoint-500/", as versions of the Trainer name one that they are writing.
    bool finished_alone = false;
    /// The index that names a file, by their keys: the file belongs to the checkpoint of that index, wherever it lies.
    std::map<std::string, std::string> index_of = {};
    /// The step that a file of PyTorch says inside, for files without a step in their names; may be empty.
    std::function<std::optional<step_number>(const std::string& key)> step_inside = {};
};

/// Groups keys, which are in order, into steps; `place` names their location in errors.  Files of other kinds are
/// skipped; without checkpoint files there are no steps.  A key that ends in '/' is an empty folder.
/// A number that differs between the keys is the step, see step_of_name(); one that is the same in all is none if
/// another differs beside it.  Files without a number in their names: a single file, or the shards of one, with what is
/// saved beside a model (optimizer.pt), is the step that it says inside, else step 0; so are several files of PyTorch
/// that say different steps.  Of a checkpoint in two forms, .safetensors and .npz are read.
/// Errors:  value_error for several files without a number, for a step in two places, or in files whose names differ
///          in another number (seed0_step_1, seed1_step_1), for numbers of opposite orders (epoch_0_iter_9,
///          epoch_1_iter_3),
///          and for an invalid step_regex; unsupported if there are only files of other tools: the message explains
///          how to convert them.
/// Cost:    some microseconds a key.
[[nodiscard]] found_checkpoints group_checkpoints(const std::string& place, std::span<const std::string> keys,
                                                  const checkpoint_search& how = {});

/// Groups all keys of a storage as group_checkpoints() does.  A link to a file of the set is no checkpoint of its own,
/// nor is adapters.safetensors with the bytes of 0000500_adapters.safetensors.  Files .distcp without their .metadata,
/// which is written last, are no checkpoint yet, and are noted.
/// Errors: also those of the storage.
/// Cost:   also one listing, and a read of each index; two such files of one size are compared, up to 64 MiB.
[[nodiscard]] found_checkpoints find_checkpoints(const any_storage& store, const checkpoint_search& how = {});

// The step of a checkpoint, from the name of its file or folder.

/// A step, and where its number ends in the path.
struct named_step {
    step_number step = 0;
    std::size_t end = 0;
    unsigned rank = 0;       ///< see step_of_name(); 0 if a pattern found it
    std::uint64_t slot = 0;  ///< a hash of what stands before the number: equal where the texts are, but for numbers
    friend bool operator==(const named_step& a, const named_step& b) { return a.step == b.step && a.end == b.end; }
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

/// The step in a path alone, "checkpoint-500/model.safetensors".  If it has several numbers, this order decides:
///  1. after "step": `step_500`, `global_step500`, `epoch=3-step=500`;  or before it: `model_500_steps`;
///  2. after "iter", "iters", "iteration" or "iterations";  3. after "checkpoint" or "ckpt";  4. after "epoch";
///  5. at the end of a file's name without its extension, alone or after one of "_-=": `model_000500.safetensors`; or a
///     folder's whole name: `500/model.npz`;  6. alone elsewhere in a file's name, with zeros before it
///     (`0000500_adapters.npz`); in a set of paths also without.
/// Of 1 to 3 the innermost name counts, of two numbers of one rank the later one.  Case is ignored; between word and
/// number there may be any of "=_-. :".  A number is read whole, `1,000`, `1e3`, `10k`, `2M`; one that cannot be, as `-1`,
/// `0.5`, `1.5k`, `1_000`, `7b`, does not count.  Neither do those of shards, `-00001-of-00005`, and of layers, ranks
/// and the like, nor in the folder of a step those of 5 and 6 in the names of .npy.
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
