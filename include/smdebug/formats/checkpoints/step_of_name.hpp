// The step of a checkpoint, from the name of its file or folder.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/index/regex.hpp>

#include <cstddef>
#include <optional>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace formats {
namespace detail {

/// A step, and where its number ends in the path.
struct named_step {
    step_number step = 0;
    std::size_t end = 0;
    friend bool operator==(const named_step&, const named_step&) = default;
};

/// What the name of a shard says, "model-00001-of-00002" or "model-00001-of-00002.fp16".
struct shard_name {
    std::string_view before = {};  ///< "model"; borrowed, as are the others
    std::string_view number = {};  ///< "00001"
    std::string_view count = {};   ///< "00002"
    std::string_view behind = {};  ///< ".fp16", or nothing
};

/// That of a path without its extension; nothing where it is not the name of a shard.
[[nodiscard]] std::optional<shard_name> shard_of(std::string_view stem) noexcept;

/// A file's name, which has no extension any more, without the numbers of a shard: "model" of "model-00001-of-00002".
[[nodiscard]] std::string_view without_shard(std::string_view stem) noexcept;

/// The step that a path names, "checkpoint-500/model.safetensors".  Of several numbers the one that counts is
///  1. behind "step": `step_500`, `global_step500`, `epoch=3-step=500`;  or before it: `model_500_steps`;
///  2. behind "iter", "iters", "iteration" or "iterations";  3. behind "checkpoint" or "ckpt";  4. behind "epoch";
///  5. at the end of a file's name without its extension, alone or behind one of "_-=": `model_000500.safetensors`;
///     or a folder's whole name: `500/model.npz`.
/// Capitals do not matter; between word and number there may be any of "=_-. :".  Of two of the same rank the inner, and in
/// one name the later one counts.  The numbers of shards, `-00001-of-00005`, are none.
/// Nothing where there is no such number, or one beyond 2^63-1.
[[nodiscard]] std::optional<named_step> step_of_name(std::string_view path);

/// The step that the group of a pattern of the user's takes out of a path (--step-regex).
class step_pattern {
public:
    /// Errors: value_error for what is no regular expression, and for one that has not exactly one group.
    explicit step_pattern(std::string_view pattern);

    /// Nothing where the pattern does not occur in the path.
    /// Errors: value_error where what the group has is no whole number up to 2^63-1, and as regex::search().
    [[nodiscard]] std::optional<named_step> operator()(std::string_view path) const;

private:
    regex pattern_;
};

}  // namespace detail
}  // namespace formats
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/formats/checkpoints/impl/step_of_name.ipp>
#endif
