// One collections file: a job's named groups of tensors, and the number of its workers.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/json_document.hpp>
#include <smdebug/index/collection.hpp>

#include <optional>
#include <string>
#include <vector>

namespace smdebug::inline v1 {
/// Parses a collections file into `out`.  Returns the error as a sentence without the file's name, or nothing.
[[nodiscard]] std::optional<std::string> parse_collections_file(byte_view bytes, detail::json::document& parser,
                                                                detail::collections_file& out);

/// The names in a reduction_config as a file has them, in the package's order: `reductions` unchanged, then "l1_norm",
/// then "abs_max", then "abs_l1_norm".
[[nodiscard]] std::vector<std::string> file_names(const reduction_config& config);

/// The whole file.  A collection's key in the map is its name.  Strings are UTF-8 (see append_json_ascii).
[[nodiscard]] std::string collections_text(const detail::collections_file& file);

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/index/impl/collections_file.ipp>
#endif
