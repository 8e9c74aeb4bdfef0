// The bodies of <smdebug/formats/checkpoints/safetensors_index.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/json_document.hpp>
#include <smdebug/core/relative_path.hpp>
#include <smdebug/formats/checkpoints/safetensors_header.hpp>
#include <smdebug/formats/checkpoints/safetensors_index.hpp>

#include <algorithm>
#include <optional>

namespace smdebug {
inline namespace v1 {
namespace formats {
namespace detail {

SMDEBUG_INLINE std::vector<std::string> safetensors_index::files() const {
    std::vector<std::string> names;
    for (const auto& [tensor, file] : file_of) {
        names.push_back(file);
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

SMDEBUG_INLINE safetensors_index parse_safetensors_index(const std::string& file, byte_view bytes) {
    const auto refuse = [&](const std::string& why, std::string_view tensor = {}) {
        throw corrupt_data("the index " + file + ": " + why, {.where = file, .tensor = std::string{tensor}});
    };
    if (bytes.size() > most_header_bytes) {
        refuse("it has " + std::to_string(bytes.size()) + " bytes; at most " + std::to_string(most_header_bytes) +
               " are read");
    }
    if (as_text(bytes).starts_with(lfs_pointer_begin)) {
        refuse(std::string{lfs_pointer_text});
    }
    smdebug::detail::json::document document;
    const auto root = document.parse(bytes);
    const auto map = root ? (*root)["weight_map"] : std::nullopt;
    if (!map || !map->is_object()) {
        refuse("it is no JSON object with a \"weight_map\"");
    }
    safetensors_index all;
    map->for_each_field([&](std::string_view tensor, smdebug::detail::json::value value) {
        const std::optional<std::string_view> shard = value.string();
        if (!shard) {
            refuse("the file of tensor " + std::string{tensor} + " is not a text", tensor);
        }
        if (!stays_inside(*shard)) {
            refuse("the file of tensor " + std::string{tensor} + ", " + std::string{*shard} +
                       ", does not lie below the index's folder",
                   tensor);
        }
        all.file_of.emplace_back(tensor, *shard);
        return true;
    });
    std::sort(all.file_of.begin(), all.file_of.end());
    const auto twice = std::adjacent_find(all.file_of.begin(), all.file_of.end(),
                                          [](const auto& a, const auto& b) { return a.first == b.first; });
    if (twice != all.file_of.end()) {
        refuse("tensor " + twice->first + " stands twice", twice->first);
    }
    return all;
}

}  // namespace detail
}  // namespace formats
}  // namespace v1
}  // namespace smdebug
