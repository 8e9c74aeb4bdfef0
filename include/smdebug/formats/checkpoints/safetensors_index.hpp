// The index of a checkpoint in several files, model.safetensors.index.json, or of a variant of it,
// model.safetensors.index.fp16.json: which tensor lies in which of them.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace formats {
namespace detail {

/// What stands between the names of a checkpoint and its variant, which ".json" follows.
inline constexpr std::string_view safetensors_index_mark = ".safetensors.index.";

struct safetensors_index {
    std::vector<std::pair<std::string, std::string>> file_of = {};  ///< tensor and file, by tensor

    /// The files, each once, in order; relative to the index's folder.
    [[nodiscard]] std::vector<std::string> files() const;
};

/// Parses the bytes of an index; `file` names it in errors.
/// Errors: corrupt_data for what is longer than most_header_bytes, is no JSON, has no "weight_map" of texts, names a
///         tensor twice, or a file that does not lie below the index's folder (absolute, or with "..").
[[nodiscard]] safetensors_index parse_safetensors_index(const std::string& file, byte_view bytes);

}  // namespace detail
}  // namespace formats
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/formats/checkpoints/impl/safetensors_index.ipp>
#endif
